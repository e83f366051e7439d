import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CheckLine, clientScript, runChecks } from '../src/client-checks.ts';
import { writeModelTree } from '../src/model-tree.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const SCRIPT = 'tritonclient_shared_memory_checks.py';
const source = readFileSync(clientScript(SCRIPT), 'utf8');
const names = [...source.matchAll(/^def (\w+)\(client, kind\):$/gm)].flatMap(([, name]) => {
  const words = String(name).replaceAll('_', ' ');
  return [`${words}, http`, `${words}, grpc`];
});

const IN_PLACE = `backend: "pytorch"
platform: "pytorch_libtorch"
input [ { name: "x" data_type: TYPE_FP32 dims: [ -1 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ -1 ] } ]
`;

let repository: string;
let server: NereidProcess;
let lines: ReadonlyMap<string, CheckLine>;

beforeAll(async () => {
  repository = mkdtempSync(join(tmpdir(), 'nereid-shared-memory-'));
  writeModelTree(repository, {
    name: 'in_place',
    config: IN_PLACE,
    versions: { 1: 'native_torchscript/in_place.pt' },
  });
  server = await startNereid([testModel('golden_repository'), repository], ['--allow-shared-memory=true']);
  lines = await runChecks(SCRIPT, server.url, server.grpcPlace);
}, 120_000);
afterAll(async () => {
  await server?.stop();
  rmSync(repository, { recursive: true, force: true });
});

describe('the Python client with shared memory', () => {
  test.each(names)('%s', (name) => {
    const line = lines.get(name);
    expect(line, `the check did not run; it must stand in CHECKS`).toBeDefined();
    expect(line?.error ?? '').toBe('');
  });
});
