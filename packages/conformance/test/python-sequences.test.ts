/** Sequences of a server process with the real Python client, over HTTP, gRPC and its streams. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CheckLine, clientScript, runChecks } from '../src/client-checks.ts';
import { configText } from '../src/config-text.ts';
import { type ModelTree, writeModelTree } from '../src/model-tree.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';
import { control, type StateText, sequences, state } from '../src/sequences.ts';

const SCRIPT = 'tritonclient_sequence_checks.py';
const source = readFileSync(clientScript(SCRIPT), 'utf8');
const namesWith = (argument: string) =>
  [...source.matchAll(new RegExp(`^def (\\w+)\\(${argument}\\):$`, 'gm'))].map(([, name]) =>
    String(name).replaceAll('_', ' '),
  );

const OLDEST = 'oldest { max_candidate_sequences: 4 }';
const TWO_INSTANCES = 'instance_group { count: 2 kind: KIND_CPU }';
const OUTPUT = 'OUTPUT__0 TYPE_FP32 1';

interface Summing {
  /** Direct by default. */
  readonly strategy?: string;
  readonly output?: readonly string[];
  readonly maxBatchSize?: number;
}

/** A module whose state is the sum so far. */
function module(name: string, { strategy = 'direct { }', output = [OUTPUT], maxBatchSize = 8 }: Summing): ModelTree {
  const controls = [control('START__2', 'START'), control('READY__3', 'READY')];
  const batching = sequences(controls, [state('INPUT_STATE__1', 'OUTPUT_STATE__1')], strategy);
  const config = configText({
    maxBatchSize,
    input: ['INPUT__0 TYPE_FP32 1'],
    output,
    more: `${batching}\n${TWO_INSTANCES}`,
  });
  return { name, config, versions: { 1: 'sequences_torchscript/sum.pt' } };
}

interface Packaged {
  /** Of state, START, READY and CORRID, and of the next state. */
  readonly names?: readonly [string, string, string, string, string];
  readonly strategy?: string;
  readonly corrid?: string;
  readonly stateText?: StateText;
}

const ORDINAL = ['INPUT__1', 'INPUT__2', 'INPUT__3', 'INPUT__4', 'OUTPUT__1'] as const;

/** A package whose state is the sum so far, and which adds the correlation ID to its results. */
function packaged(name: string, init: Packaged = {}): ModelTree {
  const { names = ORDINAL, strategy = 'direct { }', corrid = 'TYPE_INT32', stateText = {} } = init;
  const [before, start, ready, id, after] = names;
  const controls = [control(start, 'START'), control(ready, 'READY'), control(id, 'CORRID', `data_type: ${corrid}`)];
  const batching = sequences(controls, [state(before, after, stateText)], strategy);
  const config = configText({
    platform: 'torch_aoti',
    maxBatchSize: 8,
    input: ['INPUT__0 TYPE_FP32 1'],
    output: [OUTPUT],
    more: `${batching}\n${TWO_INSTANCES}`,
  });
  return { name, config, versions: { 1: 'sequences_aoti/sum.pt2' } };
}

const NAMED: ModelTree = {
  name: 'named',
  config: configText({
    maxBatchSize: 8,
    input: ['INPUT__0 TYPE_FP32 1'],
    output: [OUTPUT, '{ name: "ID__1" data_type: TYPE_STRING dims: [ 1 ] reshape: { shape: [ ] } }'],
    more: sequences([control('CORRID__1', 'CORRID', 'data_type: TYPE_STRING')], []),
  }),
  versions: { 1: 'sequences_torchscript/named.pt' },
};

const MODELS = [
  module('module_direct', {}),
  module('module_oldest', { strategy: OLDEST, output: [OUTPUT, 'OUTPUT_STATE__1 TYPE_FP32 1'] }),
  module('module_narrow', { maxBatchSize: 2 }),
  packaged('package_direct'),
  packaged('package_oldest', { strategy: OLDEST, names: ['ARGS[1]', 'ARGS[2]', 'ARGS[3]', 'ARGS[4]', 'RESULT[1]'] }),
  packaged('bad_corrid', { corrid: 'TYPE_STRING' }),
  packaged('bad_state', { stateText: { type: 'TYPE_STRING' } }),
  NAMED,
];

const repository = mkdtempSync(join(tmpdir(), 'nereid-sequences-'));
let server: NereidProcess;
let lines: ReadonlyMap<string, CheckLine>;

beforeAll(async () => {
  for (const model of MODELS) writeModelTree(repository, model);
  server = await startNereid([repository]);
  lines = await runChecks(SCRIPT, server.url, server.grpcPlace, String(server.process.pid));
}, 120_000);
afterAll(async () => {
  await server?.stop();
  rmSync(repository, { recursive: true });
});

function holds(name: string): void {
  const line = lines.get(name);
  expect(line, 'the check did not run; it must stand in a list of checks').toBeDefined();
  expect(line?.error ?? '').toBe('');
}

describe.each(['HTTP', 'gRPC', 'streams'])('the Python client over %s', (way) => {
  test.each(namesWith('connect'))('%s', (name) => holds(`${name} over ${way}`));
});

test.each(namesWith('places'))('%s', (name) => holds(name));

test('a server that was told to stop ends well once its sequences have ended', async () => {
  const { process } = server;
  if (process.exitCode === null && process.signalCode === null) await once(process, 'exit');
  expect(process.exitCode).toBe(0);
});
