/** Sequences through the scheduler to real models: what the suites of the original ask of states and controls. */
import { tensor, valuesOf } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configText } from '../src/config-text.ts';
import { type RealRepository, serveRepository } from '../src/real-engine.ts';
import { control, run, runInTurn, send, sequences, state, whole } from '../src/sequences.ts';

describe.each([
  ['ordinal', ['INPUT__1', 'INPUT__2', 'INPUT__3', 'INPUT__4', 'OUTPUT__0', 'OUTPUT__1']],
  ['forward', ['ARGS[1]', 'ARGS[2]', 'ARGS[3]', 'ARGS[4]', 'RESULT[0]', 'RESULT[1]']],
] as const)('a package with state and controls under %s names', (_, [before, start, ready, corrid, y, after]) => {
  let served: RealRepository;

  beforeAll(async () => {
    const controls = [
      control(start, 'START'),
      control(ready, 'READY'),
      control(corrid, 'CORRID', 'data_type: TYPE_INT32'),
    ];
    const config = configText({
      platform: 'torch_aoti',
      maxBatchSize: 8,
      input: ['INPUT__0 TYPE_FP32 1'],
      output: [`${y} TYPE_FP32 1`],
      more: sequences(controls, [state(before, after)]),
    });
    served = await serveRepository([{ name: 'm', config, versions: { 1: 'sequences_aoti/sum.pt2' } }]);
  });
  afterAll(() => served[Symbol.asyncDispose]());

  test('sums up a single sequence', async () => {
    expect(await runInTurn(served, ...whole(100, [2, 3, 4, 5]))).toEqual([102, 105, 109, 114]);
  });

  test('keeps two sequences apart that take turns', async () => {
    const sums: unknown[] = [];
    const [one, other] = [whole(201, [1, 2, 3]), whole(202, [10, 20, 30])];
    for (const [i, step] of one.entries()) {
      sums.push(...(await run(served, step)), ...(await run(served, ...other.slice(i, i + 1))));
    }
    expect(sums).toEqual([202, 212, 204, 232, 207, 262]);
  });

  test('steps eight sequences together', async () => {
    const ids = Array.from({ length: 8 }, (__, i) => 300 + i);
    const lives = ids.map((id) => whole(id, Array(5).fill((id % 7) + 1)));
    for (let step = 0; step < 5; step++) {
      const sums = await run(served, ...lives.flatMap((life) => life.slice(step, step + 1)));
      expect(sums).toEqual(ids.map((id) => ((id % 7) + 1) * (step + 1) + id));
    }
  });

  test('gives the places of sequences that ended to others, whose state begins anew', async () => {
    const lives = [
      { id: 400, first: 0, last: 1 },
      { id: 401, first: 0, last: 3 },
      { id: 402, first: 2, last: 4 },
      { id: 403, first: 3, last: 4 },
    ];
    for (let tick = 0; tick <= 4; tick++) {
      const alive = lives.filter(({ first, last }) => tick >= first && tick <= last);
      const steps = alive.map(({ id, first, last }) => ({ id, value: 1, start: tick === first, end: tick === last }));
      expect(await run(served, ...steps)).toEqual(alive.map(({ id, first }) => id + tick - first + 1));
    }
  });
});

const SUM_FILE = { 1: 'sequences_torchscript/sum.pt' };
const SUM = (output: readonly string[] = ['OUTPUT__0 TYPE_FP32 1'], more = '') =>
  configText({
    maxBatchSize: 8,
    input: ['INPUT__0 TYPE_FP32 1'],
    output,
    more: `${sequences([control('START__2', 'START'), control('READY__3', 'READY')], [state('INPUT_STATE__1', 'OUTPUT_STATE__1')])}\n${more}`,
  });

test('a package without controls starts from the initial state each time', async () => {
  const config = configText({
    platform: 'torch_aoti',
    maxBatchSize: 8,
    input: ['INPUT__0 TYPE_FP32 1'],
    output: ['OUTPUT__0 TYPE_FP32 1'],
    more: sequences([], [state('INPUT__1', 'OUTPUT__1', { dims: '-1' })]),
  });
  await using served = await serveRepository([{ name: 'm', config, versions: { 1: 'sequences_aoti/grow.pt2' } }]);
  expect(served.failures).toEqual([]);
  for (const id of [1, 2, 1]) {
    expect(await runInTurn(served, ...whole(id, [2, 3, 4]))).toEqual([2, 5, 9]);
  }
});

