import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CheckLine, clientScript, runChecks } from '../src/client-checks.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const REPOSITORY = fileURLToPath(new URL('../repositories/decoupled', import.meta.url));
const SCRIPT = 'tritonclient_decoupled_checks.py';
const source = readFileSync(clientScript(SCRIPT), 'utf8');
const names = [...source.matchAll(/^def (\w+)\(client, web\):$/gm)].map(([, name]) =>
  String(name).replaceAll('_', ' '),
);

let server: NereidProcess;
let lines: ReadonlyMap<string, CheckLine>;

beforeAll(async () => {
  server = await startNereid([REPOSITORY]);
  lines = await runChecks(SCRIPT, server.url, server.grpcPlace);
}, 120_000);
afterAll(() => server?.stop());

describe('decoupled models and the Python clients', () => {
  test.each(names)('%s', (name) => {
    const line = lines.get(name);
    expect(line, `the check did not run; it must stand in CHECKS`).toBeDefined();
    expect(line?.error ?? '').toBe('');
  });
});
