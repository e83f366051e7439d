import type { ModelConfig } from '@nereid/model-config';
import { createModelConfig } from '@nereid/model-config';
import { testModel } from '@nereid/testing';
import { type ContractModel, runBackendContract } from '@nereid/testing/contract';
import { PyTorchBackend } from '../src/index.ts';
import { inputsAndOutputs } from './served-model.ts';

function model(directory: string, config: Parameters<typeof createModelConfig>[0]): ContractModel<ModelConfig> {
  return {
    name: 'm',
    version: '1',
    modelDirectory: testModel(directory),
    versionDirectory: testModel(directory),
    config: createModelConfig({ name: 'm', backend: 'pytorch', maxBatchSize: 8, ...config }),
  };
}

const ADD_SUB = inputsAndOutputs(['a FP32 2', 'b FP32 2'], ['sum FP32 2', 'diff FP32 2']);

runBackendContract({
  name: 'TorchScript',
  makeBackend: () => new PyTorchBackend(),
  makeModel: (name) =>
    name === 'addsub' ? model('addsub', ADD_SUB) : model('identity', inputsAndOutputs(['x FP32 2'], ['y FP32 2'])),
});

runBackendContract({
  name: 'AOTInductor',
  makeBackend: () => new PyTorchBackend(),
  names: { a: 'INPUT__0', b: 'INPUT__1', sum: 'OUTPUT__0', diff: 'OUTPUT__1' },
  makeModel: () => ({
    ...model('backend_aoti', {
      ...inputsAndOutputs(['INPUT__0 FP32 -1', 'INPUT__1 FP32 -1'], ['OUTPUT__0 FP32 -1', 'OUTPUT__1 FP32 -1']),
      platform: 'torch_aoti',
      defaultModelFilename: 'add.pt2',
    }),
  }),
  skip: {
    identity:
      'a compiled package computes its results; bits that pass through are tested by datatype in datatypes.test.ts',
  },
});
