import { type Datatype, datatypeFromConfig, type Shape } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import type { TensorMetadata } from './engine.ts';
import { ServingError } from './errors.ts';

/** A tensor of a configuration, as requests carry it. */
export interface TensorSpec {
  readonly name: string;
  readonly datatype: Datatype;
  /** With a leading −1 when the model batches; `reshape` is the backend's business. */
  readonly shape: Shape;
  readonly optional: boolean;
}

interface ConfigTensor {
  readonly name: string;
  readonly dataType: string;
  readonly dims: readonly number[];
  readonly optional?: boolean;
}

/**
 * What clients may send and receive, in the order of the configuration.
 * @throws {ServingError} INVALID_ARG `bad-model` when a datatype is none (a validated configuration has none such)
 */
export function tensorSpecs(config: ModelConfig): {
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
} {
  const leading = config.maxBatchSize > 0 ? [-1] : [];
  const spec = (tensor: ConfigTensor): TensorSpec => {
    const datatype = datatypeFromConfig(tensor.dataType);
    if (datatype === undefined) {
      throw new ServingError(
        'bad-model',
        `'${tensor.name}' of model '${config.name}' has no datatype: ${tensor.dataType}`,
      );
    }
    const shape = [...leading, ...tensor.dims];
    return { name: tensor.name, datatype, shape, optional: tensor.optional ?? false };
  };
  return { inputs: config.input.map(spec), outputs: config.output.map(spec) };
}

export function toMetadata(spec: TensorSpec): TensorMetadata {
  return { name: spec.name, datatype: spec.datatype, shape: spec.shape };
}
