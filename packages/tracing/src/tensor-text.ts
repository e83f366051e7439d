/** Elements of tensors as text, for trace files. */
import { DATATYPES, decodeBytes, elements, type Tensor } from '@nereid/core';

/** Every element in row-major order, separated by commas. Strings are in quotes, as JSON has them; bytes that are no UTF-8 are replaced. */
export function tensorText(tensor: Tensor): string {
  const { datatype, data } = tensor;
  switch (datatype) {
    case 'BYTES':
      return decodeBytes(data)
        .map((item) => JSON.stringify(Buffer.from(item).toString('utf8')))
        .join(',');
    case 'FP16':
      return halves(data, fromFp16).join(',');
    case 'BF16':
      return halves(data, fromBf16).join(',');
    default:
      return elements({ ...tensor, datatype }).join(',');
  }
}

function halves(data: Uint8Array, read: (bits: number) => number): number[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const count = Math.floor(data.byteLength / DATATYPES.FP16.byteSize);
  return Array.from({ length: count }, (_, i) => read(view.getUint16(2 * i, true)));
}

function fromFp16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The upper half of a single. */
function fromBf16(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits * 0x10000);
  return view.getFloat32(0);
}
