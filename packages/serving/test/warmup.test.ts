import { decodeBytes, elements, type InferenceRequest } from '@nereid/core';
import { addSub, FakeBackend, identity, ManualClock } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { ADD_SUB, ask, loaded, serve, type Tree } from './fixture.ts';

const input = (name: string, data: string, type = 'TYPE_FP32'): string =>
  `inputs { key: "${name}" value { data_type: ${type} dims: [ 3 ] ${data} } } `;
const sample = (rest: string): string => `model_warmup { name: "w" ${rest} }\n`;
const ZEROS = input('a', 'zero_data: true') + input('b', 'zero_data: true');
const model = (warmup: string, files: Tree = {}): Tree => ({
  'good/config.pbtxt': ADD_SUB + warmup,
  'good/1/model.fake': '',
  ...files,
});

/** The requests that warmup ran, batch by batch. */
async function warmed(
  tree: Tree,
  backend = new FakeBackend({ compute: addSub() }),
): Promise<readonly (readonly InferenceRequest[])[]> {
  await using served = await loaded(tree, { backend });
  expect(served.log.at('error')).toEqual([]);
  expect(served.engine.statistics('good')).toMatchObject([
    { executionCount: 0, inferenceCount: 0, success: { count: 0 } },
  ]);
  return served.backend.batches.map((batch) => batch.requests);
}

