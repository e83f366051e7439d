import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usableCores } from '@nereid/pytorch-backend';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CheckLine, runChecks } from '../src/client-checks.ts';
import type { NereidProcess } from '../src/nereid-process.ts';
import { startTwelveModels } from '../src/twelve-models.ts';

const cores = usableCores();
const half = Math.max(1, Math.floor(cores / 2));

/** Instances and threads of each model, as the start table has them. */
const TABLE = [
  ['aoti_batching', 2, half],
  ['aoti_forward_names', 1, cores],
  ['aoti_ordinal', 1, cores],
  ['aoti_without_config', 1, cores],
  ['custom_operators', 1, cores],
  ['init_library', 1, cores],
  ['python_weights', 1, 2],
  ['torchscript_dictionary', 1, 3],
  ['torchscript_list', 1, cores],
  ['torchscript_names', 2, half],
  ['torchscript_optional', 1, cores],
  ['torchscript_strings', 1, cores],
] as const;

let directory: string;
let server: NereidProcess;
let warmed: unknown;
const PROTOCOLS = ['http', 'grpc'] as const;
const lines = new Map<string, ReadonlyMap<string, CheckLine>>();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'nereid-twelve-'));
  server = await startTwelveModels(directory);
  warmed = await (await fetch(`${server.url}/v2/models/aoti_batching/stats`)).json();
  const places = { http: server.url, grpc: `http://${server.grpcPlace}` };
  for (const protocol of PROTOCOLS)
    lines.set(protocol, await runChecks('twelve_models_checks.py', places[protocol], protocol));
}, 180_000);
afterAll(async () => {
  await server?.stop();
  rmSync(directory, { recursive: true });
});

describe('a repository with one model of each kind, started with one command', () => {
  describe.each(PROTOCOLS)('over %s', (protocol) => {
    test.each(TABLE)('%s answers the Python client as torch and numpy compute it', (name) => {
      const line = lines.get(protocol)?.get(name);
      expect(line, 'the check did not run; it must stand in CHECKS').toBeDefined();
      expect(line?.error ?? '').toBe('');
    });
  });

  test('is listed with instances and threads: a share of the cores, or as configured', () => {
    const cells = server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.split('|').map((cell) => cell.trim()));
    const [head, ...rows] = cells.map((row) => row.slice(1, 6));
    expect(head).toEqual(['Model', 'Version', 'State', 'Instances', 'Threads']);
    expect(rows).toEqual(
      TABLE.map(([name, instances, threads]) => [name, '1', 'READY', String(instances), String(threads)]),
    );
  });

  test('is warmed up with zeros, random values and a file, at each batch size on each instance, before anything is counted', () => {
    const said = [
      ...server
        .output()
        .matchAll(
          /warmup of 'aoti_batching' version 1 on instance '(\w+)': (.*?): first run [\d.]+ ms(, run (\d+) [\d.]+ ms)?/g,
        ),
    ];
    const expected = ['aoti_batching_0_0', 'aoti_batching_0_1'].flatMap((instance) => [
      [instance, "sample 'one' with batch size 1", '3'],
      [instance, "sample 'eight' with batch size 8", undefined],
      [instance, "sample 'full' with batch size 64", '2'],
    ]);
    expect(said.map(([, instance, sample, , runs]) => [instance, sample, runs])).toEqual(expected);
    expect(warmed).toMatchObject({
      model_stats: [{ inference_count: 0, execution_count: 0, inference_stats: { success: { count: 0 } } }],
    });
  });

  test('ends when it is told to, and the model with a library is taken down', async () => {
    expect(await server.stop()).toBe(0);
    expect(readFileSync(join(directory, 'init_library', '1', 'calls.txt'), 'utf8')).toBe('init\nfini\n');
  });
});
