/** What a model costs at start-up: reading its config.pbtxt, checking it, and printing it for the config endpoint. */
import { bench, describe } from 'vitest';
import {
  createModelConfig,
  modelConfigToJson,
  parseModelConfig,
  prepareModelConfig,
  validateModelConfig,
} from '../src/index.ts';

const tensors = (count: number) =>
  Array.from({ length: count }, (_, i) => `{ name: "t${i}" data_type: TYPE_FP32 dims: [ 3, -1, 224 ] }`).join(', ');
const configText = (count: number) =>
  `backend: "pytorch" max_batch_size: 8 input [ ${tensors(count)} ] output [ ${tensors(count)} ] dynamic_batching { }`;

const options = { directoryName: 'm', files: [{ name: 'model.pt', isDirectory: false }] };

describe.each([2, 1000])('%i inputs and outputs', (count) => {
  const text = configText(count);
  const { config = createModelConfig() } = prepareModelConfig(text, options);
  const json = modelConfigToJson(config);

  bench('parse text', () => {
    parseModelConfig(text);
  });
  bench('parse JSON', () => {
    parseModelConfig(json, { format: 'json' });
  });
  bench('validate', () => {
    validateModelConfig(config);
  });
  bench('print JSON', () => {
    modelConfigToJson(config);
  });
  bench('prepare', () => {
    prepareModelConfig(text, options);
  });
});