describe('a module with a state', () => {
  test('sums up, and begins anew with START', async () => {
    await using served = await serveRepository([{ name: 'm', config: SUM(), versions: SUM_FILE }]);
    expect(served.failures).toEqual([]);
    const steps = [
      ...whole(1, [1, 2, 3]),
      ...whole(2, [4, 5]),
      { id: 3, value: 6, start: true },
      { id: 3, value: 7, start: true, end: true },
    ];
    expect(await runInTurn(served, ...steps)).toEqual([1, 3, 6, 4, 9, 6, 7]);
  });

  test('refuses a request for the state, unless it is an output too', async () => {
    await using hidden = await serveRepository([{ name: 'm', config: SUM(), versions: SUM_FILE }]);
    const [step = { id: 0, value: 0 }] = whole(1, [5]);
    const { error } = await hidden.responder.finalOf(send(hidden, step, ['OUTPUT_STATE__1']));
    expect(error).toMatchObject({ code: 'INVALID_ARG' });
    expect(error?.message).toContain("unexpected inference output 'OUTPUT_STATE__1'");
    const config = SUM(['OUTPUT__0 TYPE_FP32 1', 'OUTPUT_STATE__1 TYPE_FP32 1']);
    await using shown = await serveRepository([{ name: 'm', config, versions: SUM_FILE }]);
    const { outputs } = await shown.responder.responseOf(send(shown, step, ['OUTPUT_STATE__1']));
    expect(outputs.map((output) => [output.name, valuesOf(output)])).toEqual([['OUTPUT_STATE__1', [5]]]);
  });

  test('of strings, without batches, has that of the request before', async () => {
    const config = configText({
      input: ['WORDS__0 TYPE_STRING -1'],
      output: ['OUT__0 TYPE_STRING -1'],
      more: sequences([], [state('BEFORE__1', 'NOW__1', { type: 'TYPE_STRING', dims: '-1' })]),
    });
    await using served = await serveRepository([
      { name: 'm', config, versions: { 1: 'sequences_torchscript/remember.pt' } },
    ]);
    expect(served.failures).toEqual([]);
    const words = async (values: readonly string[], flags: { sequenceStart?: boolean; sequenceEnd?: boolean }) => {
      const inputs = [tensor({ name: 'WORDS__0', datatype: 'BYTES', values })];
      const request = served.send({ modelName: 'm', correlationId: 7, inputs, ...flags });
      const [output] = (await served.responder.responseOf(request)).outputs;
      return output && valuesOf(output);
    };
    await words(['a\0b', 'c'], { sequenceStart: true });
    expect(await words(['d'], {})).toEqual(['a\0b', 'c']);
    expect(await words(['e'], { sequenceEnd: true })).toEqual(['d']);
  });

  test('is warmed up with samples that carry controls and state, and serves afterwards', async () => {
    const entry = (name: string, data: string) =>
      `inputs { key: "${name}" value { data_type: TYPE_FP32 dims: [ 1 ] ${data}: true } }`;
    const names = ['INPUT__0', 'START__2', 'READY__3'].map((name) => entry(name, 'zero_data')).join(' ');
    const config = SUM(undefined, `model_warmup { name: "sequence" batch_size: 1 count: 2 ${names} }`);
    await using served = await serveRepository([{ name: 'm', config, versions: SUM_FILE }]);
    expect(served.failures).toEqual([]);
    expect(served.log.filter((line) => line.includes("sample 'sequence' with batch size 1"))).toHaveLength(1);
    expect(await run(served, ...whole(1, [3]))).toEqual([3]);
  });
});

test('a module gets every control of each request, as explicit inputs', async () => {
  const controls = [
    control('START__1', 'START', 'int32_false_true: [ 0, 1 ]'),
    control('END__2', 'END', 'bool_false_true: [ false, true ]'),
    control('READY__3', 'READY'),
    control('CORRID__4', 'CORRID', 'data_type: TYPE_INT64'),
  ];
  const config = configText({
    maxBatchSize: 8,
    input: ['INPUT__0 TYPE_FP32 1'],
    output: ['OUTPUT__0 TYPE_FP32 5'],
    more: sequences(controls, []),
  });
  await using served = await serveRepository([
    { name: 'm', config, versions: { 1: 'sequences_torchscript/controls.pt' } },
  ]);
  expect(served.failures).toEqual([]);
  const rows: unknown[] = [];
  for (const step of whole(9, [10, 20, 30])) {
    const [output] = (await served.responder.responseOf(send(served, step))).outputs;
    rows.push(output && valuesOf(output));
  }
  expect(rows).toEqual([
    [10, 1, 0, 1, 9],
    [20, 0, 0, 1, 9],
    [30, 0, 1, 1, 9],
  ]);
});

test.each([
  [
    'a correlation ID',
    { corrid: 'TYPE_STRING', state: 'TYPE_FP32' },
    "unsupported datatype TYPE_STRING for control 'INPUT__4'",
  ],
  ['a state', { corrid: 'TYPE_INT32', state: 'TYPE_STRING' }, "unsupported datatype TYPE_STRING for state 'INPUT__1'"],
])('a package with %s of strings is not ready, and the server lives', async (_, types, reason) => {
  const controls = [
    control('INPUT__2', 'START'),
    control('INPUT__3', 'READY'),
    control('INPUT__4', 'CORRID', `data_type: ${types.corrid}`),
  ];
  const config = configText({
    platform: 'torch_aoti',
    maxBatchSize: 8,
    input: ['INPUT__0 TYPE_FP32 1'],
    output: ['OUTPUT__0 TYPE_FP32 1'],
    more: sequences(controls, [state('INPUT__1', 'OUTPUT__1', { type: types.state })]),
  });
  await using served = await serveRepository([{ name: 'm', config, versions: { 1: 'sequences_aoti/sum.pt2' } }]);
  expect(served.failures).toMatchObject([{ reason: expect.stringContaining(reason) }]);
  expect([served.engine.isLive(), served.engine.isModelReady('m')]).toEqual([true, false]);
});
