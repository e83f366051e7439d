import type { Tensor } from '@nereid/core';
import { elementCount } from '@nereid/core';

/**
 * What is wrong with the encoding of a BYTES tensor: each element is a 4-byte little-endian length and that many bytes, and there are as
 * many elements as the shape says. `undefined` when nothing is. Makes no objects on the way.
 */
export function bytesFault(tensor: Tensor): string | undefined {
  const { data, name } = tensor;
  const expected = elementCount(tensor.shape);
  let count = 0;
  for (let offset = 0; offset < data.byteLength; count++) {
    const left = data.byteLength - offset;
    if (left < 4)
      return `incomplete string length indicator for inference input '${name}', expecting 4 bytes, got ${left}`;
    const size = readLength(data, offset);
    if (size > left - 4) {
      return `incomplete string data for inference input '${name}': element ${count} has ${size} bytes by its length, ${left - 4} are left`;
    }
    offset += 4 + size;
  }
  if (count === expected) return undefined;
  return `expected ${expected} string elements for inference input '${name}', got ${count}`;
}

function readLength(data: Uint8Array, offset: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [data[offset], data[offset + 1], data[offset + 2], data[offset + 3]];
  return (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
}
