/** TorchScript models as a repository holds them: what the suites of the original ask of its backend, on the CPU. */
import { type Datatype, datatypeToConfig } from '@nereid/core';
import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, test } from 'vitest';
import { configText } from '../src/config-text.ts';
import { type RealRepository, serveRepository } from '../src/real-engine.ts';

const ADD_SUB = 'backend_torchscript/addsub.pt';
const SIXTEEN = Array.from({ length: 16 }, (_, i) => i);

/** 0…15 and −1 everywhere, under the names of the arguments. */
function pair(datatype: Datatype = 'FP32', shape: readonly number[] = [1, 16]) {
  return [
    tensor({ name: 'INPUT0', datatype, shape, values: SIXTEEN }),
    tensor({ name: 'INPUT1', datatype, shape, values: SIXTEEN.map(() => -1) }),
  ];
}

const valuesIn = (outputs: RealOutputs, name: string) => {
  const output = outputs.get(name);
  return output && valuesOf(output).map(Number);
};
type RealOutputs = Awaited<ReturnType<RealRepository['infer']>>;

describe('a setting is logged once for each loaded version, and results are right either way', () => {
  test.each([
    ['DISABLE_CUDNN', 'true', 'cuDNN is disabled'],
    ['DISABLE_CUDNN', 'false', 'cuDNN is enabled'],
    ['INFERENCE_MODE', 'true', 'Inference Mode is enabled'],
    ['INFERENCE_MODE', 'false', 'Inference Mode is disabled'],
    ['DISABLE_OPTIMIZED_EXECUTION', 'true', 'Optimized execution is disabled'],
    ['DISABLE_OPTIMIZED_EXECUTION', 'false', 'Optimized execution is enabled'],
  ])('%s %s: %s', async (key, value, line) => {
    const config = configText({
      maxBatchSize: 8,
      input: ['INPUT0 TYPE_INT32 16', 'INPUT1 TYPE_INT32 16'],
      output: ['OUTPUT__0 TYPE_INT32 16', 'OUTPUT__1 TYPE_INT32 16'],
      parameters: { [key]: value },
      more: 'version_policy { all { } }',
    });
    const versions = { 1: ADD_SUB, 2: ADD_SUB, 3: ADD_SUB };
    await using served = await serveRepository([{ name: 'm', config, versions }]);
    expect(served.failures).toEqual([]);
    for (const modelVersion of Object.keys(versions)) {
      const request = served.send({ modelName: 'm', modelVersion, inputs: pair('INT32') });
      const { outputs } = await served.responder.responseOf(request);
      expect(outputs.map(valuesOf)).toEqual([SIXTEEN.map((value) => value + 1), SIXTEEN.map((value) => value - 1)]);
    }
    expect(served.log.filter((entry) => entry.includes(line))).toEqual(
      Array(3).fill(`info: ${line} for model instance 'm'`),
    );
  });
});

describe('sixteen instances answer 128 requests at once', () => {
  test.each([
    ['with weights of their own', {}, 0],
    ['with shared weights, of which fifteen are taken again', { ENABLE_WEIGHT_SHARING: 'true' }, 15],
  ])('%s', async (_, parameters, reused) => {
    const config = configText({
      input: ['x TYPE_FP32 8'],
      output: ['OUTPUT__0 TYPE_FP32 8'],
      parameters,
      more: 'instance_group { count: 16 kind: KIND_CPU }',
    });
    await using served = await serveRepository([{ name: 'm', config, versions: { 1: 'identity/model.pt' } }]);
    const eight = (i: number) => Array.from({ length: 8 }, (__, k) => i * 8 + k);
    const answers = await Promise.all(
      Array.from({ length: 128 }, (__, i) => served.infer('m', tensor({ name: 'x', values: eight(i) }))),
    );
    expect(answers.map((outputs) => valuesIn(outputs, 'OUTPUT__0'))).toEqual(
      Array.from({ length: 128 }, (__, i) => eight(i)),
    );
    expect(served.log.filter((line) => line.includes('Reusing TorchScript model for instance'))).toHaveLength(reused);
  });
});

