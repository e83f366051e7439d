import { DATATYPES, type Datatype, type TypedArrayOf } from './datatypes.ts';
import { InferenceServerError } from './errors.ts';
import { elementCount, formatShape, type Shape } from './shape.ts';

/**
 * A named tensor over raw bytes: little-endian, row-major, unpadded; BYTES elements are each a 4-byte little-endian length
 * and that many bytes. `data` is a view whose owner is whoever made the tensor; it is not copied on the way.
 */
export interface Tensor {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: Shape;
  readonly data: Uint8Array;
}

/**
 * The elements of a tensor as the datatype's typed array. A view when the bytes are aligned for it, a copy otherwise; bytes after the last
 * whole element are left out.
 * For BYTES this is the length-prefixed encoding itself; use `decodeBytes` for its elements.
 */
export function elements<D extends Datatype>(tensor: Tensor & { readonly datatype: D }): TypedArrayOf<D> {
  const { array, byteSize } = DATATYPES[tensor.datatype];
  const { data } = tensor;
  const size = Math.max(byteSize, 1);
  // Not `slice`: a Buffer's gives a view, which is as unaligned as before.
  const aligned = data.byteOffset % size === 0 ? data : new Uint8Array(data);
  return new array(
    aligned.buffer as ArrayBuffer,
    aligned.byteOffset,
    Math.floor(aligned.byteLength / size),
  ) as TypedArrayOf<D>;
}

/** Builds a tensor from a typed array; the bytes are viewed, not copied. */
export function tensorFrom(
  init: { readonly name: string; readonly datatype: Datatype; readonly shape: Shape },
  values: ArrayBufferView,
): Tensor {
  return { ...init, data: new Uint8Array(values.buffer, values.byteOffset, values.byteLength) };
}

const encoder = /* @__PURE__ */ new TextEncoder();

/** Encodes BYTES elements: each a 4-byte little-endian length and its bytes; strings as UTF-8. */
export function encodeBytes(items: readonly (string | Uint8Array)[]): Uint8Array {
  const parts = items.map((item) => (typeof item === 'string' ? encoder.encode(item) : item));
  const out = new Uint8Array(parts.reduce((size, part) => size + 4 + part.byteLength, 0));
  const view = new DataView(out.buffer);
  let offset = 0;
  for (const part of parts) {
    view.setUint32(offset, part.byteLength, true);
    out.set(part, offset + 4);
    offset += 4 + part.byteLength;
  }
  return out;
}

/**
 * Splits a BYTES encoding into views of its elements.
 * @throws {InferenceServerError} INVALID_ARG when a length field is cut off or an element runs past the end
 */
export function decodeBytes(data: Uint8Array): Uint8Array[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const items: Uint8Array[] = [];
  for (let offset = 0; offset < data.byteLength; ) {
    if (offset + 4 > data.byteLength) throw truncated(items.length, data.byteLength - offset, 4);
    const size = view.getUint32(offset, true);
    offset += 4;
    if (offset + size > data.byteLength) throw truncated(items.length, data.byteLength - offset, size);
    items.push(data.subarray(offset, offset + size));
    offset += size;
  }
  return items;
}

function truncated(index: number, available: number, needed: number): InferenceServerError {
  return new InferenceServerError(
    'INVALID_ARG',
    `BYTES element ${index} is cut off: it needs ${needed} bytes, ${available} are left. ` +
      'Each element is a 4-byte little-endian length followed by that many bytes.',
  );
}

/** Bytes that a tensor of a fixed-size datatype must have; `undefined` for BYTES, whose elements carry their length. */
export function expectedByteSize(datatype: Datatype, shape: Shape): number | undefined {
  const { byteSize } = DATATYPES[datatype];
  return byteSize === 0 ? undefined : elementCount(shape) * byteSize;
}

/** `'x' FP32 [1,3]`, as messages show a tensor. */
export function describeTensor(tensor: Tensor): string {
  return `'${tensor.name}' ${tensor.datatype} ${formatShape(tensor.shape)}`;
}
