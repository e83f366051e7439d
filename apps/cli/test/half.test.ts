import { execFileSync } from 'node:child_process';
import { usePython } from '@nereid/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bf16Bits, fp16Bits, fromBf16, fromFp16 } from '../src/half.ts';

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

it('rounds as torch does', () => {
  const values = Float32Array.from([
    ...[
      0,
      -0,
      65_504,
      65_519.99,
      65_520,
      65_536,
      2 ** -24,
      2 ** -25,
      1.5 * 2 ** -25,
      6.1e-5,
      2049,
      2051,
      3.3895314e38,
      3.4e38,
    ],
    ...fc.sample(fc.float({ noNaN: true }), { numRuns: 2000, seed: 1 }),
    ...fc.sample(fc.float({ noNaN: true, min: -70_000, max: 70_000 }), { numRuns: 2000, seed: 2 }),
  ]);
  const script = [
    'import sys, torch',
    'x = torch.frombuffer(bytearray(sys.stdin.buffer.read()), dtype=torch.float32)',
    'for t in (torch.float16, torch.bfloat16): sys.stdout.buffer.write(bytes(x.to(t).view(torch.uint8).numpy()))',
  ].join('\n');
  const output = execFileSync(usePython(), ['-c', script], { input: new Uint8Array(values.buffer) });
  const expected = new Uint16Array(output.buffer.slice(output.byteOffset, output.byteOffset + output.byteLength));
  const ours = Uint16Array.from([...Array.from(values, fp16Bits), ...Array.from(values, bf16Bits)]);
  const wrong = [...ours].flatMap((bits, i) =>
    bits === expected[i] ? [] : [[values[i % values.length], bits, expected[i]]],
  );
  expect(wrong).toEqual([]);
});
