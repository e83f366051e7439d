import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { testModel, usePython } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const SCRIPT = fileURLToPath(new URL('../python/tritonclient_checks.py', import.meta.url));
const names = [...readFileSync(SCRIPT, 'utf8').matchAll(/^def (\w+)\(client, url\):$/gm)].map(([, name]) =>
  String(name).replaceAll('_', ' '),
);

interface Line {
  readonly name: string;
  readonly error?: string;
}

let server: NereidProcess;
let lines: ReadonlyMap<string, Line>;

/** One run of the client for all checks: starting Python takes longer than they do. */
async function runChecks(url: string): Promise<Map<string, Line>> {
  const child = spawn(usePython(), [SCRIPT, new URL(url).host], { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  let complaints = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`the client's script ended with exit code ${code}:\n${complaints}`);
  const found = printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  return new Map(found.map((line) => [line.name, line]));
}

beforeAll(async () => {
  server = await startNereid([testModel('golden_repository'), testModel('more_datatypes')]);
  lines = await runChecks(server.url);
}, 120_000);
afterAll(() => server?.stop());

describe('the Python client', () => {
  test.each(names)('%s', (name) => {
    const line = lines.get(name);
    expect(line, `the check did not run; it must stand in CHECKS`).toBeDefined();
    expect(line?.error ?? '').toBe('');
  });
});