describe('versions', () => {
  /** Sum first in version 1, difference first in version 2, as `swapped` outputs. */
  const versions = { 1: 'addsub/model.pt', 2: ADD_SUB, 3: 'addsub/model.pt' };
  const config = (type: string, maxBatchSize: number, policy: string) =>
    configText({
      maxBatchSize,
      input: [`INPUT__0 ${type} 4`, `INPUT__1 ${type} 4`],
      output: [`OUTPUT__0 ${type} 4`, `OUTPUT__1 ${type} 4`],
      more: `version_policy { ${policy} }`,
    });
  const TYPES: readonly Datatype[] = ['INT8', 'INT16', 'INT32', 'INT64', 'FP32', 'FP64', 'UINT8'];

  test.each([
    ['latest { num_versions: 1 }', ['3']],
    ['latest { num_versions: 2 }', ['2', '3']],
    ['specific { versions: [ 1, 3 ] }', ['1', '3']],
    ['all { }', ['1', '2', '3']],
  ])('under %s compute each with its own file, in every datatype, batched or not', async (policy, expected) => {
    const kinds = TYPES.flatMap((datatype) => [0, 8].map((maxBatchSize) => ({ datatype, maxBatchSize })));
    const name = ({ datatype, maxBatchSize }: (typeof kinds)[number]) => `${datatype}_${maxBatchSize}`;
    await using served = await serveRepository(
      kinds.map((kind) => {
        const text = config(datatypeToConfig(kind.datatype), kind.maxBatchSize, policy);
        return { name: name(kind), config: text, versions };
      }),
    );
    expect(served.failures).toEqual([]);
    for (const kind of kinds) {
      const shape = kind.maxBatchSize > 0 ? [1, 4] : [4];
      const init = { datatype: kind.datatype, shape };
      const inputs = [
        tensor({ name: 'INPUT__0', values: [5, 6, 7, 8], ...init }),
        tensor({ name: 'INPUT__1', values: [1, 2, 3, 4], ...init }),
      ];
      for (const modelVersion of expected) {
        const request = served.send({ modelName: name(kind), modelVersion, inputs });
        const results = (await served.responder.responseOf(request)).outputs.map((output) =>
          valuesOf(output).map(Number),
        );
        const [sum, difference] = [
          [6, 8, 10, 12],
          [4, 4, 4, 4],
        ];
        expect(results).toEqual(modelVersion === '2' ? [difference, sum] : [sum, difference]);
      }
      expect(served.engine.modelMetadata(name(kind)).versions).toEqual(expected);
    }
  });

  test('without their file are reported, and the others serve', async () => {
    await using served = await serveRepository([
      { name: 'm', config: config('TYPE_FP32', 0, 'all { }'), versions: { ...versions, 2: null } },
    ]);
    expect(served.failures).toMatchObject([{ version: '2', reason: expect.stringContaining('unable to find') }]);
    expect(served.engine.modelMetadata('m').versions).toEqual(['1', '3']);
  });
});

