/** What a configuration says about the tensors of a model.py, checked once at load. */
import { type Datatype, datatypeFromConfig, type Shape } from '@nereid/core';
import {
  controlDataType,
  type ModelConfig,
  type ModelInput,
  type ModelOutput,
  type ModelSequenceBatching,
} from '@nereid/model-config';
import { PythonRuntimeError } from './errors.ts';

export interface TensorPlan {
  readonly name: string;
  readonly datatype: Datatype;
  /** As clients see it, without the batch dimension; −1 for a variable dimension. */
  readonly dims: Shape;
  /** As the model sees it, where the configuration has a `reshape`. */
  readonly reshape: Shape | undefined;
}

/** Tensors that a model keeps between the requests of a sequence. */
interface StatePlan {
  /** As an argument of `forward`; the shape is without the batch dimension. */
  readonly input: TensorPlan;
  /** As a result of `forward`. */
  readonly outputName: string;
  readonly initialDims: Shape;
  /** In the model's `initial_state` directory; undefined for zeros. */
  readonly initialFile: string | undefined;
}

/** What the scheduler of a model with sequences adds to the tensors of clients. */
interface SequencePlan {
  /** Arguments of `forward` after the inputs, in the order of the configuration. */
  readonly controls: readonly TensorPlan[];
  /** Arguments after the controls, and results after the outputs unless an output has the name of one. */
  readonly states: readonly StatePlan[];
  /** Whether a request may ask for further turns. */
  readonly isIterative: boolean;
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
  /** Undefined for a model without sequences. */
  readonly sequence: SequencePlan | undefined;
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
    sequence: config.sequenceBatching && planSequence(config.sequenceBatching),
  };
}

function planSequence({ controlInput, state, iterativeSequence }: ModelSequenceBatching): SequencePlan {
  return {
    controls: controlInput.flatMap((input) => controlOf(input).flatMap(planTensor)),
    states: state.flatMap(({ inputName, outputName, dataType, dims, initialState: [initial] }) =>
      planTensor({ name: inputName, dataType, dims }).map((input) => ({
        input,
        outputName,
        initialDims: initial?.dims ?? dims.map((dim) => (dim === -1 ? 1 : dim)),
        initialFile: initial?.dataFile,
      })),
    ),
    isIterative: iterativeSequence,
  };
}

type TensorConfig = Pick<ModelInput, 'name' | 'dataType' | 'dims'> & { readonly reshape?: ModelInput['reshape'] };

/** Of several controls of one tensor the first counts. */
function controlOf({ name, control }: ModelSequenceBatching['controlInput'][number]): TensorConfig[] {
  return control.slice(0, 1).map((kind) => ({ name, dataType: controlDataType(kind), dims: [1] }));
}

function planTensor({ name, dataType, dims, reshape }: TensorConfig): TensorPlan[] {
  const datatype = datatypeFromConfig(dataType);
  return datatype === undefined ? [] : [{ name, datatype, dims, reshape: reshape?.shape }];
}

function unsupported(config: ModelConfig): string[] {
  const found: string[] = [];
  if (config.sequenceBatching !== undefined) found.push(...sequenceFaults(config.sequenceBatching));
  if (config.batchInput.length > 0) found.push('batch_input is not supported; make it an input that clients send');
  if (config.batchOutput.length > 0) {
    found.push('batch_output is not supported; let forward return one row per row of its inputs');
  }
  return found;
}

function sequenceFaults({ controlInput, state }: ModelSequenceBatching): string[] {
  const found = controlInput.flatMap(controlOf).flatMap(({ name, dataType }) => {
    if (dataType !== 'TYPE_STRING') return datatypeFaults('control', { name, dataType });
    return [
      `control '${name}' is TYPE_STRING, but torch has no tensors of strings; leave it out: forward finds the correlation ID in the keyword requests`,
    ];
  });
  for (const { inputName: name, dataType, useGrowableMemory } of state) {
    found.push(...datatypeFaults('state', { name, dataType }));
    if (!useGrowableMemory) continue;
    found.push(`state '${name}' has use_growable_memory; remove it: a state with a dimension of -1 may grow without`);
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

function datatypeFaults(
  side: 'input' | 'output' | 'control' | 'state',
  { name, dataType }: Pick<ModelInput, 'name' | 'dataType'>,
): string[] {
  if (dataType === 'TYPE_STRING') {
    return [
      `${side} '${name}' is TYPE_STRING, but torch has no tensors of strings; use TYPE_UINT8 with the encoded text`,
    ];
  }
  return datatypeFromConfig(dataType) === undefined ? [`unsupported datatype ${dataType} for ${side} '${name}'`] : [];
}
