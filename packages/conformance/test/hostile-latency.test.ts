/**
 * Attacks beside a client that keeps to the rules: nobody else waits for long, and everything is given back. `bench/hostile.mjs` makes them and measures.
 *
 * What is judged is how long the event loop's thread worked at one thing, in its own processor time: what a machine with other load makes processes wait is not in it.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';

/** One row of the bench. */
interface Row {
  readonly attack: string;
  readonly waves: number;
  readonly 'longest work ms': number;
  readonly 'used MiB': number;
  readonly 'resident MiB': number;
  readonly descriptors: number;
  /** Requests of the other client that were not answered well. */
  readonly failures: number;
}

const HOSTILE = fileURLToPath(new URL('../../../bench/hostile.mjs', import.meta.url));

/** What a client may cost all others at a time. */
const MOST_WORK_MS = 50;

async function attack(...args: readonly string[]): Promise<readonly Row[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [HOSTILE, '--json', '--seconds', '0', ...args]);
  return JSON.parse(stdout);
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

describe('beside every attack', () => {
  let rows: readonly Row[];
  beforeAll(async () => {
    rows = await attack();
  }, 240_000);

  test('the other client is answered', () => {
    expect(rows.length).toBeGreaterThan(25);
    expect(rows.filter(({ failures }) => failures > 0)).toEqual([]);
  });

  test('the event loop works at nothing for long', async () => {
    const late = rows.filter((row) => row['longest work ms'] > MOST_WORK_MS);
    // A collection of garbage may fall into any of them: what counts is what happens again.
    const again =
      late.length === 0 ? [] : await attack('--attack', late.map((row) => `^${escaped(row.attack)}$`).join('|'));
    const names = new Set(late.map((row) => row.attack));
    expect(again.filter((row) => names.has(row.attack) && row['longest work ms'] > MOST_WORK_MS)).toEqual([]);
  }, 120_000);
});

test('attacks that are made again and again leave memory and descriptors at their level', async () => {
  const rows = await attack('--passes', '3', '--attack', 'resets|bombs of|chunks of one|CONTINUATION');
  const [first, ...later] = rows.filter(({ attack: name }) => name.startsWith('none, after'));
  const last = later.at(-1);
  if (first === undefined || last === undefined) throw new Error('there are no passes');
  expect(last.descriptors).toBeLessThanOrEqual(first.descriptors);
  // A pass that kept what its bombs inflate to, or its connections, would add as much as the first one took each time.
  expect(last['used MiB']).toBeLessThan(first['used MiB'] * 1.5 + 8);
  expect(last['resident MiB']).toBeLessThan(first['resident MiB'] * 1.3);
}, 240_000);
