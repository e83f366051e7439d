import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAULTS, GOOD, writeFaultyRepository } from '../src/faults.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

interface IndexRow {
  readonly name: string;
  readonly version?: string;
  readonly state?: string;
  readonly reason?: string;
}

const repository = mkdtempSync(join(tmpdir(), 'nereid-faults-'));
let server: NereidProcess;
let index: readonly IndexRow[];

beforeAll(async () => {
  writeFaultyRepository(repository);
  server = await startNereid([repository]);
  index = (await (await fetch(`${server.url}/v2/repository/index`, { method: 'POST' })).json()) as IndexRow[];
}, 60_000);
afterAll(async () => {
  await server?.stop();
  rmSync(repository, { recursive: true });
});

/** Text of a table row, whose reason may be broken over lines, without the breaks. */
const joined = (text: string) => text.replace(/\s*\|\n\|[ |-]*\|\s*/g, ' ');

describe.each(FAULTS)('a model with the fault $name', ({ name, fragments }) => {
  test('is not ready', async () => {
    expect((await fetch(`${server.url}/v2/models/${name}/ready`)).status).toBe(400);
  });

  test('has a reason in the index that names the fault', () => {
    const row = index.find((entry) => entry.name === name);
    expect(row?.state ?? 'UNAVAILABLE').toBe('UNAVAILABLE');
    for (const fragment of fragments) expect(row?.reason).toContain(fragment);
  });

  test('has the reason in the log', () => {
    const lines = server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('E') && line.includes(name));
    for (const fragment of fragments) expect(lines.join('\n')).toContain(fragment);
  });

  test('has the reason in the table', () => {
    const table = joined(server.output().slice(server.output().indexOf('+---')));
    const first = fragments[0] ?? '';
    expect(table).toContain(name);
    expect(table.replaceAll(/\s+/g, '')).toContain(first.replaceAll(/\s+/g, ''));
  });
});

test('the good model beside them serves', async () => {
  const rows = { shape: [1, 3], datatype: 'FP32', data: [1, 2, 3] };
  const body = JSON.stringify({
    inputs: [
      { name: 'a', ...rows },
      { name: 'b', ...rows },
    ],
  });
  const response = await fetch(`${server.url}/v2/models/${GOOD}/infer`, { method: 'POST', body });
  expect(await response.json()).toMatchObject({ outputs: [{ data: [2, 4, 6] }, { data: [0, 0, 0] }] });
});

test('the server is live but not ready', async () => {
  expect((await fetch(`${server.url}/v2/health/live`)).status).toBe(200);
  expect((await fetch(`${server.url}/v2/health/ready`)).status).toBe(400);
});
