/**
 * Sentences for requests that do not fit a model. The fragments that clients and tests know from the original stay as they are; what
 * follows them says what to do.
 */
import { formatShape, shapeMatches, type Tensor } from '@nereid/core';
import type { TensorSpec } from './tensor-spec.ts';

export interface ModelSide {
  readonly name: string;
  /** 0 when the model does not batch. */
  readonly maxBatchSize: number;
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
}

export function unknownOutput(model: ModelSide, output: string): string {
  return `unexpected inference output '${output}' for model '${model.name}'. Its outputs are ${names(model.outputs)}`;
}

export function repeatedOutput(model: ModelSide, output: string): string {
  return `output '${output}' is requested twice for model '${model.name}'; name each output once`;
}

export function unknownInput(model: ModelSide, input: string): string {
  return `unexpected inference input '${input}' for model '${model.name}'. Its inputs are ${names(model.inputs)}`;
}

export function repeatedInput(model: ModelSide, input: string): string {
  return `input '${input}' is given twice for model '${model.name}'; give each input once`;
}

/** Too few, too many, or a required one left out. */
export function inputCount(model: ModelSide, given: readonly Tensor[]): string {
  const required = model.inputs.filter((spec) => !spec.optional);
  const total = model.inputs.length;
  const expected =
    required.length === total
      ? `expected ${total} inputs but got ${given.length} inputs`
      : `expected number of inputs between ${required.length} and ${total} but got ${given.length} inputs`;
  const present = new Set(given.map((input) => input.name));
  const missing = required.filter((spec) => !present.has(spec.name));
  const known = new Set(model.inputs.map((spec) => spec.name));
  const unknown = given.filter((input) => !known.has(input.name));
  return (
    `${expected} for model '${model.name}'. Got input(s) ${list(given)}` +
    (missing.length > 0 ? `, but missing required input(s) ${list(missing)}` : '') +
    (unknown.length > 0 ? `; the model has no input(s) ${list(unknown)}` : '')
  );
}

export function wrongDatatype(model: ModelSide, pair: Pair): string {
  const { input, spec } = pair;
  return `inference input '${input.name}' data-type is '${input.datatype}', but model '${model.name}' expects '${spec.datatype}'`;
}

export function wrongShape(model: ModelSide, pair: Pair): string {
  const { input, spec } = pair;
  return (
    `unexpected shape for input '${input.name}' for model '${model.name}'. ` +
    `Expected ${formatShape(spec.shape)}, got ${formatShape(input.shape)}.${shapeHint(model, pair)}`
  );
}

export function batchTooLarge(model: ModelSide, input: Tensor): string {
  return (
    `inference request batch-size must be <= ${model.maxBatchSize} for '${model.name}'; input '${input.name}' has shape ` +
    `${formatShape(input.shape)}, whose first dimension is the batch. Send smaller requests or raise max_batch_size`
  );
}

export function batchMismatch(model: ModelSide, pair: { input: Tensor; batchSize: number }): string {
  return (
    `input '${pair.input.name}' batch size does not match other inputs for '${model.name}': its shape is ` +
    `${formatShape(pair.input.shape)}, the inputs before it have ${pair.batchSize} rows`
  );
}

export function wrongByteSize(model: ModelSide, size: { input: Tensor; expected: number }): string {
  const { input, expected } = size;
  return (
    `input byte size mismatch for input '${input.name}' for model '${model.name}'. Expected ${expected}, got ` +
    `${input.data.byteLength} (${input.datatype} ${formatShape(input.shape)})`
  );
}

interface Pair {
  readonly input: Tensor;
  readonly spec: TensorSpec;
}

/** What the client probably meant. */
function shapeHint(model: ModelSide, { input, spec }: Pair): string {
  if (model.maxBatchSize > 0) {
    if (shapeMatches(spec.shape.slice(1), input.shape)) {
      return ` The batch dimension is missing: send ${formatShape([1, ...input.shape])}`;
    }
    return ` The first dimension is the batch, 1 to ${model.maxBatchSize}; dims in the configuration leave it out`;
  }
  const withoutBatch = input.shape.slice(1);
  if (input.shape[0] === 1 && shapeMatches(spec.shape, withoutBatch)) {
    return ` The model has no batch dimension (max_batch_size is 0): send ${formatShape(withoutBatch)}`;
  }
  return '';
}

function names(specs: readonly TensorSpec[]): string {
  return specs.map((spec) => `'${spec.name}'`).join(', ');
}

function list(tensors: readonly { readonly name: string }[]): string {
  return `[${tensors.map((tensor) => `'${tensor.name}'`).join(', ')}]`;
}
