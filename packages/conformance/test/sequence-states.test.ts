/** Implicit state, through the scheduler, of real models of both engines: where it begins, how it changes, and that no sequence ever sees that of another. */
import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, test } from 'vitest';
import { configText } from '../src/config-text.ts';
import type { ModelTree } from '../src/model-tree.ts';
import { type RealRepository, serveRepository } from '../src/real-engine.ts';
import { control, resultOf, run, runInTurn, type StateText, send, sequences, state, whole } from '../src/sequences.ts';

interface Served {
  readonly file: string;
  readonly sequenceBatching: string;
  readonly input?: readonly string[];
  readonly output?: readonly string[];
  readonly files?: ModelTree['files'];
  /** 1 by default. */
  readonly instances?: number;
}

/** The model 'm' of this file, which may have failed to load. */
function serve(served: Served) {
  const { file, sequenceBatching, files = {}, instances = 1 } = served;
  const { input = ['INPUT__0 TYPE_FP32 1'], output = ['OUTPUT__0 TYPE_FP32 1'] } = served;
  const config = configText({
    platform: file.endsWith('.pt2') ? 'torch_aoti' : 'pytorch_libtorch',
    maxBatchSize: 8,
    input,
    output,
    more: `${sequenceBatching}\ninstance_group { count: ${instances} kind: KIND_CPU }`,
  });
  return serveRepository([{ name: 'm', config, versions: { 1: file }, files }]);
}

const STATE = (init?: StateText) => state('INPUT__1', 'OUTPUT__1', init);
const CONTROLS = [control('INPUT__2', 'START'), control('INPUT__3', 'READY')];
const CORRID = control('INPUT__4', 'CORRID', 'data_type: TYPE_INT32');
const ENGINES = [
  ['a module', 'sequences_torchscript/grow.pt'],
  ['a package', 'sequences_aoti/grow.pt2'],
] as const;

describe.each(ENGINES)('a state of %s that grows', (_, file) => {
  const grow = (initial: string, files?: ModelTree['files']) =>
    serve({ file, sequenceBatching: sequences([], [STATE({ dims: '-1', initial })]), ...(files && { files }) });
  const floats = (...values: number[]) => new Uint8Array(new Float32Array(values).buffer);

  test('begins with the contents of a file, for every sequence that starts', async () => {
    const files = { 'initial_state/three': floats(1, 2, 3) };
    await using served = await grow('dims: [ 3 ] data_file: "three"', files);
    expect(served.failures).toEqual([]);
    for (const id of [1, 2, 1]) expect(await runInTurn(served, ...whole(id, [10, 20]))).toEqual([16, 36]);
  });

  test.each([
    ['short', "short' has 8 bytes, the state needs 12"],
    ['missing', "missing' cannot be read"],
  ])('cannot begin with a file that is %s', async (name, reason) => {
    const files = { 'initial_state/short': floats(1, 2) };
    await using served = await grow(`dims: [ 3 ] data_file: "${name}"`, files);
    expect(served.failures).toMatchObject([{ reason: expect.stringContaining(reason) }]);
    expect([served.engine.isLive(), served.engine.isModelReady('m')]).toEqual([true, false]);
  });

  test('grows with each request, whatever the length of the others', async () => {
    await using served = await grow('dims: [ 1 ] zero_data: true');
    expect(await runInTurn(served, ...whole(1, [1, 1, 1, 1]).slice(0, 3))).toEqual([1, 2, 3]);
    const [first, second, third] = [whole(1, [0, 4, 4, 4, 4]), whole(2, [2, 2, 2, 2]), whole(3, [3, 3, 3, 3])];
    const sums: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      sums.push(await run(served, ...first.slice(i + 1, i + 2), ...second.slice(i, i + 1), ...third.slice(i, i + 1)));
    }
    expect(sums).toEqual([
      [7, 2, 3],
      [11, 4, 6],
      [15, 6, 9],
      [19, 8, 12],
    ]);
  });
});

test.each([
  ['INT32', [-(2 ** 31), 2 ** 31 - 1]],
  ['INT64', [-(2n ** 63n), 2n ** 53n + 1n]],
  ['UINT8', [255, 1]],
  ['BOOL', [1, 1]],
  ['FP64', [0.1, 5e-324]],
] as const)('a state of TYPE_%s begins with zeros and is that of the request before', async (datatype, values) => {
  const type = `TYPE_${datatype}`;
  await using served = await serve({
    file: 'sequences_torchscript/before.pt',
    input: [`INPUT__0 ${type} 1`],
    output: [`OUTPUT__0 ${type} 1`],
    sequenceBatching: sequences([], [STATE({ type })]),
  });
  expect(served.failures).toEqual([]);
  const seen: unknown[] = [];
  for (const [i, value] of [...values, 1].entries()) {
    const inputs = [tensor({ name: 'INPUT__0', datatype, shape: [1, 1], values: [value] })];
    const flags = { sequenceStart: i === 0, sequenceEnd: i === values.length };
    seen.push(await resultOf(served, served.send({ modelName: 'm', correlationId: 1, inputs, ...flags })));
  }
  expect(seen).toEqual([typeof values[0] === 'bigint' ? 0n : 0, ...values]);
});

