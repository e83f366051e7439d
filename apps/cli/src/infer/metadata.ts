import { type Datatype, isDatatype, type Shape } from '@nereid/core';
import { CliError } from '../errors.ts';

export interface TensorMetadata {
  readonly name: string;
  readonly datatype: Datatype;
  /** −1 for a variable size; batching models have one in front. */
  readonly shape: Shape;
}

/** What a model takes and gives. */
export interface ModelTensors {
  readonly inputs: readonly TensorMetadata[];
  readonly outputs: readonly TensorMetadata[];
}

interface DescribedTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: Shape;
}

/** @throws {CliError} `server` for a datatype that is unknown here */
export function knownTensors(metadata: {
  readonly inputs: readonly DescribedTensor[];
  readonly outputs: readonly DescribedTensor[];
}): ModelTensors {
  return { inputs: metadata.inputs.map(known), outputs: metadata.outputs.map(known) };
}

function known(tensor: DescribedTensor): TensorMetadata {
  const { name, datatype, shape } = tensor;
  if (isDatatype(datatype)) return { name, datatype, shape };
  throw new CliError('server', `the server describes a tensor that is unknown here: ${JSON.stringify(tensor)}`);
}