describe('warmup', () => {
  it('runs each sample on every instance, as requests of one row, as often as its count says, uncounted', async () => {
    const batches = await warmed(model(`${sample(`batch_size: 2 count: 3 ${ZEROS}`)}instance_group { count: 2 }\n`));
    expect(batches.map((requests) => requests.length)).toEqual([2, 2, 2, 2, 2, 2]);
    expect(batches[0]?.map((request) => [request.batchSize, request.inputs[0]?.shape])).toEqual([
      [1, [1, 3]],
      [1, [1, 3]],
    ]);
  });

  it('logs how long the first and the last run of each sample took, on each instance', async () => {
    const clock = new ManualClock();
    let runs = 0;
    // The first run on each instance is the slow one.
    const serviceMicros = (batch: readonly InferenceRequest[]): number =>
      (runs++ % 4 === 0 ? 9000 : 1500) * batch.length;
    const backend = new FakeBackend({ compute: addSub(), clock, serviceMicros });
    const samples = sample(`batch_size: 1 count: 3 ${ZEROS}`) + sample(`batch_size: 2 ${ZEROS}`).replace('"w"', '"v"');
    const served = serve(model(`${samples}instance_group { count: 2 }\n`), { backend, clock });
    let isLoaded = false;
    void served.engine.load().then(() => {
      isLoaded = true;
    });
    while (!isLoaded) await clock.elapse(clock.pending > 0 ? 1500 : 0);
    const lines = served.log.at('info').filter((line) => line.startsWith('warmup'));
    expect(lines).toEqual(
      ['good_0_0', 'good_0_1'].flatMap((instance) => [
        `warmup of 'good' version 1 on instance '${instance}': sample 'w' with batch size 1: first run 9.000 ms, run 3 1.500 ms`,
        `warmup of 'good' version 1 on instance '${instance}': sample 'v' with batch size 2: first run 3.000 ms`,
      ]),
    );
    expect(served.log.fields).toContainEqual({
      model: 'good',
      version: '1',
      instance: 'good_0_0',
      sample: 'w',
      batchSize: 1,
      runs: 3,
      firstRunMs: 9,
      lastRunMs: 1.5,
    });
    await served[Symbol.asyncDispose]();
  });

  it('leaves out a sample of batch size 0, and passive instances', async () => {
    const passive = 'instance_group [ { count: 1 }, { count: 1 passive: true } ]\n';
    expect(await warmed(model(sample(`batch_size: 0 ${ZEROS}`)))).toEqual([]);
    expect(await warmed(model(sample(`batch_size: 1 ${ZEROS}`) + passive))).toHaveLength(1);
  });

  it('makes zeros, and random floats from 0 to 1', async () => {
    const [zero, random] = await warmed(
      model(
        sample(`batch_size: 1 ${ZEROS}`) +
          sample(`batch_size: 1 ${input('a', 'random_data: true')}${input('b', 'zero_data: true')}`),
      ),
    );
    expect(zero?.[0]?.inputs.map((tensor) => [...tensor.data])).toEqual([Array(12).fill(0), Array(12).fill(0)]);
    const a = random?.[0]?.inputs[0];
    const values = a?.datatype === 'FP32' ? [...elements({ ...a, datatype: 'FP32' })] : [];
    expect(values).toHaveLength(3);
    for (const value of values) expect(value >= 0 && value < 1).toBe(true);
  });

  it('reads files of the warmup directory, more than needed being ignored, strings whole', async () => {
    const config = (type: string): Tree => ({
      'good/config.pbtxt': `backend: "fake"\ninput { name: "x" data_type: ${type} dims: [ 3 ] }\noutput { name: "x" data_type: ${type} dims: [ 3 ] }\n${sample(`batch_size: 1 ${input('x', 'input_data_file: "data"', type)}`)}`,
      'good/1/model.fake': '',
    });
    const backend = () => new FakeBackend({ compute: identity() });
    const [bytes] = await warmed({ ...config('TYPE_UINT8'), 'good/warmup/data': 'abcdef' }, backend());
    expect(String.fromCharCode(...(bytes?.[0]?.inputs[0]?.data ?? []))).toBe('abc');
    const encoded = '\x01\0\0\0a\0\0\0\0\x02\0\0\0bc';
    const [strings] = await warmed({ ...config('TYPE_STRING'), 'good/warmup/data': encoded }, backend());
    const words = decodeBytes(strings?.[0]?.inputs[0]?.data ?? new Uint8Array());
    expect(words.map((word) => Buffer.from(word).toString())).toEqual(['a', '', 'bc']);
  });

  it.each([
    [
      'a missing file',
      `batch_size: 1 ${input('a', 'input_data_file: "gone"')}`,
      { 'good/warmup': null },
      'it does not exist',
    ],
    [
      'a short file',
      `batch_size: 1 ${input('a', 'input_data_file: "s"')}`,
      { 'good/warmup/s': 'abc' },
      "has 3 bytes; input 'a' needs 12",
    ],
    [
      'a link to the outside',
      `batch_size: 1 ${input('a', 'input_data_file: "l"')}`,
      { 'good/warmup/l': { link: '../config.pbtxt' } },
      'escapes the directory',
    ],
    ['a batch above the limit', `batch_size: 5 ${ZEROS}`, {}, 'its batch_size is 5; the model takes 4 at most'],
    [
      'a tensor above the limit',
      `batch_size: 1 ${ZEROS.replace('[ 3 ]', '[ 1000000000 ]')}`,
      {},
      'has 4000000000 bytes; at most 67108864 are made',
    ],
    [
      'an unknown input',
      `batch_size: 1 ${ZEROS}${input('q', 'zero_data: true')}`,
      {},
      'expected 2 inputs but got 3 inputs',
    ],
  ] satisfies [string, string, Tree, string][])('with %s fails the version', async (_, rest, files, reason) => {
    await using served = await loaded(model(sample(rest), files));
    expect(served.engine.index()).toEqual([
      { name: 'good', version: '1', state: 'UNAVAILABLE', reason: expect.stringContaining(reason) },
    ]);
    expect([served.backend.loadedModels, served.backend.instanceCount]).toEqual([[], 0]);
  });

  it('that the model answers with an error fails the version with every error of the sample', async () => {
    const compute = (): never => {
      throw new Error('exploded');
    };
    await using served = await loaded(model(sample(`batch_size: 2 ${ZEROS}`)), {
      backend: new FakeBackend({ compute }),
    });
    expect(served.engine.index()).toMatchObject([{ reason: "failed to run warmup sample 'w': exploded; exploded" }]);
    expect((await ask(served.engine)).error?.code).toBe('NOT_FOUND');
  });
});
