/** Compiled packages as a repository holds them: what the suites of the original ask of its backend, on the CPU. */
import type { InferenceRequest, Tensor } from '@nereid/core';
import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, test } from 'vitest';
import { configText } from '../src/config-text.ts';
import { type RealRepository, serveRepository } from '../src/real-engine.ts';

const PLATFORM = 'torch_aoti';

function constant(
  name: string,
  value: number,
  init: Partial<Parameters<typeof tensor>[0]> & { shape: readonly number[] },
) {
  const count = init.shape.reduce((product, dim) => product * dim, 1);
  return tensor({ name, values: Array.from({ length: count }, () => value), ...init });
}

/** Sends the requests from so many clients, each its next one when the last is answered. */
async function fromWorkers(workers: number, inputs: readonly (readonly Tensor[])[], served: RealRepository) {
  const requests: InferenceRequest[] = [];
  const worker = async () => {
    while (requests.length < inputs.length) {
      const request = served.send({ modelName: 'm', inputs: inputs[requests.length] ?? [] });
      requests.push(request);
      await served.responder.responseOf(request);
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return requests;
}

describe('names of a nested signature that does not batch', () => {
  test.each([
    [
      'ordinal',
      ['INPUT__0', 'INPUT__1', 'INPUT__2', 'INPUT__3'],
      ['OUTPUT__0', 'OUTPUT__1', 'OUTPUT__2', 'OUTPUT__3', 'OUTPUT__4', 'OUTPUT__5'],
      [30, -10, 10, 20, 3, 4],
    ],
    [
      'forward',
      ['ARGS[0]', 'ARGS[1]', 'ARGS[2][option1]', 'ARGS[2][option2]'],
      [
        'RESULT[AAA]',
        'RESULT[BBB][0]',
        'RESULT[BBB][1]',
        'RESULT[CCC][option1]',
        'RESULT[CCC][option2]',
        'RESULT[ZZZ]',
      ],
      [30, 10, 20, 3, 4, -10],
    ],
  ])('are %s', async (_, inputs, outputs, expected) => {
    const spec = (name: string) => `${name} TYPE_INT8 1 16`;
    const config = configText({ platform: PLATFORM, input: inputs.map(spec), output: outputs.map(spec) });
    await using served = await serveRepository([{ name: 'm', config, versions: { 1: 'backend_aoti/complex.pt2' } }]);
    expect(served.failures).toEqual([]);
    const init = { datatype: 'INT8', shape: [1, 16] } as const;
    const results = await served.infer('m', ...inputs.map((name, i) => constant(name, [10, 20, 3, 4][i] ?? 0, init)));
    expect([...results.keys()]).toEqual(outputs);
    expect([...results.values()].map(valuesOf)).toEqual(expected.map((value) => Array(16).fill(value)));
  });
});

describe('a package of six datatypes behind the dynamic batcher', () => {
  const TYPES = ['INT8', 'INT16', 'INT32', 'INT64', 'FP16', 'FP32'] as const;
  /** Bits of 1.5, 2 and 3.5: halves are given and read as bits. */
  const VALUES = { FP16: [0x3e00, 0x4000, 0x4300], others: [1, 2, 3] } as const;

  test.each([1, 4, 8])('adds exactly with %i rows', async (rows) => {
    const types = TYPES.flatMap((type) => [type, type]);
    const config = configText({
      platform: PLATFORM,
      maxBatchSize: 8,
      input: types.map((type, i) => `ARGS[${i}] TYPE_${type} 16`),
      output: TYPES.map((type, i) => `RESULT[${i}] TYPE_${type} 16`),
      more: 'dynamic_batching { preferred_batch_size: [ 4, 8 ] max_queue_delay_microseconds: 1000 }',
    });
    await using served = await serveRepository([{ name: 'm', config, versions: { 1: 'qa_aoti/sums.pt2' } }]);
    expect(served.failures).toEqual([]);
    const values = (type: (typeof TYPES)[number]) => (type === 'FP16' ? VALUES.FP16 : VALUES.others);
    const inputs = types.map((datatype, i) =>
      constant(`ARGS[${i}]`, values(datatype)[i % 2] ?? 0, { datatype, shape: [rows, 16] }),
    );
    const outputs = await served.infer('m', ...inputs);
    for (const [i, type] of TYPES.entries()) {
      const output = outputs.get(`RESULT[${i}]`);
      expect(output).toMatchObject({ datatype: type, shape: [rows, 16] });
      expect(output && valuesOf(output).map(Number)).toEqual(Array(rows * 16).fill(values(type)[2]));
    }
  });
});

test.each([1, 4, 8])(
  'a convolutional network gives finite scores for %i images, each as it does alone',
  async (rows) => {
    const config = configText({
      platform: PLATFORM,
      maxBatchSize: 8,
      input: ['INPUT__0 TYPE_FP32 3 32 32'],
      output: ['OUTPUT__0 TYPE_FP32 10'],
    });
    await using served = await serveRepository([{ name: 'm', config, versions: { 1: 'qa_aoti/convolutional.pt2' } }]);
    const image = (i: number) => Array.from({ length: 3 * 32 * 32 }, (_, k) => Math.sin(i + k));
    const images = Array.from({ length: rows }, (_, i) => image(i));
    const scores = async (given: readonly (readonly number[])[]) => {
      const input = tensor({ name: 'INPUT__0', shape: [given.length, 3, 32, 32], values: given.flat() });
      const output = (await served.infer('m', input)).get('OUTPUT__0');
      expect(output?.shape).toEqual([given.length, 10]);
      return output ? valuesOf(output).map(Number) : [];
    };
    const together = await scores(images);
    expect(together.every(Number.isFinite)).toBe(true);
    const last = await scores(images.slice(-1));
    for (const [i, score] of last.entries()) expect(together[(rows - 1) * 10 + i]).toBeCloseTo(score, 4);
  },
);

describe('many clients', () => {
  const config = (more: string) =>
    configText({
      platform: PLATFORM,
      maxBatchSize: 8,
      input: ['INPUT__0 TYPE_FP32 -1', 'INPUT__1 TYPE_FP32 -1'],
      output: ['OUTPUT__0 TYPE_FP32 -1', 'OUTPUT__1 TYPE_FP32 -1'],
      more,
    });
  const row = (i: number) =>
    ['INPUT__0', 'INPUT__1'].map((name, k) => constant(name, k === 0 ? i : 1, { shape: [1, 4] }));

  test.each([
    [
      'are coalesced',
      32,
      200,
      'dynamic_batching { preferred_batch_size: [ 4, 8 ] max_queue_delay_microseconds: 1000 }',
    ],
    ['are served by two instances', 16, 64, 'instance_group { count: 2 kind: KIND_CPU }'],
  ])('%s: %i of them send %i rows, all right, and the statistics add up', async (_, workers, count, more) => {
    await using served = await serveRepository([
      { name: 'm', config: config(more), versions: { 1: 'backend_aoti/add.pt2' } },
    ]);
    const requests = await fromWorkers(
      workers,
      Array.from({ length: count }, (__, i) => row(i)),
      served,
    );
    expect(requests).toHaveLength(count);
    for (const [i, request] of requests.entries()) {
      const { outputs } = await served.responder.responseOf(request);
      expect(outputs.map((output) => [...output.data])).toEqual(
        [i + 1, i - 1].map((value) => [...constant('', value, { shape: [1, 4] }).data]),
      );
    }
    const [statistics] = served.engine.statistics('m');
    const executions = statistics?.executionCount ?? 0;
    expect(statistics).toMatchObject({ inferenceCount: count, success: { count }, fail: { count: 0 } });
    expect(executions).toBeGreaterThan(0);
    if (more.startsWith('dynamic')) expect(executions).toBeLessThan(count);
    const batches = statistics?.batches ?? [];
    const total = (of: (batch: (typeof batches)[number]) => number) =>
      batches.reduce((sum, batch) => sum + of(batch), 0);
    expect(total(({ computeInfer }) => computeInfer.count)).toBe(executions);
    expect(total(({ batchSize, computeInfer }) => batchSize * computeInfer.count)).toBe(count);
  });

  test.each([
    [
      'ENABLE_JIT_EXECUTOR',
      'maybe',
      "parameter 'ENABLE_JIT_EXECUTOR' is 'maybe', expected true, on, 1, false, off or 0",
    ],
    [
      'INTRA_OP_THREAD_COUNT',
      '99999999999',
      "parameter 'INTRA_OP_THREAD_COUNT' is '99999999999', expected a whole number",
    ],
  ])('have nothing of a model whose parameter %s is %s', async (key, value, reason) => {
    const more = `parameters { key: "${key}" value { string_value: "${value}" } }`;
    await using served = await serveRepository([
      { name: 'm', config: config(more), versions: { 1: 'backend_aoti/add.pt2' } },
    ]);
    expect(served.failures).toMatchObject([{ reason: expect.stringContaining(reason) }]);
  });

  test('that send no rows are told how many the package takes, and the next request runs', async () => {
    await using served = await serveRepository([
      { name: 'm', config: config('dynamic_batching { }'), versions: { 1: 'backend_aoti/add.pt2' } },
    ]);
    const inputs = ['INPUT__0', 'INPUT__1'].map((name) => tensor({ name, shape: [0, 4], values: [] }));
    const { error } = await served.responder.finalOf(served.send({ modelName: 'm', inputs }));
    expect(error?.message).toContain('compiled for [1..8,1..64]: dimension 0 is 0');
    expect((await served.infer('m', ...row(1))).size).toBe(2);
  });
});

describe('a signature with empty containers and None', () => {
  const load = (output: readonly string[], file = 'qa_aoti/hollow.pt2') =>
    serveRepository([
      {
        name: 'm',
        config: configText({
          platform: PLATFORM,
          input: ['ARGS[0] TYPE_FP32 2 3', 'KWARGS[y] TYPE_FP32 2 3'],
          output,
        }),
        versions: { 1: file },
      },
    ]);

  test('has names for its tensors', async () => {
    await using served = await load(['RESULT[sum] TYPE_FP32 2 3']);
    expect(served.failures).toEqual([]);
    const inputs = ['ARGS[0]', 'KWARGS[y]'].map((name, i) => constant(name, i + 1, { shape: [2, 3] }));
    const sum = (await served.infer('m', ...inputs)).get('RESULT[sum]');
    expect(sum && valuesOf(sum)).toEqual(Array(6).fill(3));
  });

  test('is refused with an output that is None, which is named', async () => {
    await using served = await load(['RESULT[none] TYPE_FP32 1', 'RESULT[sum] TYPE_FP32 2 3']);
    expect(served.failures).toMatchObject([{ reason: expect.stringContaining("output 'RESULT[none]' is None") }]);
  });

  test('is completed without what is None', async () => {
    await using served = await serveRepository([{ name: 'm', versions: { 1: 'qa_aoti/hollow.pt2' } }]);
    expect(served.failures).toEqual([]);
    expect(served.engine.modelConfig('m').output.map(({ name }) => name)).toEqual(['RESULT[sum]']);
    expect(served.log).toContain("warn: model 'm': OUTPUT__0 is None and left out");
  });

  test('of a package for a GPU is refused on the CPU, with both sides', async () => {
    await using served = await load(['RESULT[sum] TYPE_FP32 2 3'], 'qa_aoti/for_gpu.pt2');
    expect(served.failures).toMatchObject([{ reason: expect.stringMatching(/cuda.*CPU|CPU.*cuda/) }]);
  });
});
