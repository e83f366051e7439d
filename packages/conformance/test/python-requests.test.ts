import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CheckLine, clientScript, runChecks } from '../src/client-checks.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const EXAMPLE = fileURLToPath(new URL('../../../examples/continuous-batching/model_repository', import.meta.url));
const REPOSITORY = fileURLToPath(new URL('../repositories/model-py', import.meta.url));
const SCRIPT = 'tritonclient_model_py_checks.py';
const FORWARDED = ['--http-header-forward-pattern=x-tenant', '--grpc-header-forward-pattern=x-tenant'];
const source = readFileSync(clientScript(SCRIPT), 'utf8');
const names = [...source.matchAll(/^def (\w+)\(client, web\):$/gm)].map(([, name]) =>
  String(name).replaceAll('_', ' '),
);

let server: NereidProcess;
let lines: ReadonlyMap<string, CheckLine>;

beforeAll(async () => {
  server = await startNereid([REPOSITORY, EXAMPLE], FORWARDED);
  lines = await runChecks(SCRIPT, server.url, server.grpcPlace, join(EXAMPLE, 'generator/1/model.py'));
}, 120_000);
afterAll(() => server?.stop());

describe('models in Python and the Python clients', () => {
  test.each(names)('%s', (name) => {
    const line = lines.get(name);
    expect(line, `the check did not run; it must stand in CHECKS`).toBeDefined();
    expect(line?.error ?? '').toBe('');
  });
});
