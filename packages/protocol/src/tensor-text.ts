import { DATATYPES, decodeBytes, elements, type Tensor } from '@nereid/core';
import { quoteBytes } from './byte-text.ts';
import { ProtocolError } from './errors.ts';

/**
 * The elements of a tensor as a flat JSON array, in the form of a byte string. 64-bit integers are exact; FP32 is widened to double; integral
 * floats end in `.0`; NaN, Infinity and -Infinity are bare words; BYTES elements are strings of their bytes.
 *
 * @throws {ProtocolError} `not-json` for FP16 and BF16, and for a tensor whose text would be longer than a string can be (512 MiB)
 * @throws {InferenceServerError} INVALID_ARG for a BYTES tensor that is cut off
 */
export function tensorText(tensor: Tensor): string {
  if (tensor.datatype === 'FP16' || tensor.datatype === 'BF16') {
    throw new ProtocolError(
      'not-json',
      `sending ${tensor.datatype} data via JSON is not supported; request output '${tensor.name}' as binary data`,
    );
  }
  try {
    return `[${elementsText(tensor)}]`;
  } catch (error) {
    // The one RangeError there is: a string beyond the engine's limit.
    if (!(error instanceof RangeError)) throw error;
    throw new ProtocolError('not-json', `output '${tensor.name}' is too large for JSON; request it as binary data`);
  }
}

function elementsText(tensor: Tensor): string {
  switch (tensor.datatype) {
    case 'BOOL':
      return Array.from(tensor.data, (value) => value !== 0).join(',');
    case 'FP32':
      return realsText(elements({ ...tensor, datatype: 'FP32' }));
    case 'FP64':
      return realsText(elements({ ...tensor, datatype: 'FP64' }));
    case 'INT64':
      return wideText(tensor.data, false);
    case 'UINT64':
      return wideText(tensor.data, true);
    case 'BYTES':
      return stringsText(tensor.data);
    default:
      return smallIntegers(tensor).join(',');
  }
}

function smallIntegers(tensor: Tensor): { join(separator: string): string } {
  const { array } = DATATYPES[tensor.datatype];
  return array === Uint8Array ? tensor.data : elements(tensor);
}

const SEGMENT = 1024;

/** Segments that hold neither integral nor non-finite values print the same as ordinary JSON, which the engine writes in half the time. */
function realsText(values: Float32Array | Float64Array): string {
  let text = '';
  for (let start = 0; start < values.length; start += SEGMENT) {
    const segment = Array.from(values.subarray(start, start + SEGMENT));
    if (start > 0) text += ',';
    text += segment.every(isPlain) ? JSON.stringify(segment).slice(1, -1) : segment.map(realText).join(',');
  }
  return text;
}

function isPlain(value: number): boolean {
  return Number.isFinite(value) && !Number.isInteger(value);
}

/** From here on a double prints with an exponent, which already marks it as no integer. */
const EXPONENT_FROM = 1e21;

function realText(value: number): string {
  const text = String(value);
  if (!Number.isInteger(value) || Math.abs(value) >= EXPONENT_FROM) return text;
  return Object.is(value, -0) ? '-0.0' : `${text}.0`;
}

/** Bigints are made only for values outside the safe range. */
function wideText(data: Uint8Array, unsigned: boolean): string {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let text = '';
  for (let offset = 0; offset + 8 <= data.byteLength; offset += 8) {
    if (offset > 0) text += ',';
    const high = unsigned ? view.getUint32(offset + 4, true) : view.getInt32(offset + 4, true);
    const value = high * 0x1_0000_0000 + view.getUint32(offset, true);
    if (Number.isSafeInteger(value)) text += value;
    else text += unsigned ? view.getBigUint64(offset, true) : view.getBigInt64(offset, true);
  }
  return text;
}

function stringsText(data: Uint8Array): string {
  let text = '';
  for (const item of decodeBytes(data)) {
    if (text !== '') text += ',';
    text += quoteBytes(item);
  }
  return text;
}
