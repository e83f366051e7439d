/** What `run` takes and gives, between typed arrays and tensors. */
import {
  DATATYPES,
  type Datatype,
  decodeBytes,
  elementCount,
  elements,
  encodeBytes,
  formatShape,
  type Shape,
  type Tensor,
  type TypedArrayOf,
} from '@nereid/core';
import type { DeclaredDim } from '@nereid/model-archive';
import { PyTorchBackendError } from './errors.ts';

export type NumericArray = TypedArrayOf<Exclude<Datatype, 'BYTES'>>;

/** Elements in row-major order: a typed array, or strings (as UTF-8) or bytes for BYTES. FP16 and BF16 are bit patterns in a Uint16Array. */
export type RunData = NumericArray | readonly (string | Uint8Array)[];

/** Elements, or elements with their shape where it does not follow from their number. */
export type RunInput = RunData | { readonly data: RunData; readonly shape: Shape };

export interface RunOutput {
  readonly datatype: Datatype;
  readonly shape: Shape;
  /** The datatype's typed array, a view of the model's result; strings, decoded as UTF-8, for BYTES. */
  readonly data: NumericArray | readonly string[];
}

/** An input as a model takes it. */
export interface RunInputSpec {
  readonly name: string;
  readonly datatype: Datatype;
  /** Absent when the file states no shape. */
  readonly shape?: readonly DeclaredDim[] | undefined;
  /** Whether a run may leave it out; then the argument has its default, or None. */
  readonly optional?: boolean | undefined;
}

/**
 * The tensor for an input. Typed arrays are viewed, not copied: they must not change until the run is over.
 * @throws {PyTorchBackendError} INVALID_ARG `request`: another kind of array than the datatype's, or a shape that cannot be told
 */
export function toTensor(spec: RunInputSpec, value: RunInput): Tensor {
  const { data, shape } = isShaped(value) ? value : { data: value, shape: undefined };
  const { name, datatype } = spec;
  if (isArrayOf(data, datatype)) {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return { name, datatype, shape: shape ?? impliedShape(spec, data.length), data: bytes };
  }
  if (datatype === 'BYTES' && !ArrayBuffer.isView(data)) {
    return { name, datatype, shape: shape ?? impliedShape(spec, data.length), data: encodeBytes(data) };
  }
  const expected = datatype === 'BYTES' ? 'an array of strings' : `a ${DATATYPES[datatype].array.name}`;
  throw refusal(`input '${name}' is ${datatype}: expected ${expected}, got ${data.constructor.name}`);
}

export function fromTensor(tensor: Tensor): RunOutput {
  const { datatype, shape } = tensor;
  if (datatype !== 'BYTES') return { datatype, shape, data: elements({ ...tensor, datatype }) };
  const decoder = new TextDecoder();
  return { datatype, shape, data: decodeBytes(tensor.data).map((item) => decoder.decode(item)) };
}

function isShaped(value: RunInput): value is { readonly data: RunData; readonly shape: Shape } {
  return 'shape' in value;
}

function isArrayOf(data: RunData, datatype: Datatype): data is NumericArray {
  return datatype !== 'BYTES' && data instanceof DATATYPES[datatype].array;
}

/** Without a stated shape: one dimension. With one: the only dimension that varies takes what the others leave. */
function impliedShape({ name, shape }: RunInputSpec, count: number): Shape {
  if (shape === undefined) return [count];
  const fixed = elementCount(shape.map((dim) => (typeof dim === 'number' ? dim : 1)));
  const variable = shape.filter((dim) => typeof dim !== 'number').length;
  const implied = shape.map((dim) => (typeof dim === 'number' ? dim : count / fixed));
  if (variable <= 1 && implied.every(Number.isInteger) && elementCount(implied) === count) return implied;
  const declared = formatShape(shape.map((dim) => (typeof dim === 'number' ? dim : -1)));
  throw refusal(
    `input '${name}' takes shape ${declared}, which ${count} elements do not determine; give { data, shape }`,
  );
}

function refusal(message: string): PyTorchBackendError {
  return new PyTorchBackendError({ code: 'INVALID_ARG', reason: 'request', message });
}
