import type { Tensor } from '@nereid/core';
import { elementCount } from '@nereid/core';

/**
 * What is wrong with the encoding of a BYTES tensor: each element is a 4-byte little-endian length and that many bytes, and there are as
 * many elements as the shape says. `undefined` when nothing is. Makes no objects on the way.
 */
export function bytesFault(tensor: Tensor): string | undefined {
  const { data, name } = tensor;
  const expected = elementCount(tensor.shape);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let count = 0;
  for (let offset = 0; offset < data.byteLength; count++) {
    const left = data.byteLength - offset;
    if (left < 4)
      return `incomplete string length indicator for inference input '${name}', expecting 4 bytes, got ${left}`;
    // Looked no further: there may be hundreds of millions of them.
    if (count === expected) return `expected ${expected} string elements for inference input '${name}', got more`;
    const size = view.getUint32(offset, true);
    if (size > left - 4) {
      return `incomplete string data for inference input '${name}': element ${count} has ${size} bytes by its length, ${left - 4} are left`;
    }
    offset += 4 + size;
  }
  if (count === expected) return undefined;
  return `expected ${expected} string elements for inference input '${name}', got ${count}`;
}