describe('shapes', () => {
  const word = '{ name: "words" data_type: TYPE_STRING dims: [ 1 ] reshape { shape: [ ] } }';
  const result = word.replace('words', 'OUTPUT__0');
  const numbers = (maxBatchSize: number) =>
    configText({ maxBatchSize, input: ['x TYPE_FP32 -1 4'], output: ['OUTPUT__0 TYPE_FP32 -1 4'] });

  test.each([
    ['numbers, not batched', numbers(0), 'identity/model.pt', { name: 'x', shape: [0, 4] }],
    // Without rows no model runs, so that a variable dimension is not known.
    ['numbers, batched, no rows', numbers(8), 'identity/model.pt', { name: 'x', shape: [0, 0, 4] }],
    ['numbers, batched, a dimension of 0', numbers(8), 'identity/model.pt', { name: 'x', shape: [2, 0, 4] }],
    [
      'strings, not batched',
      configText({ input: ['words TYPE_STRING -1'], output: ['OUTPUT__0 TYPE_STRING -1'] }),
      'golden_repository/id_bytes/1/model.pt',
      { name: 'words', shape: [0], datatype: 'BYTES' },
    ],
    [
      'strings, batched',
      configText({ maxBatchSize: 8, input: [word], output: [result] }),
      'golden_repository/id_bytes/1/model.pt',
      { name: 'words', shape: [0, 1], datatype: 'BYTES' },
    ],
  ] as const)('without elements come back as they were: %s', async (_, config, file, init) => {
    await using served = await serveRepository([{ name: 'm', config, versions: { 1: file } }]);
    const output = (await served.infer('m', tensor({ values: [], ...init }))).get('OUTPUT__0');
    expect(output).toMatchObject({ shape: init.shape });
    expect(output?.data.byteLength).toBe(0);
  });

  test.each([
    [[1], []],
    [[2, 1], [2]],
    [[4, 4], [16]],
    [[8], [2, 1, 4]],
    [
      [4, 2],
      [2, 2, 2],
    ],
  ])('are for clients %j and for the model %j, batched or not', async (dims, reshape) => {
    const count = dims.reduce((product, dim) => product * dim, 1);
    const spec = (name: string) =>
      `{ name: "${name}" data_type: TYPE_FP32 dims: [ ${dims.join(', ')} ] reshape { shape: [ ${reshape.join(', ')} ] } }`;
    // Result 0 of the module is the shape that it sees behind the first dimension, result 1 its input.
    const seen = reshape.length > 0 ? [`OUTPUT__0 TYPE_INT64 ${reshape.length}`] : [];
    const tree = (maxBatchSize: number, outputs: readonly string[]) => ({
      name: maxBatchSize > 0 ? 'batched' : 'single',
      config: configText({ maxBatchSize, input: [spec('x')], output: [spec('OUTPUT__1'), ...outputs] }),
      versions: { 1: 'backend_torchscript/shape.pt' },
    });
    const trees = reshape.length > 0 ? [tree(8, seen), tree(0, [])] : [tree(8, seen)];
    await using served = await serveRepository(trees);
    expect(served.failures).toEqual([]);
    for (const { name } of trees) {
      const rows = name === 'batched' ? [3] : [];
      const values = Array.from({ length: (rows[0] ?? 1) * count }, (_, i) => i);
      const outputs = await served.infer(name, tensor({ name: 'x', shape: [...rows, ...dims], values }));
      expect(outputs.get('OUTPUT__1')).toMatchObject({ shape: [...rows, ...dims] });
      expect(valuesIn(outputs, 'OUTPUT__1')).toEqual(values);
      if (outputs.has('OUTPUT__0')) expect(valuesIn(outputs, 'OUTPUT__0')).toEqual([reshape, reshape, reshape].flat());
    }
  });
});

test('linear algebra kernels of torch run', async () => {
  const config = configText({
    input: ['matrix TYPE_FP64 -1 -1'],
    output: ['OUTPUT__0 TYPE_FP64 -1 -1', 'OUTPUT__1 TYPE_FP64 -1'],
  });
  await using served = await serveRepository([{ name: 'm', config, versions: { 1: 'qa_torchscript/linalg.pt' } }]);
  const values = [2, 0, 0, 4];
  const outputs = await served.infer('m', tensor({ name: 'matrix', datatype: 'FP64', shape: [2, 2], values }));
  expect(valuesIn(outputs, 'OUTPUT__0')).toEqual([0.5, 0, 0, 0.25]);
  expect(valuesIn(outputs, 'OUTPUT__1')).toEqual([4, 2]);
});

test('an output of another datatype than the model returns is refused with both', async () => {
  const config = configText({
    maxBatchSize: 8,
    input: ['INPUT0 TYPE_INT32 16', 'INPUT1 TYPE_INT32 16'],
    output: ['OUTPUT__0 TYPE_UINT64 16', 'OUTPUT__1 TYPE_INT8 16'],
  });
  await using served = await serveRepository([{ name: 'm', config, versions: { 1: 'qa_torchscript/narrow.pt' } }]);
  const { error } = await served.responder.finalOf(served.send({ modelName: 'm', inputs: pair('INT32') }));
  expect(error).toMatchObject({
    code: 'INVALID_ARG',
    message: "configuration expects datatype TYPE_UINT64 for output 'OUTPUT__0', model provides TYPE_INT8",
  });
});