test('two states are paired by configuration where their names sort the other way round', async () => {
  const states = [state('A__2', 'Z__3'), state('B__1', 'Y__2')];
  await using served = await serve({
    file: 'sequences_torchscript/two_states.pt',
    sequenceBatching: sequences([], states),
    output: ['LAST__0 TYPE_FP32 1', 'COUNT__1 TYPE_FP32 1'],
  });
  expect(served.failures).toEqual([]);
  const [one, other] = [whole(1, [7, 9, 11]), whole(2, [70, 90, 110])];
  const seen: unknown[] = [];
  for (let i = 0; i < 3; i++) {
    const requests = [...one.slice(i, i + 1), ...other.slice(i, i + 1)].map((step) => send(served, step));
    const answers = await Promise.all(requests.map((request) => served.responder.responseOf(request)));
    seen.push(answers.map(({ outputs }) => outputs.flatMap((output) => valuesOf(output))));
  }
  expect(seen).toEqual([
    [
      [0, 0],
      [0, 0],
    ],
    [
      [7, 1],
      [70, 1],
    ],
    [
      [9, 2],
      [90, 2],
    ],
  ]);
});

test('a request that fails leaves the state as it was, and its sequence goes on', async () => {
  const sequenceBatching = sequences([], [STATE()]);
  await using served = await serve({ file: 'sequences_torchscript/plain.pt', sequenceBatching });
  expect(await runInTurn(served, { id: 1, value: 3, start: true })).toEqual([3]);
  const { error } = await served.responder.finalOf(send(served, { id: 1, value: -1 }));
  expect(error?.message).toContain('told to fail');
  expect(await runInTurn(served, { id: 1, value: 4, end: true })).toEqual([7]);
});

test('a request of another shape fails alone, and its sequence goes on', async () => {
  const sequenceBatching = sequences([], [STATE()]);
  await using served = await serve({ file: 'sequences_torchscript/plain.pt', sequenceBatching });
  expect(await runInTurn(served, { id: 1, value: 3, start: true })).toEqual([3]);
  const inputs = [tensor({ name: 'INPUT__0', shape: [1, 2], values: [1, 2] })];
  const { error } = await served.responder.finalOf(served.send({ modelName: 'm', correlationId: 1, inputs }));
  expect(error).toMatchObject({ code: 'INVALID_ARG' });
  expect(await runInTurn(served, { id: 1, value: 4, end: true })).toEqual([7]);
});

/** Models that add up, with the addend that each sequence's results have. */
const SUMS = [
  ['a module that minds READY', 'sequences_torchscript/sum.pt', CONTROLS, () => 0],
  ['a module that does not', 'sequences_torchscript/plain.pt', [], () => 0],
  ['a package', 'sequences_aoti/sum.pt2', [...CONTROLS, CORRID], (id: number) => id],
] as const;

test.each(SUMS)(
  'padding leaves the states of those whose rows it fills alone: %s',
  async (_, file, controls, addend) => {
    await using served = await serve({ file, sequenceBatching: sequences(controls, [STATE()], 'direct { }') });
    const ids = [1, 2, 3];
    const start = (id: number) => ({ id, value: id, start: true });
    expect(await run(served, ...ids.map(start))).toEqual(ids.map((id) => id + addend(id)));
    for (const sum of [13, 23, 33]) {
      const request = send(served, { id: 3, value: 10 });
      expect(await resultOf(served, request)).toBe(sum + addend(3));
      expect(request.batch).toMatchObject({ requestCount: 1, batchSize: 3 });
    }
    const end = (id: number) => ({ id, value: 100, end: true });
    expect(await run(served, ...ids.map(end))).toEqual([101, 102, 133].map((sum, i) => sum + addend(i + 1)));
  },
);

const STRATEGIES = ['direct { }', 'oldest { max_candidate_sequences: 4 }'];
const LENGTH = 12;
const POISONED = 5;

/** Every step of twenty sequences, sent at once, with the results of each sequence and the instances that it ran on. */
async function flood(served: RealRepository) {
  const ids = Array.from({ length: 20 }, (_, i) => i + 1);
  const values = ids.map((id) => (id === POISONED ? Number.NaN : id));
  const sent = ids.map((id, i) =>
    whole(id, Array<number>(LENGTH).fill(values[i] ?? 0)).map((step) => send(served, step)),
  );
  const results = await Promise.all(
    sent.map((requests) => Promise.all(requests.map((request) => resultOf(served, request)))),
  );
  const instances = sent.map((requests) => new Set(requests.map(({ batch }) => batch?.instance)));
  return { ids, values, results, instances };
}

describe.each(STRATEGIES)('sequences on two instances, %s', (strategy) => {
  test.each(SUMS)('stay on one each; the NaN of one reaches no other: %s', async (_, file, controls, addend) => {
    const sequenceBatching = sequences(controls, [STATE()], strategy);
    await using served = await serve({ file, sequenceBatching, instances: 2 });
    expect(served.failures).toEqual([]);
    const { ids, values, results, instances } = await flood(served);
    const sums = (id: number, i: number) =>
      Array.from({ length: LENGTH }, (__, step) => (values[i] ?? 0) * (step + 1) + addend(id));
    expect(results).toEqual(ids.map(sums));
    expect(instances.map(({ size }) => size)).toEqual(ids.map(() => 1));
    expect(new Set(instances.flatMap((names) => [...names])).size).toBe(2);
  });
});
