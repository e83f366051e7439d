import { basename, dirname } from 'node:path';
import { createModelConfig } from '@nereid/model-config';
import { describe, expect, it } from 'vitest';
import { checkModelFile, type ModelFileCheck, PyTorchBackendError } from '../src/index.ts';
import { inputsAndOutputs, modelFile, ServedModel, type ServeOptions } from './served-model.ts';

function check({ file, config }: ServeOptions): Promise<ModelFileCheck> {
  const path = modelFile(file);
  const named = { name: 'm', backend: 'pytorch', defaultModelFilename: basename(path) };
  return checkModelFile({
    modelName: 'm',
    versionDirectory: dirname(path),
    config: createModelConfig({ ...named, ...config }),
  });
}

async function loadError(options: ServeOptions): Promise<string> {
  try {
    await (await ServedModel.load(options)).close();
  } catch (thrown) {
    if (thrown instanceof PyTorchBackendError) return thrown.message;
    throw thrown;
  }
  throw new Error('the model loaded');
}

describe('a configuration that fits', () => {
  it.each<ServeOptions>([
    {
      file: 'backend_aoti/add.pt2',
      config: {
        maxBatchSize: 8,
        ...inputsAndOutputs(['INPUT__0 FP32 -1', 'ARGS[1] FP32 4'], ['RESULT[1] FP32 -1']),
      },
    },
    {
      file: 'backend_torchscript/addsub.pt',
      config: inputsAndOutputs(['INPUT1 FP32 4', 'INPUT0 FP32 4'], ['OUTPUT__1 FP32 4']),
    },
  ])('has no problems: $file', async (options) => {
    expect(await check(options)).toEqual({ path: modelFile(options.file), problems: [] });
  });
});

describe('a configuration that does not fit gets the words of the load', () => {
  it.each<ServeOptions & { rule: string }>([
    {
      rule: 'an input that the package does not have',
      file: 'backend_aoti/add.pt2',
      config: inputsAndOutputs(['ARGS[0] FP32 -1 -1', 'ARGS[2] FP32 -1 -1'], ['RESULT[0] FP32 -1 -1']),
    },
    {
      rule: 'another datatype',
      file: 'backend_aoti/add.pt2',
      config: inputsAndOutputs(['ARGS[0] INT32 -1 -1', 'ARGS[1] FP32 -1 -1'], ['RESULT[0] FP32 -1 -1']),
    },
    {
      rule: 'a batch beyond the range',
      file: 'backend_aoti/add.pt2',
      config: { maxBatchSize: 9, ...inputsAndOutputs(['ARGS[0] FP32 4', 'ARGS[1] FP32 4'], ['RESULT[0] FP32 4']) },
    },
    {
      rule: 'too few inputs',
      file: 'backend_torchscript/addsub.pt',
      config: inputsAndOutputs(['INPUT0 FP32 4'], ['OUTPUT__0 FP32 4']),
    },
    {
      rule: 'a result that is not there',
      file: 'backend_torchscript/addsub.pt',
      config: inputsAndOutputs(['INPUT0 FP32 4', 'INPUT1 FP32 4'], ['OUTPUT__2 FP32 4']),
    },
    {
      rule: 'an argument that no tensor fits',
      file: 'backend_torchscript/tensor_and_number.pt',
      config: inputsAndOutputs(['x FP32 4', 'n INT64 1'], ['OUTPUT__0 FP32 4']),
    },
  ])('$rule', async (options) => {
    const { path, problems } = await check(options);
    expect(path).toBe(modelFile(options.file));
    expect(problems).toEqual([await loadError(options)]);
  });

  it('a file that is not there', async () => {
    const { path, problems } = await check({ file: 'backend_aoti/absent.pt2', config: {} });
    expect(path).toBeUndefined();
    expect(problems).toEqual([expect.stringContaining("unable to find '")]);
  });
});

it('reports everything that can be told apart', async () => {
  const parameters = new Map([['INFERENCE_MODE', { stringValue: 'perhaps' }]]);
  const config = { ...inputsAndOutputs(['x FP32 4'], ['OUTPUT__0 FP32 4']), parameters, runtime: 'model.py' };
  const { problems } = await check({ file: 'backend_torchscript/addsub.pt', config });
  expect(problems).toEqual([
    expect.stringContaining('a Python runtime'),
    expect.stringContaining('INFERENCE_MODE'),
    expect.stringContaining('configuration expects 1 inputs, model provides 2'),
  ]);
});
