/** The two 16-bit floating point formats, for which Node.js 20 has no typed arrays. Numbers are rounded to the nearest, ties to even. */

const word = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(4));

function bitsOf(value: number): number {
  word.setFloat32(0, value);
  return word.getUint32(0);
}

function fromBits(bits: number): number {
  word.setUint32(0, bits);
  return word.getFloat32(0);
}

/** BF16 is the upper half of FP32. */
export function bf16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  const bits = bitsOf(value);
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

/** FP16: sign, 5 bits of exponent with bias 15, 10 bits of fraction. */
export function fp16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  // 65520 is half-way between the largest finite number and the next power of two.
  if (size >= 65520) return sign | 0x7c00;
  const exponent = Math.max(size === 0 ? -14 : Math.floor(Math.log2(size)), -14);
  // In units of the last place; a carry out of the fraction goes into the exponent, as it must.
  const units = roundToEven(size / 2 ** (exponent - 10));
  return sign | (units + (units >= 0x400 ? (exponent + 14) * 0x400 : 0));
}

function roundToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Numbers as little-endian BF16 elements. */
export function toBf16(values: ArrayLike<number>): Uint8Array<ArrayBuffer> {
  return narrow(values, bf16Bits);
}

/** Numbers as little-endian FP16 elements. */
export function toFp16(values: ArrayLike<number>): Uint8Array<ArrayBuffer> {
  return narrow(values, fp16Bits);
}

/** Little-endian BF16 elements as numbers. */
export function fromBf16(data: Uint8Array): Float32Array {
  return widen(data, (bits) => fromBits(bits * 0x10000));
}

/** Little-endian FP16 elements as numbers. */
export function fromFp16(data: Uint8Array): Float32Array {
  return widen(data, (bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >>> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
    return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (0x400 + fraction) * 2 ** (exponent - 25);
  });
}

function widen(data: Uint8Array, convert: (bits: number) => number): Float32Array {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return Float32Array.from({ length: Math.floor(data.byteLength / 2) }, (_, i) => convert(view.getUint16(2 * i, true)));
}

function narrow(values: ArrayLike<number>, convert: (value: number) => number): Uint8Array<ArrayBuffer> {
  const data = new Uint8Array(values.length * 2);
  const view = new DataView(data.buffer);
  for (let i = 0; i < values.length; i++) view.setUint16(2 * i, convert(values[i] ?? 0), true);
  return data;
}
