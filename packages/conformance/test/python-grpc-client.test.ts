import { readFileSync } from 'node:fs';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CheckLine, clientScript, runChecks } from '../src/client-checks.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const SCRIPT = 'tritonclient_grpc_checks.py';
const source = readFileSync(clientScript(SCRIPT), 'utf8');
const names = [...source.matchAll(/^def (\w+)\(client, place\):$/gm)].map(([, name]) =>
  String(name).replaceAll('_', ' '),
);

let server: NereidProcess;
let lines: ReadonlyMap<string, CheckLine>;

beforeAll(async () => {
  server = await startNereid([testModel('golden_repository'), testModel('more_datatypes')]);
  lines = await runChecks(SCRIPT, `http://${server.grpcPlace}`);
}, 120_000);
afterAll(() => server?.stop());

describe('the Python client over gRPC', () => {
  test.each(names)('%s', (name) => {
    const line = lines.get(name);
    expect(line, `the check did not run; it must stand in CHECKS`).toBeDefined();
    expect(line?.error ?? '').toBe('');
  });
});
