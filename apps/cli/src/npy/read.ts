import { elementCount, encodeBytes, formatShape, type Tensor } from '@nereid/core';
import { CliError } from '../errors.ts';
import { type ElementType, elementType } from './dtypes.ts';
import { type NpyHeader, readHeader } from './header.ts';

/**
 * The tensor in a .npy file, without a name. Numbers are a view of `bytes`; text becomes BYTES, without the padding at its end.
 *
 * @param label the file, for messages
 * @throws {CliError} `bad-input`: not a .npy file, cut off, Fortran order, big-endian, or a datatype that no model takes; with what to do in Python
 */
export function readNpy(bytes: Buffer, label: string): Omit<Tensor, 'name'> {
  const header = readHeader(bytes);
  if (header === undefined) throw bad(`'${label}' is no .npy file; write one with numpy.save("${label}", array)`);
  const type = elementTypeOf(header, label);
  if (header.fortranOrder && header.shape.filter((size) => size > 1).length > 1) {
    throw bad(
      `'${label}' is in Fortran order; write it in C order: numpy.save("${label}", numpy.ascontiguousarray(array))`,
    );
  }
  const count = elementCount(header.shape);
  const data = bytes.subarray(header.dataOffset);
  if (data.byteLength !== count * type.bytes) {
    throw bad(
      `'${label}' holds ${data.byteLength} bytes of elements, but its shape ${formatShape(header.shape)} takes ${count * type.bytes}; ` +
        'the file is damaged or cut off',
    );
  }
  const { datatype, text } = type;
  return {
    datatype,
    shape: header.shape,
    data: text === undefined ? data : encodeBytes(texts(data, { ...type, text, count })),
  };
}

function elementTypeOf({ descriptor }: NpyHeader, label: string): ElementType {
  const type = elementType(descriptor);
  if (type !== undefined) return type;
  if (descriptor.startsWith('>')) {
    throw bad(
      `'${label}' is big-endian (${descriptor}); write it little-endian: ` +
        `numpy.save("${label}", array.astype(array.dtype.newbyteorder("<")))`,
    );
  }
  if (descriptor.startsWith('|O')) {
    throw bad(`'${label}' holds Python objects; for text write numpy.save("${label}", array.astype("S"))`);
  }
  throw bad(`'${label}' is of numpy type '${descriptor}', which no model takes; convert it with array.astype(…)`);
}

function texts(data: Buffer, type: ElementType & { readonly count: number }): readonly (Buffer | string)[] {
  const { bytes, count, text } = type;
  const element = text === 'S' ? withoutPadding : fromUtf32;
  return Array.from({ length: count }, (_, i) => element(data.subarray(i * bytes, (i + 1) * bytes)));
}

function withoutPadding(element: Buffer): Buffer {
  let end = element.byteLength;
  while (end > 0 && element[end - 1] === 0) end--;
  return element.subarray(0, end);
}

function fromUtf32(element: Buffer): string {
  const points = Array.from({ length: element.byteLength / 4 }, (_, i) => element.readUInt32LE(4 * i));
  const end = points.findLastIndex((point) => point !== 0) + 1;
  return points
    .slice(0, end)
    .map((point) => String.fromCodePoint(Math.min(point, 0x10ffff)))
    .join('');
}

function bad(message: string): CliError {
  return new CliError('bad-input', message);
}
