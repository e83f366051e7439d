import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createModelConfig } from '@nereid/model-config';
import { usePython } from '@nereid/testing';
import { runBackendContract } from '@nereid/testing/contract';
import { PythonRuntimeBackend } from '../src/index.ts';
import { inputsAndOutputs, NOT_COMPILED, parameterMap } from './served-model.ts';

const directory = join(dirname(fileURLToPath(import.meta.url)), 'models');
const TENSORS = {
  addsub: inputsAndOutputs(['a FP32 -1', 'b FP32 -1'], ['sum FP32 -1', 'diff FP32 -1']),
  identity: inputsAndOutputs(['x FP32 2'], ['y FP32 2']),
};
const ON_THE_LOOP = 'a process of its own cannot run on the calling thread';

runBackendContract({
  name: 'model.py',
  makeBackend: () => new PythonRuntimeBackend({ python: usePython() }),
  makeModel: (name) => ({
    name: 'm',
    version: '1',
    modelDirectory: directory,
    versionDirectory: directory,
    config: createModelConfig({
      name: 'm',
      backend: 'pytorch',
      runtime: 'model.py',
      maxBatchSize: 16,
      defaultModelFilename: `${name}.py`,
      parameters: parameterMap(NOT_COMPILED),
      ...TENSORS[name],
    }),
  }),
  skip: { inline: ON_THE_LOOP, 'inline-failure': ON_THE_LOOP },
});
