import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CheckLine, clientScript, runChecks } from '../src/client-checks.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const SCRIPT = 'tritonclient_trace_checks.py';
const source = readFileSync(clientScript(SCRIPT), 'utf8');
const names = [...source.matchAll(/^def (\w+)\(server\):$/gm)].map(([, name]) => String(name).replaceAll('_', ' '));
const directory = mkdtempSync(join(tmpdir(), 'nereid-traces-'));
const file = join(directory, 'traces');

let server: NereidProcess;
let lines: ReadonlyMap<string, CheckLine>;

beforeAll(async () => {
  const options = [`triton,file=${file}`, 'triton,log-frequency=1'].flatMap((text) => ['--trace-config', text]);
  server = await startNereid([testModel('golden_repository')], options);
  lines = await runChecks(SCRIPT, server.url, server.grpcPlace, file);
}, 120_000);
afterAll(async () => {
  await server?.stop();
  rmSync(directory, { recursive: true });
});

describe('traces and the Python clients', () => {
  test.each(names)('%s', (name) => {
    const line = lines.get(name);
    expect(line, `the check did not run; it must stand in CHECKS`).toBeDefined();
    expect(line?.error ?? '').toBe('');
  });
});
