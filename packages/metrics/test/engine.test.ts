import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ModelRepository } from '@nereid/repository';
import { createEngine } from '@nereid/serving';
import { FakeBackend } from '@nereid/testing';
import { expect, test } from 'vitest';
import { textOf } from './fixture.ts';

const CONFIG = `backend: "fake"
input { name: "x" data_type: TYPE_FP32 dims: [ 1 ] }
output { name: "x" data_type: TYPE_FP32 dims: [ 1 ] }
metric_tags { key: "team" value: "search" }
`;

test('series of a model are there from its load to its unload', async () => {
  const path = mkdtempSync(join(tmpdir(), 'nereid-metrics-'));
  mkdirSync(join(path, 'm', '1'), { recursive: true });
  writeFileSync(join(path, 'm', 'config.pbtxt'), CONFIG);
  const engine = createEngine({ repository: new ModelRepository({ paths: [path] }), backends: [new FakeBackend()] });
  const series = 'nv_inference_request_success{_team="search",model="m",version="1"} 0\n';
  expect(await textOf(engine)).not.toContain(series);
  await engine.load();
  expect(await textOf(engine)).toContain(series);
  await engine.stop();
  expect(await textOf(engine)).not.toContain(series);
  rmSync(path, { recursive: true });
});
