import { execFileSync } from 'node:child_process';
import { bf16Bits, fp16Bits } from '@nereid/core';
import { usePython } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { type Datatype, decodeBytes, tensor, valuesOf } from '../src/index.ts';

describe('tensor', () => {
  it('views typed arrays, and takes their shape for one dimension', () => {
    const values = Float32Array.of(1, 2);
    const made = tensor({ name: 'x', datatype: 'FP32', values });
    expect(made.shape).toEqual([2]);
    expect(made.data.buffer).toBe(values.buffer);
  });

  it('takes bit patterns of FP16 and BF16 as they are', () => {
    const bits = Uint16Array.of(0x3c00, 0x7e01);
    expect(tensor({ name: 'x', datatype: 'FP16', values: bits }).data.buffer).toBe(bits.buffer);
  });

  it.each<[Datatype, unknown, string]>([
    ['INT8', [128], "value 0 of 'x' is 128, which is no INT8"],
    ['UINT8', [0, -1], "value 1 of 'x' is -1, which is no UINT8"],
    ['INT32', [1.5], "value 0 of 'x' is 1.5, which is no INT32"],
    ['INT64', [2 ** 53], "value 0 of 'x' is 9007199254740992, which is no INT64"],
    ['UINT64', [-1n], "value 0 of 'x' is -1, which is no UINT64"],
    ['BOOL', [2], "value 0 of 'x' is 2, which is no BOOL"],
    ['FP32', Float64Array.of(1), "the values of 'x' are a Float64Array, FP32 takes Float32Array"],
    ['FP32', [true], "value 0 of 'x' is true, which is no FP32"],
  ])('refuses what is no %s: %s', (datatype, values, message) => {
    const init = { name: 'x', datatype, values } as Parameters<typeof tensor>[0];
    expect(() => tensor(init)).toThrow(message);
  });

  it('refuses a number of values that is not that of the shape', () => {
    expect(() => tensor({ name: 'x', datatype: 'FP32', shape: [2, 2], values: [1, 2, 3] })).toThrow(
      "tensor 'x' has 3 values, its shape [2,2] takes 4",
    );
  });
});

describe('valuesOf', () => {
  it('copes with any alignment', () => {
    const data = new Uint8Array(9).subarray(1);
    data.set(new Uint8Array(Float64Array.of(0.1).buffer));
    expect(valuesOf({ name: 'x', datatype: 'FP64', shape: [1], data })).toEqual(Float64Array.of(0.1));
  });

  it('leaves bytes that are no text to decodeBytes', () => {
    const made = tensor({ name: 'x', datatype: 'BYTES', values: [Uint8Array.of(255, 0)] });
    expect(valuesOf(made)).toEqual(['\ufffd\u0000']);
    expect(decodeBytes(made.data)).toEqual([Uint8Array.of(255, 0)]);
  });
});

/** Numbers of every size up to `max`, the same each time. */
function sample(count: number, max: number): number[] {
  return Array.from(
    { length: count },
    (_, i) => (i % 2 === 0 ? 1 : -1) * max ** (1 - (2 * i) / count) * (1 + Math.sin(i)),
  );
}

it('rounds FP16 and BF16 as torch does', () => {
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
    ...sample(2000, 3.4e38),
    ...sample(2000, 70_000),
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
