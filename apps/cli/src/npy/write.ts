import { decodeBytes, fromBf16, type Tensor, tensorFrom } from '@nereid/core';
import { DESCRIPTORS } from './dtypes.ts';
import { writeHeader } from './header.ts';

/**
 * A tensor as a .npy file, to be written in order. BF16, which numpy lacks, is widened to FP32; BYTES become bytes of a fixed width, where numpy does not
 * tell NUL at the end of an element from padding.
 */
export function npyFile(tensor: Omit<Tensor, 'name'>): Buffer {
  const { datatype, shape, data } = tensor;
  if (datatype === 'BYTES') return bytesFile(tensor);
  if (datatype === 'BF16') {
    return npyFile(tensorFrom({ name: '', datatype: 'FP32', shape }, fromBf16(data)));
  }
  return Buffer.concat([writeHeader({ descriptor: DESCRIPTORS[datatype] ?? '', shape }), data]);
}

function bytesFile({ shape, data }: Omit<Tensor, 'name'>): Buffer {
  const items = decodeBytes(data);
  // numpy knows no text of width 0.
  const width = items.reduce((widest, item) => Math.max(widest, item.byteLength), 1);
  const padded = Buffer.alloc(items.length * width);
  for (const [i, item] of items.entries()) padded.set(item, i * width);
  return Buffer.concat([writeHeader({ descriptor: `|S${width}`, shape }), padded]);
}
