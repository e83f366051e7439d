import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelRow } from '@nereid/serving';
import { afterAll, describe, expect, test } from 'vitest';
import { announceModels } from '../src/announce.ts';
import { type LogOptions, openLog } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'nereid-announce-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ROWS: readonly ModelRow[] = [
  { name: 'broken', reason: 'no such file', instances: [], threads: undefined },
  {
    name: 'mlp',
    version: '1',
    state: 'READY',
    instances: [{ name: 'mlp_0', kind: 'KIND_CPU', deviceId: 0 }],
    threads: 2,
  },
];

async function announced(format: LogOptions['format']): Promise<readonly string[]> {
  const file = join(folder, `${format}.log`);
  const log = openLog({ format, verbose: 0, info: true, warning: true, error: true, file });
  announceModels(ROWS, log);
  await log.close();
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

describe('the models are announced', () => {
  test('as a table for people', async () => {
    expect(await announced('default')).toEqual([
      '+--------+---------+-------------+-----------+---------+--------------+',
      '| Model  | Version | State       | Instances | Threads | Reason       |',
      '+--------+---------+-------------+-----------+---------+--------------+',
      '| broken | -       | UNAVAILABLE | -         | -       | no such file |',
      '| mlp    | 1       | READY       | 1         | 2       |              |',
      '+--------+---------+-------------+-----------+---------+--------------+',
    ]);
  });

  test('as lines of JSON for programs', async () => {
    const [broken, mlp] = (await announced('json')).map((line) => JSON.parse(line));
    expect(broken).toMatchObject({ msg: 'model', model: 'broken', reason: 'no such file', instances: 0 });
    expect(mlp).toMatchObject({ msg: 'model', model: 'mlp', version: '1', state: 'READY', instances: 1, threads: 2 });
  });
});
