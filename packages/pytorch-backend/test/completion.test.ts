import { basename, dirname } from 'node:path';
import {
  createModelConfig,
  type Init,
  type ModelConfig,
  type ModelInput,
  type ModelOutput,
} from '@nereid/model-config';
import { describe, expect, it } from 'vitest';
import { completeByFile, PyTorchBackend, PyTorchBackendError } from '../src/index.ts';
import { CollectingLogger } from './collecting-logger.ts';
import { inputsAndOutputs, modelFile, ServedModel } from './served-model.ts';

interface Given {
  readonly file: string;
  /** Absent for a model without a configuration. */
  readonly config?: Init<ModelConfig>;
  /** Fields that it states, beyond what their values show. */
  readonly states?: readonly string[];
  readonly logger?: CollectingLogger;
  readonly defaultMaxBatchSize?: number;
}

function contextOf({ file, config, states = [], logger = new CollectingLogger() }: Given) {
  const path = modelFile(file);
  const named = { name: 'm', backend: 'pytorch', defaultModelFilename: basename(path) };
  return {
    name: 'm',
    version: '1',
    modelDirectory: '/repository/m',
    versionDirectory: dirname(path),
    config: createModelConfig({ ...named, ...config }),
    isConfigured: config !== undefined,
    states: (field: string) => states.includes(field),
    logger,
  };
}

function complete(given: Given): Promise<ModelConfig> {
  const { defaultMaxBatchSize } = given;
  const backend = new PyTorchBackend({ cores: 1, ...(defaultMaxBatchSize !== undefined && { defaultMaxBatchSize }) });
  return backend.complete(contextOf(given));
}

async function refusal(given: Given): Promise<PyTorchBackendError> {
  try {
    await complete(given);
  } catch (thrown) {
    if (thrown instanceof PyTorchBackendError) return thrown;
    throw thrown;
  }
  throw new Error('the configuration was completed');
}

/** `x FP32 -1 3`, and ` as 3` where there is a reshape. */
function told({ name, dataType, dims, reshape }: ModelInput | ModelOutput): string {
  const type = dataType.replace('TYPE_', '').replace('STRING', 'BYTES');
  return [name, type, ...dims, ...(reshape === undefined ? [] : ['as', ...reshape.shape])].join(' ');
}

function summary({ maxBatchSize, input, output, dynamicBatching }: ModelConfig) {
  const batching = dynamicBatching === undefined ? {} : { dynamicBatching: true };
  return { maxBatchSize, input: input.map(told), output: output.map(told), ...batching };
}

const parameters = (key: string, value: string) => new Map([[key, { stringValue: value }]]);
const tensors = (side: readonly string[]) => inputsAndOutputs(side, []).input ?? [];

const ADD = { input: ['INPUT__0 FP32 -1', 'INPUT__1 FP32 -1'], output: ['OUTPUT__0 FP32 -1', 'OUTPUT__1 FP32 -1'] };