test('a list of strings that is shorter than the batch fails the batch, and the next one runs', async () => {
  const word = (name: string) => `{ name: "${name}" data_type: TYPE_STRING dims: [ 1 ] reshape { shape: [ ] } }`;
  const config = configText({ maxBatchSize: 4, input: [word('words')], output: [word('OUTPUT__0')] });
  await using served = await serveRepository([{ name: 'm', config, versions: { 1: 'qa_torchscript/first_word.pt' } }]);
  const words = (...values: readonly string[]) =>
    tensor({ name: 'words', datatype: 'BYTES', shape: [values.length, 1], values });
  const { error } = await served.responder.finalOf(served.send({ modelName: 'm', inputs: [words('a', 'b')] }));
  expect(error?.message).toContain("failed to split the output tensor 'OUTPUT__0' in responses");
  const one = (await served.infer('m', words('c'))).get('OUTPUT__0');
  expect(one && valuesOf(one)).toEqual(['c']);
});

describe('warmup', () => {
  const config = (datatype: string) =>
    configText({
      maxBatchSize: 8,
      input: ['INPUT0 TYPE_FP32 16', 'INPUT1 TYPE_FP32 16'],
      output: ['OUTPUT__0 TYPE_FP32 16', 'OUTPUT__1 TYPE_FP32 16'],
      more: `instance_group { count: 2 kind: KIND_CPU }
model_warmup {
  name: "four" batch_size: 4 count: 2
  inputs { key: "INPUT0" value { data_type: ${datatype} dims: [ 16 ] zero_data: true } }
  inputs { key: "INPUT1" value { data_type: TYPE_FP32 dims: [ 16 ] random_data: true } }
}`,
    });

  test('runs a module on every instance before it is ready, and says so', async () => {
    await using served = await serveRepository([{ name: 'm', config: config('TYPE_FP32'), versions: { 1: ADD_SUB } }]);
    expect(served.failures).toEqual([]);
    const lines = served.log.filter((line) => line.includes("sample 'four' with batch size 4"));
    expect(lines.map((line) => /instance '([^']+)'/.exec(line)?.[1])).toEqual(['m_0_0', 'm_0_1']);
    expect(served.engine.statistics('m')[0]).toMatchObject({ executionCount: 0 });
  });

  test('that does not fit fails the load with its sample', async () => {
    await using served = await serveRepository([{ name: 'm', config: config('TYPE_INT32'), versions: { 1: ADD_SUB } }]);
    expect(served.failures).toMatchObject([{ reason: expect.stringMatching(/'four'.*INPUT0/) }]);
  });
});

test.each([
  [
    'too_few_inputs',
    { input: [], output: ['OUTPUT__0 TYPE_FP32 16'] },
    "unable to load model 'too_few_inputs', configuration expects 0 inputs, model provides 2",
  ],
  [
    'too_few_outputs',
    { input: ['INPUT0 TYPE_FP32 16', 'INPUT1 TYPE_FP32 16'], output: [] },
    'model configuration must contain at least one output, none were specified',
  ],
])('%s, where nothing is completed, is refused in the known words', async (name, tensors, reason) => {
  const models = [{ name, config: configText(tensors), versions: { 1: ADD_SUB } }];
  await using served = await serveRepository(models, { requireConfig: true });
  expect(served.failures).toMatchObject([{ name, reason: expect.stringContaining(reason) }]);
});

describe('a model without backend and platform', () => {
  test.each([
    ['has those of its file, and the defaults of the rest', '', { kind: 'KIND_CPU', count: 1 }],
    ['keeps the group that it states', 'instance_group { count: 2 kind: KIND_CPU }', { kind: 'KIND_CPU', count: 2 }],
  ])('%s', async (_, more, group) => {
    const config = configText({
      platform: null,
      maxBatchSize: 8,
      input: ['INPUT0 TYPE_FP32 16', 'INPUT1 TYPE_FP32 16'],
      output: ['OUTPUT__0 TYPE_FP32 16', 'OUTPUT__1 TYPE_FP32 16'],
      more,
    });
    await using served = await serveRepository([{ name: 'm', config, versions: { 1: ADD_SUB } }]);
    expect(served.engine.modelConfig('m')).toMatchObject({
      name: 'm',
      platform: 'pytorch_libtorch',
      backend: 'pytorch',
      defaultModelFilename: '',
      instanceGroup: [group],
      optimization: { inputPinnedMemory: { enable: true }, outputPinnedMemory: { enable: true } },
    });
    expect(valuesIn(await served.infer('m', ...pair()), 'OUTPUT__1')?.[15]).toBe(14);
  });
});
