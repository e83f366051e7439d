import { formatShape } from '@nereid/core';
import { entryPath } from '../fields.ts';
import type { ModelConfig, ModelWarmup, ModelWarmupInput } from '../generated/types.ts';
import type { Check } from './rule.ts';

const skippedSample: Check = function* ({ config, model }) {
  for (const [i, sample] of config.modelWarmup.entries()) {
    if (sample.batchSize !== 0) continue;
    const message = `warmup sample '${sample.name}' of ${model} is skipped: its 'batch_size' is 0 or missing; set it to 1 or more`;
    yield { severity: 'warning', path: `model_warmup[${i}]`, message };
  }
};

const variableDims: Check = function* ({ config, model }) {
  for (const { sample, name, input, path } of warmupInputs(config)) {
    if (!input.dims.includes(-1)) continue;
    const message = `warmup setting expects all variable-size dimensions are specified for input '${name}' of sample '${sample.name}' for ${model}, got ${formatShape(input.dims)}`;
    yield { path: `${path}.dims`, message };
  }
};

/** Not checked by Triton, which then makes a tensor of no bytes. */
const invalidDims: Check = function* ({ config, model }) {
  for (const { sample, name, input, path } of warmupInputs(config)) {
    for (const [j, dim] of input.dims.entries()) {
      if (dim >= 1 || dim === -1) continue;
      const message = `input '${name}' of warmup sample '${sample.name}' for ${model}: a dimension must be 1 or more, got ${dim}`;
      yield { path: `${path}.dims[${j}]`, message };
    }
  }
};

/** Not checked by Triton, which then makes a tensor of no bytes. */
const warmupType: Check = function* ({ config, model }) {
  for (const { sample, name, input, path } of warmupInputs(config)) {
    if (input.dataType !== 'TYPE_INVALID') continue;
    const message = `input '${name}' of warmup sample '${sample.name}' for ${model} must specify 'data_type'`;
    yield { path, message };
  }
};

const warmupData: Check = function* ({ config, model }) {
  for (const { sample, name, input, path } of warmupInputs(config)) {
    if (input.zeroData !== undefined || input.randomData !== undefined || input.inputDataFile !== undefined) continue;
    const message = `warmup setting for ${model} expects input '${name}' of sample '${sample.name}' to have input_data_type set; add zero_data: true, random_data: true or input_data_file: "<file in warmup/>"`;
    yield { path, message };
  }
};

interface PlacedWarmupInput {
  readonly sample: ModelWarmup;
  readonly name: string;
  readonly input: ModelWarmupInput;
  readonly path: string;
}

/** Inputs of the samples that are run. */
function* warmupInputs(config: ModelConfig): Iterable<PlacedWarmupInput> {
  for (const [i, sample] of config.modelWarmup.entries()) {
    if (sample.batchSize === 0) continue;
    for (const [name, input] of sample.inputs) {
      yield { sample, name, input, path: entryPath(`model_warmup[${i}].inputs`, name) };
    }
  }
}

/** Rules on warmup samples. */
export const WARMUP_RULES = {
  'skipped-warmup': skippedSample,
  'warmup-variable-dims': variableDims,
  'warmup-dims': invalidDims,
  'warmup-data-type': warmupType,
  'warmup-data': warmupData,
} satisfies Record<string, Check>;