describe('a package without a configuration', () => {
  it.each<Given & { rule: string; expected: ReturnType<typeof summary> }>([
    {
      rule: 'has the declared bound as its largest batch, and is batched',
      file: 'backend_aoti/add.pt2',
      expected: { maxBatchSize: 8, ...ADD, dynamicBatching: true },
    },
    {
      rule: 'has fixed sizes where it was exported with them',
      file: 'backend_aoti/static.pt2',
      expected: {
        maxBatchSize: 0,
        input: ['INPUT__0 FP32 2 4', 'INPUT__1 FP32 2 4'],
        output: ['OUTPUT__0 FP32 2 4', 'OUTPUT__1 FP32 2 4'],
      },
    },
    {
      rule: 'has no batch when one result does not follow it',
      file: 'backend_aoti/mean.pt2',
      expected: { maxBatchSize: 0, input: ['INPUT__0 FP32 -1 4'], output: ['OUTPUT__0 FP32 1 4'] },
    },
    {
      rule: 'is named by place when it is nested',
      file: 'archive_nested/model.pt2',
      expected: {
        maxBatchSize: 0,
        input: [
          'ARGS[0] FP32 -1 4',
          'ARGS[1] FP32 -1 5',
          'ARGS[2][keyA] FP32 -1 3',
          'ARGS[2][key2] FP32 -1 3',
          'KWARGS[kwarg1] INT64 -1 2',
          'KWARGS[kw_arg2] FP32 7',
        ],
        output: [
          'RESULT[AAA] FP32 -1 3',
          'RESULT[ZZZ] FP32 -1 5',
          'RESULT[BBB][0] FP32 -1 3',
          'RESULT[BBB][1] FP32 -1 3',
          'RESULT[CCC][keyA] FP32 -1 2',
          'RESULT[CCC][key2] FP32 -1 4',
          'RESULT[DDD][KA] FP32 -1',
          'RESULT[DDD][KB] FP32 7',
        ],
      },
    },
    {
      rule: 'learns from a run what operators of torch make, and batches four where no bound is stated',
      file: 'completion_aoti/model.pt2',
      expected: {
        maxBatchSize: 4,
        input: ['INPUT__0 FP32 5', 'INPUT__1 FP64 -1'],
        output: ['OUTPUT__0 FP32 2', 'OUTPUT__1 INT64 2', 'OUTPUT__2 FP64 -1'],
        dynamicBatching: true,
      },
    },
  ])('$rule', async ({ expected, ...given }) => {
    expect(summary(await complete(given))).toEqual(expected);
  });

  it('leaves out a result without dimensions, which no configuration can state, and says so', async () => {
    const logger = new CollectingLogger();
    const config = { parameters: parameters('AOTI_MODEL_NAME', 'layouts') };
    const { output } = await complete({ file: 'archive_several/model.pt2', config, logger });
    expect(output.map(({ name }) => name)).toEqual(['RESULT[0]', 'RESULT[1]', 'RESULT[2]', 'RESULT[4][0]']);
    expect(logger.lines).toContainEqual(expect.stringMatching(/^warn: .*OUTPUT__3 is a number without dimensions/));
  });

  it('says what was added', async () => {
    const logger = new CollectingLogger();
    await complete({ file: 'native_aoti/mlp.pt2', logger });
    expect(logger.lines).toEqual([
      expect.stringMatching(/mlp\.pt2': max_batch_size 64, input 'INPUT__0', output 'OUTPUT__0', dynamic_batching$/),
    ]);
  });
});

describe('what is configured stays', () => {
  it.each<Given & { rule: string; expected: Partial<ReturnType<typeof summary>> }>([
    {
      rule: 'the largest batch',
      file: 'backend_aoti/add.pt2',
      config: { maxBatchSize: 3 },
      expected: { maxBatchSize: 3, ...ADD },
    },
    {
      rule: 'that there is no batch',
      file: 'backend_aoti/add.pt2',
      config: {},
      states: ['max_batch_size'],
      expected: { maxBatchSize: 0, input: ['INPUT__0 FP32 -1 -1', 'INPUT__1 FP32 -1 -1'] },
    },
    {
      rule: 'dims of whole shapes, which leave no room for a batch',
      file: 'backend_aoti/add.pt2',
      config: { input: tensors(['INPUT__0 FP32 4 8']) },
      expected: { maxBatchSize: 0, input: ['INPUT__0 FP32 4 8', 'INPUT__1 FP32 -1 -1'] },
    },
    {
      rule: 'dims without the batch, which ask for one',
      file: 'backend_aoti/add.pt2',
      config: { input: tensors(['INPUT__0 FP32 8']) },
      expected: { maxBatchSize: 8, input: ['INPUT__0 FP32 8', 'INPUT__1 FP32 -1'], dynamicBatching: true },
    },
    {
      rule: 'a scheduler',
      file: 'native_aoti/mlp.pt2',
      config: { dynamicBatching: { maxQueueDelayMicroseconds: 5n } },
      expected: { maxBatchSize: 64, dynamicBatching: true },
    },
    {
      rule: 'names by place, which the added ones follow',
      file: 'backend_aoti/add.pt2',
      config: { input: [{ name: 'ARGS[1]' }], output: [{ name: 'RESULT[1]' }] },
      expected: { input: ['ARGS[1] FP32 -1', 'ARGS[0] FP32 -1'], output: ['RESULT[1] FP32 -1'] },
    },
    {
      rule: 'names by number, which the added ones follow',
      file: 'archive_nested/model.pt2',
      config: { input: [{ name: 'INPUT__5' }], output: [{ name: 'OUTPUT__7' }] },
      expected: {
        input: [
          'INPUT__5 FP32 7',
          'INPUT__0 FP32 -1 4',
          'INPUT__1 FP32 -1 5',
          'INPUT__2 FP32 -1 3',
          'INPUT__3 FP32 -1 3',
          'INPUT__4 INT64 -1 2',
        ],
        output: ['OUTPUT__7 FP32 7'],
      },
    },
    {
      rule: 'a choice of outputs',
      file: 'completion_aoti/model.pt2',
      config: { output: [{ name: 'OUTPUT__1' }] },
      expected: { output: ['OUTPUT__1 INT64 2'] },
    },
    {
      rule: 'a datatype that is wrong, for the load to refuse',
      file: 'backend_aoti/add.pt2',
      config: { input: [{ name: 'INPUT__0', dataType: 'TYPE_INT8' }] },
      expected: { input: ['INPUT__0 INT8 -1', 'INPUT__1 FP32 -1'] },
    },
    {
      rule: 'a name that is wrong, for the load to refuse with the names there are',
      file: 'backend_aoti/add.pt2',
      config: { input: tensors(['x FP32 4', 'y FP32 4']) },
      expected: { input: ['x FP32 4', 'y FP32 4'] },
    },
    {
      rule: 'a tensor that is named as a control',
      file: 'backend_aoti/add.pt2',
      config: {
        sequenceBatching: { controlInput: [{ name: 'START__1', control: [{ kind: 'CONTROL_SEQUENCE_START' }] }] },
      },
      expected: { input: ['INPUT__0 FP32 -1'] },
    },
  ])('$rule', async ({ expected, rule: _, ...given }) => {
    expect(summary(await complete(given))).toMatchObject(expected);
  });

  it.each<Given>([
    { file: 'backend_aoti/add.pt2', config: { maxBatchSize: 8, ...inputsAndOutputs(ADD.input, ADD.output) } },
    {
      file: 'backend_torchscript/addsub.pt',
      config: inputsAndOutputs(['INPUT0 FP32 4', 'INPUT1 FP32 4'], ['OUTPUT__0 FP32 4']),
    },
    { file: 'backend_torchscript/addsub.pt', config: { runtime: 'model.py' } },
  ])('whole, so that nothing is added: $file', async ({ file, config }) => {
    const context = contextOf({ file, config: config ?? {} });
    expect(await new PyTorchBackend().complete(context)).toBe(context.config);
  });
});

describe('a module', () => {
  it.each<Given & { rule: string; expected: Partial<ReturnType<typeof summary>> }>([
    {
      rule: 'needs no configuration when it has strings only',
      file: 'native_torchscript/strings.pt',
      expected: { maxBatchSize: 0, input: ['x BYTES -1'], output: ['OUTPUT__0 BYTES -1'] },
    },
    {
      rule: 'has one string for each row of a batch',
      file: 'native_torchscript/strings.pt',
      config: { maxBatchSize: 4 },
      expected: { maxBatchSize: 4, input: ['x BYTES 1 as'], output: ['OUTPUT__0 BYTES 1 as'] },
    },
    {
      rule: 'tells its outputs from a run once its inputs are stated',
      file: 'backend_torchscript/addsub.pt',
      config: { input: tensors(['INPUT0 INT32 -1 3', 'INPUT1 INT32 -1 3']) },
      expected: { maxBatchSize: 0, output: ['OUTPUT__0 INT32 -1 3', 'OUTPUT__1 INT32 -1 3'] },
    },
    {
      rule: 'leaves the batch out of them',
      file: 'backend_torchscript/addsub.pt',
      config: { maxBatchSize: 8, input: tensors(['INPUT__0 FP32 3', 'INPUT__1 FP32 3']) },
      expected: { maxBatchSize: 8, output: ['OUTPUT__0 FP32 3', 'OUTPUT__1 FP32 3'] },
    },
    {
      rule: 'with strings among them',
      file: 'backend_torchscript/lengths.pt',
      config: { input: tensors(['words BYTES -1', 'factor FP32 1']) },
      expected: { output: ['OUTPUT__0 FP32 -1 1', 'OUTPUT__1 BYTES -1'] },
    },
    {
      rule: 'by the keys of a dictionary that the configuration names',
      file: 'native_torchscript/keyed.pt',
      config: { input: tensors(['a FP32 -1', 'b FP32 -1']), output: [{ name: 'difference' }, { name: 'sum' }] },
      expected: { output: ['difference FP32 -1', 'sum FP32 -1'] },
    },
    {
      rule: 'in the order of the configuration where names say nothing',
      file: 'backend_torchscript/addsub.pt',
      config: { input: tensors(['p FP32 2', 'q FP32 2']), output: [{ name: 'first' }, { name: 'second' }] },
      expected: { input: ['p FP32 2', 'q FP32 2'], output: ['first FP32 2', 'second FP32 2'] },
    },
  ])('$rule', async ({ expected, rule: _, ...given }) => {
    expect(summary(await complete(given))).toMatchObject(expected);
  });
});

describe('a module that does not tell enough is refused with the lines that are missing', () => {
  it.each<Given & { rule: string; code?: string; lines: readonly string[]; says?: readonly string[] }>([
    {
      rule: 'without a configuration',
      file: 'backend_torchscript/addsub.pt',
      code: 'NOT_FOUND',
      says: ["model configuration is not provided for model 'm'", 'Add to its config.pbtxt'],
      lines: [
        'input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]',
        'input [ { name: "INPUT1" data_type: TYPE_FP32 dims: [ -1 ] } ]',
      ],
    },
    {
      rule: 'without inputs',
      file: 'backend_torchscript/addsub.pt',
      config: { output: tensors(['OUTPUT__0 FP32 4']) },
      says: ["unable to load model 'm', configuration expects 0 inputs, model provides 2"],
      lines: [
        'input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]',
        'input [ { name: "INPUT1" data_type: TYPE_FP32 dims: [ -1 ] } ]',
      ],
    },
    {
      rule: 'with strings beside tensors',
      file: 'native_torchscript/mixed.pt',
      code: 'NOT_FOUND',
      lines: ['input [ { name: "x" data_type: TYPE_FP32 dims: [ -1 ] } ]'],
    },
    {
      rule: 'with an input that lacks its dims',
      file: 'native_torchscript/defaults.pt',
      config: { input: [{ name: 'x', dataType: 'TYPE_FP64' }] },
      lines: ['input [ { name: "x" data_type: TYPE_FP64 dims: [ -1 ] } ]'],
    },
    {
      rule: 'of dictionaries, whose keys only its code knows',
      file: 'native_torchscript/keyed.pt',
      code: 'NOT_FOUND',
      lines: ['input [ { name: "KEY" data_type: TYPE_FP32 dims: [ -1 ] } ]', 'output [ { name: "KEY" } ]'],
    },
    {
      rule: 'that does not run on zeros',
      file: 'native_torchscript/keyed.pt',
      config: { input: tensors(['a FP32 4']), output: [{ name: 'sum' }] },
      says: ['a run with zeros did not tell them', 'KeyError: b'],
      lines: ['output [ { name: "sum" data_type: TYPE_FP32 dims: [ -1 ] } ]'],
    },
    {
      rule: 'with an argument that no tensor fits',
      file: 'backend_torchscript/tensor_and_number.pt',
      code: 'NOT_FOUND',
      says: ["argument 'n' is int, which no tensor fits"],
      lines: ['input [ { name: "x" data_type: TYPE_FP32 dims: [ -1 ] } ]'],
    },
  ])('$rule', async ({ code = 'INVALID_ARG', lines, says = [], rule: _, ...given }) => {
    const error = await refusal(given);
    expect(error.code).toBe(code);
    expect(error.message.split('\n').slice(1)).toEqual(lines);
    for (const fragment of says) expect(error.message).toContain(fragment);
  });

  it('and is completed once they are there', async () => {
    const { message } = await refusal({ file: 'backend_torchscript/addsub.pt' });
    const stated = [...message.matchAll(/name: "(\w+)" data_type: TYPE_(\w+) dims: \[ (\S+) \]/g)];
    const input = tensors(stated.map(([, name, type, dims]) => `${name} ${type} ${dims}`));
    const config = await complete({ file: 'backend_torchscript/addsub.pt', config: { input } });
    expect(summary(config).output).toEqual(['OUTPUT__0 FP32 -1', 'OUTPUT__1 FP32 -1']);
  });
});

it('has the given largest batch where a file states no bound', async () => {
  const config = await complete({ file: 'completion_aoti/model.pt2', defaultMaxBatchSize: 3 });
  expect(config.maxBatchSize).toBe(3);
});

it.each(['backend_aoti/add.pt2', 'completion_aoti/model.pt2', 'archive_nested/model.pt2', 'native_aoti/dtypes.pt2'])(
  'what is completed loads: %s',
  async (file) => {
    const config = await complete({ file });
    await using model = await ServedModel.load({ file, config });
    expect(model.instances).toHaveLength(1);
  },
);

describe('without a run', () => {
  const byFile = (given: Given) => completeByFile({ modelName: 'm', ...contextOf(given) });

  it('a package that states everything is complete', async () => {
    const { config, needsRun } = await byFile({ file: 'backend_aoti/add.pt2' });
    expect({ ...summary(config), needsRun }).toEqual({
      maxBatchSize: 8,
      ...ADD,
      dynamicBatching: true,
      needsRun: false,
    });
  });

  it('one that does not is left to a run', async () => {
    const { config, needsRun } = await byFile({ file: 'completion_aoti/model.pt2' });
    expect(needsRun).toBe(true);
    expect(summary(config).input).toEqual(['INPUT__0 FP32 5', 'INPUT__1 FP64 -1']);
  });

  it('a module whose inputs are unknown is refused as it would be with one', async () => {
    const given = { file: 'backend_torchscript/addsub.pt' };
    const { message } = await refusal(given);
    await expect(byFile(given)).rejects.toThrow(message);
  });
});
