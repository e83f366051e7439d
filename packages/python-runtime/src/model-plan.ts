/** What a configuration says about the tensors of a model.py, checked once at load. */
import { type Datatype, datatypeFromConfig, type Shape } from '@nereid/core';
import type { ModelConfig, ModelInput, ModelOutput } from '@nereid/model-config';
import { PythonRuntimeError } from './errors.ts';

export interface TensorPlan {
  readonly name: string;
  readonly datatype: Datatype;
  /** As clients see it, without the batch dimension; −1 for a variable dimension. */
  readonly dims: Shape;
  /** As the model sees it, where the configuration has a `reshape`. */
  readonly reshape: Shape | undefined;
}

export interface ModelPlan {
  readonly modelName: string;
  readonly modelVersion: string;
  /** 0 without batching. */
  readonly maxBatchSize: number;
  /** In the order of the configuration, which is that of the arguments of `forward`. */
  readonly inputs: readonly TensorPlan[];
  /** In the order of the configuration, which is that of the results of `forward`. */
  readonly outputs: readonly TensorPlan[];
  /** Whether a request gets any number of responses. */
  readonly isDecoupled: boolean;
}

/** @throws {PythonRuntimeError} `config`, with everything that a model.py cannot have in one message */
export function planModel(config: ModelConfig, model: { readonly name: string; readonly version: string }): ModelPlan {
  const faults = [...unsupported(config), ...config.input.flatMap(inputFaults), ...config.output.flatMap(outputFaults)];
  if (config.output.length === 0) faults.push('it has no output; name each result of forward');
  if (faults.length > 0) {
    throw new PythonRuntimeError({
      code: 'INVALID_ARG',
      reason: 'config',
      message: `model '${model.name}' cannot run as model.py: ${faults.join('; ')}`,
    });
  }
  return {
    modelName: model.name,
    modelVersion: model.version,
    maxBatchSize: config.maxBatchSize,
    inputs: config.input.flatMap(planTensor),
    outputs: config.output.flatMap(planTensor),
    isDecoupled: config.modelTransactionPolicy?.decoupled === true,
  };
}

function planTensor({ name, dataType, dims, reshape }: ModelInput | ModelOutput): TensorPlan[] {
  const datatype = datatypeFromConfig(dataType);
  return datatype === undefined ? [] : [{ name, datatype, dims, reshape: reshape?.shape }];
}

function unsupported(config: ModelConfig): string[] {
  const found: string[] = [];
  if (config.sequenceBatching !== undefined) {
    found.push('sequence_batching (controls and states) is not supported; pass the state as inputs and outputs');
  }
  if (config.batchInput.length > 0) found.push('batch_input is not supported; make it an input that clients send');
  if (config.batchOutput.length > 0) {
    found.push('batch_output is not supported; let forward return one row per row of its inputs');
  }
  return found;
}

function inputFaults(input: ModelInput): string[] {
  const found = datatypeFaults('input', input);
  if (input.optional) {
    found.push(`input '${input.name}' is optional; forward gets every input, so give clients a neutral value to send`);
  }
  if (input.allowRaggedBatch) {
    found.push(`input '${input.name}' has allow_ragged_batch; requests of one batch must agree in shape`);
  }
  return found;
}

function outputFaults(output: ModelOutput): string[] {
  return datatypeFaults('output', output);
}

function datatypeFaults(side: 'input' | 'output', { name, dataType }: ModelInput | ModelOutput): string[] {
  if (dataType === 'TYPE_STRING') {
    return [
      `${side} '${name}' is TYPE_STRING, but torch has no tensors of strings; use TYPE_UINT8 with the encoded text`,
    ];
  }
  return datatypeFromConfig(dataType) === undefined ? [`unsupported datatype ${dataType} for ${side} '${name}'`] : [];
}
