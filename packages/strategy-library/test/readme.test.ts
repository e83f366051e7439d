import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServingEngine } from '@nereid/serving';
import { runReadmeExample, testLibrary, testModel } from '@nereid/testing';
import { expect, it } from 'vitest';
import { CONFIG, send } from './fixture.ts';

it('the engine of the README batches a model by the library in its directory', async () => {
  const home = process.cwd();
  const place = mkdtempSync(join(tmpdir(), 'nereid-readme-'));
  const version = join(place, 'model_repository', 'm', '1');
  mkdirSync(version, { recursive: true });
  copyFileSync(join(testModel('addsub'), 'model.pt'), join(version, 'model.pt'));
  copyFileSync(await testLibrary('single_strategy'), join(version, '..', 'batchstrategy.so'));
  writeFileSync(join(version, '..', 'config.pbtxt'), CONFIG);
  process.chdir(place);
  try {
    const engine = (await runReadmeExample(import.meta.url)).exports.engine as ServingEngine;
    expect((await send(engine, 3))?.executionCount).toBe(3);
    await engine.stop();
  } finally {
    process.chdir(home);
    rmSync(place, { recursive: true });
  }
});
