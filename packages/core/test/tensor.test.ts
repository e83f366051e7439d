import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DATATYPES,
  decodeBytes,
  describeTensor,
  elements,
  encodeBytes,
  expectedByteSize,
  InferenceServerError,
  isDatatype,
  type Tensor,
  tensorFrom,
} from '../src/index.ts';

const FIXED = Object.keys(DATATYPES)
  .filter(isDatatype)
  .filter((name) => name !== 'BYTES');

describe('elements', () => {
  it.each(FIXED)('views %s bytes without copying when they are aligned', (datatype) => {
    const { byteSize, array } = DATATYPES[datatype];
    const data = new Uint8Array(byteSize * 4).subarray(byteSize, byteSize * 3);
    const view = elements({ name: 'x', datatype, shape: [2], data });
    expect(view).toBeInstanceOf(array);
    expect(view).toHaveLength(2);
    expect(view.buffer).toBe(data.buffer);
    expect(view.byteOffset).toBe(data.byteOffset);
  });

  it.each([
    ['a Uint8Array', (size: number) => new Uint8Array(size)],
    ['a Buffer, whose own slice would be a view', (size: number) => Buffer.from(new ArrayBuffer(size))],
  ])('copies unaligned bytes of %s', (_, allocate) => {
    for (const offset of [1, 2, 3, 5, 7]) {
      const data = allocate(offset + 16).subarray(offset);
      new DataView(data.buffer, data.byteOffset).setFloat64(8, Math.PI, true);
      const view = elements({ name: 'x', datatype: 'FP64', shape: [2], data });
      expect([...view]).toEqual([0, Math.PI]);
      expect(view.buffer).not.toBe(data.buffer);
    }
  });

  it('gives the encoding itself for BYTES', () => {
    const data = encodeBytes(['ab']);
    expect([...elements({ name: 'x', datatype: 'BYTES', shape: [1], data })]).toEqual([2, 0, 0, 0, 97, 98]);
  });

  it('leaves out bytes after the last whole element', () => {
    expect(elements({ name: 'x', datatype: 'INT32', shape: [1], data: new Uint8Array(7) })).toHaveLength(1);
  });

  it('has the element type of the datatype', () => {
    const tensor = { name: 'x', datatype: 'INT64', shape: [1], data: new Uint8Array(8) } as const;
    const view: BigInt64Array = elements(tensor);
    expect(view[0]).toBe(0n);
  });
});

describe('tensorFrom', () => {
  it('views the part of the buffer that the typed array covers', () => {
    const values = Float32Array.of(0, 1, 2, 3).subarray(1, 3);
    const tensor = tensorFrom({ name: 'x', datatype: 'FP32', shape: [2] }, values);
    expect(tensor).toMatchObject({ name: 'x', datatype: 'FP32', shape: [2] });
    values[0] = 9;
    expect([...elements({ ...tensor, datatype: 'FP32' })]).toEqual([9, 2]);
  });
});

describe('the BYTES codec', () => {
  it('splits what it joined, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), (items) => {
        expect(decodeBytes(encodeBytes(items)).map((item) => [...item])).toEqual(items.map((item) => [...item]));
      }),
    );
  });

  it('writes strings as UTF-8', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 20 }), (items) => {
        expect(decodeBytes(encodeBytes(items)).map((item) => Buffer.from(item).toString('utf8'))).toEqual(items);
      }),
    );
  });

  it('has a 4-byte little-endian length before each element', () => {
    expect([...encodeBytes(['é', '', Uint8Array.of(7)])]).toEqual([2, 0, 0, 0, 0xc3, 0xa9, 0, 0, 0, 0, 1, 0, 0, 0, 7]);
  });

  it('gives views of the encoding, not copies', () => {
    const data = encodeBytes(['abc']);
    expect(decodeBytes(data)[0]?.buffer).toBe(data.buffer);
  });

  it('either splits random bytes without rest or refuses them with INVALID_ARG', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (data) => {
        try {
          expect([...encodeBytes(decodeBytes(data))]).toEqual([...data]);
        } catch (error) {
          expect(error).toBeInstanceOf(InferenceServerError);
          expect(error).toMatchObject({ code: 'INVALID_ARG' });
        }
      }),
    );
  });

  it.each([
    ['a length that is cut off', [1, 0], 'BYTES element 0 is cut off: it needs 4 bytes, 2 are left.'],
    [
      'an element that is cut off',
      [0, 0, 0, 0, 3, 0, 0, 0, 1],
      'BYTES element 1 is cut off: it needs 3 bytes, 1 are left.',
    ],
    ['a length above 2^31', [255, 255, 255, 255], 'BYTES element 0 is cut off: it needs 4294967295 bytes, 0 are left.'],
  ])('refuses %s', (_, data, message) => {
    expect(() => decodeBytes(Uint8Array.from(data))).toThrow(message);
  });
});

describe('expectedByteSize', () => {
  it.each([
    ['FP32', [2, 3], 24],
    ['FP64', [], 8],
    ['INT8', [0, 5], 0],
    ['BYTES', [2], undefined],
    ['INT64', [2 ** 31, 2 ** 31], 2 ** 65],
  ] as const)('of %s %j is %s', (datatype, shape, size) => {
    expect(expectedByteSize(datatype, shape)).toBe(size);
  });
});

describe('describeTensor', () => {
  it('shows name, datatype and shape', () => {
    const tensor: Tensor = { name: 'x', datatype: 'FP32', shape: [1, 3], data: new Uint8Array(12) };
    expect(describeTensor(tensor)).toBe("'x' FP32 [1,3]");
  });
});
