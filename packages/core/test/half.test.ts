import { describe, expect, it } from 'vitest';
import { bf16Bits, fp16Bits, fromBf16, fromFp16, toBf16, toFp16 } from '../src/index.ts';

const everyPattern = new Uint16Array(65_536).map((_, bits) => bits);
const bytes = new Uint8Array(everyPattern.buffer);

describe.each([
  { format: 'FP16', toBits: fp16Bits, widen: fromFp16 },
  { format: 'BF16', toBits: bf16Bits, widen: fromBf16 },
])('$format', ({ toBits, widen }) => {
  it('gives every number back that it can hold', () => {
    const wrong = [...widen(bytes)].filter((value, bits) => !Number.isNaN(value) && toBits(value) !== bits);
    expect(wrong).toEqual([]);
  });

  it('keeps NaN', () => {
    const bits = Uint16Array.of(toBits(Number.NaN));
    expect([...widen(new Uint8Array(bits.buffer))]).toEqual([Number.NaN]);
  });
});

it('rounds to the nearest, ties to even, and to infinity beyond half a place above the largest', () => {
  expect(Array.from([2049, 2051, 65_519.99, 65_520, 2 ** -25, 1.5 * 2 ** -25], fp16Bits)).toEqual([
    0x6800, 0x6802, 0x7bff, 0x7c00, 0, 1,
  ]);
  expect(Array.from([1, 1 + 2 ** -8, 1 + 3 * 2 ** -8, -0, 3.4e38], bf16Bits)).toEqual([
    0x3f80, 0x3f80, 0x3f82, 0x8000, 0x7f80,
  ]);
});

it('turns lists into little-endian elements and back', () => {
  expect([...toFp16([1, -2])]).toEqual([0, 0x3c, 0, 0xc0]);
  expect([...toBf16([1, -2])]).toEqual([0x80, 0x3f, 0, 0xc0]);
  expect([...fromFp16(toFp16([0.5, -65_504]))]).toEqual([0.5, -65_504]);
});
