/** From values to tensors and back: typed arrays where a datatype has one, numbers for FP16 and BF16, texts for BYTES. */
import {
  DATATYPES,
  type Datatype,
  decodeBytes,
  elementCount,
  elements,
  encodeBytes,
  expectedByteSize,
  formatShape,
  fromBf16,
  fromFp16,
  type Shape,
  type Tensor,
  type TypedArrayOf,
  toBf16,
  toFp16,
} from '@nereid/core';
import { usageError } from './errors.ts';

/** What values of a tensor may be given as. Typed arrays are sent as they lie in memory; lists are converted. */
export interface InputValues {
  /** A byte 0 or 1 each, or booleans. */
  BOOL: Uint8Array | readonly boolean[];
  UINT8: Uint8Array | readonly number[];
  UINT16: Uint16Array | readonly number[];
  UINT32: Uint32Array | readonly number[];
  UINT64: BigUint64Array | readonly (bigint | number)[];
  INT8: Int8Array | readonly number[];
  INT16: Int16Array | readonly number[];
  INT32: Int32Array | readonly number[];
  INT64: BigInt64Array | readonly (bigint | number)[];
  /** Numbers are rounded to the nearest; a Uint16Array holds bit patterns, which are sent as they are. */
  FP16: Uint16Array | Float32Array | Float64Array | readonly number[];
  FP32: Float32Array | readonly number[];
  FP64: Float64Array | readonly number[];
  /** Texts are sent as UTF-8. */
  BYTES: readonly (string | Uint8Array)[];
  /** As FP16. */
  BF16: Uint16Array | Float32Array | Float64Array | readonly number[];
}

/** What values of a tensor come as. */
export interface OutputValues {
  /** A byte 0 or 1 each. */
  BOOL: Uint8Array;
  UINT8: Uint8Array;
  UINT16: Uint16Array;
  UINT32: Uint32Array;
  UINT64: BigUint64Array;
  INT8: Int8Array;
  INT16: Int16Array;
  INT32: Int32Array;
  INT64: BigInt64Array;
  /** Widened. */
  FP16: Float32Array;
  FP32: Float32Array;
  FP64: Float64Array;
  /** As UTF-8; `decodeBytes` of `@nereid/core` gives the bytes. */
  BYTES: readonly string[];
  /** Widened. */
  BF16: Float32Array;
}

export interface TensorInit<D extends Datatype> {
  readonly name: string;
  readonly datatype: D;
  /** Default: one dimension of all values. */
  readonly shape?: Shape;
  readonly values: InputValues[D];
}

/**
 * Makes an input. A typed array of the datatype is viewed, not copied: leave it unchanged until the request is answered.
 * @throws {ClientError} `usage` when the number of values is not that of the shape, or a value is not one of the datatype
 */
export function tensor<D extends Datatype>({ name, datatype, shape, values }: TensorInit<D>): Tensor {
  const sizes = shape ?? [values.length];
  if (elementCount(sizes) !== values.length) {
    throw usageError(
      `tensor '${name}' has ${values.length} values, its shape ${formatShape(sizes)} takes ${elementCount(sizes)}`,
    );
  }
  return { name, datatype, shape: sizes, data: bytesOf({ name, datatype }, values) };
}

type Values = InputValues[Datatype];
type Label = Pick<Tensor, 'name' | 'datatype'>;

function bytesOf({ name, datatype }: Label, values: Values): Uint8Array {
  if (datatype === 'BYTES') return encodeBytes(values as InputValues['BYTES']);
  const { array } = DATATYPES[datatype];
  if (values instanceof array) return viewOf(values);
  if (datatype === 'FP16') return toFp16(values as ArrayLike<number>);
  if (datatype === 'BF16') return toBf16(values as ArrayLike<number>);
  if (ArrayBuffer.isView(values))
    throw usageError(`the values of '${name}' are a ${values.constructor.name}, ${datatype} takes ${array.name}`);
  return viewOf(fromList({ name, datatype }, values as readonly (number | bigint | boolean)[]));
}

function viewOf(values: ArrayBufferView): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

type Scalar = number | bigint | boolean;

function fromList({ name, datatype }: Label, values: readonly Scalar[]): ArrayBufferView {
  const filled = new DATATYPES[datatype].array(values.length);
  const isReal = filled instanceof Float32Array || filled instanceof Float64Array;
  const isWide = filled instanceof BigInt64Array || filled instanceof BigUint64Array;
  for (const [i, value] of values.entries()) {
    const stored = isWide ? wholeOf(value) : datatype === 'BOOL' ? Number(value) : value;
    // An integer out of range, or a fraction, is another number once it is stored.
    if (typeof stored !== 'boolean' && stored !== undefined) filled[i] = stored;
    const isKept = isReal ? typeof stored === 'number' : filled[i] === stored;
    if (!isKept || (datatype === 'BOOL' && Number(stored) > 1))
      throw usageError(`value ${i} of '${name}' is ${String(value)}, which is no ${datatype}`);
  }
  return filled;
}

function wholeOf(value: Scalar): bigint | undefined {
  return typeof value === 'number' && !Number.isSafeInteger(value) ? undefined : BigInt(value);
}

const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The values of a tensor. Numbers are viewed where the bytes are aligned for it, and copied otherwise; FP16 and BF16 are widened; BYTES are decoded as UTF-8.
 * @throws {ClientError} `usage` when the datatype is another; {InferenceServerError} INVALID_ARG for BYTES that are cut off
 */
export function valuesOf<D extends Datatype>(tensor: Tensor & { readonly datatype: D }): OutputValues[D] {
  const values: OutputValues[Datatype] =
    tensor.datatype === 'BYTES'
      ? decodeBytes(tensor.data).map((item) => decoder.decode(item))
      : tensor.datatype === 'FP16'
        ? fromFp16(tensor.data)
        : tensor.datatype === 'BF16'
          ? fromBf16(tensor.data)
          : (elements(tensor) as TypedArrayOf<Exclude<Datatype, 'BYTES' | 'FP16' | 'BF16'>>);
  return values as OutputValues[D];
}

/** @throws {ClientError} `usage` when the bytes of a fixed-size datatype are not as many as the shape takes */
export function assertByteSize(input: Tensor): void {
  const expected = expectedByteSize(input.datatype, input.shape);
  if (expected === undefined || expected === input.data.byteLength) return;
  throw usageError(
    `input '${input.name}' has ${input.data.byteLength} bytes, ${input.datatype} ${formatShape(input.shape)} takes ${expected}`,
  );
}
