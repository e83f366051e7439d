import { DATATYPES, isDatatype } from '@nereid/core';
import { valuesOf } from '@nereid/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonTensor } from '../src/infer/json-tensor.ts';
import { parseJson } from '../src/infer/json-value.ts';
import { randomFrom, randomTensor } from '../src/infer/random.ts';

describe('JSON text', () => {
  it('reads as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const parsed = JSON.stringify(parseJson(text), (_, value) =>
          typeof value === 'bigint' ? Number(value) : value,
        );
        expect(JSON.parse(parsed)).toEqual(JSON.parse(text));
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  it.each<[string, unknown]>([
    [
      '[9007199254740993, -9223372036854775808, 18446744073709551615]',
      [9007199254740993n, -9223372036854775808n, 18446744073709551615n],
    ],
    ['[NaN, Infinity, -Infinity]', [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
    ['["NaN", "9007199254740993", "\\"-Infinity"]', ['NaN', '9007199254740993', '"-Infinity']],
    ['[0.1234567890123456, 1000000000000000000e2, 9007199254740991]', [0.1234567890123456, 1e20, 9007199254740991]],
  ])('keeps what a number cannot hold, and only that: %s', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  it.each(['', '[1,', '[nan]', '[01]', '{"a"}'])('that is none is an error: %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

describe('the shape of a JSON value', () => {
  it.each<[rule: string, value: unknown, declared: number[], shape: number[]]>([
    ['is its nesting', [[1, 2, 3]], [-1, 3], [1, 3]],
    ['is its nesting, also when the model wants another size: the server says so', [[1, 2]], [-1, 3], [1, 2]],
    [
      'is one row of a batch with one level less',
      [
        [1, 2],
        [3, 4],
      ],
      [-1, 2, 2],
      [1, 2, 2],
    ],
    ['is the declared one for a flat list', [1, 2, 3, 4], [2, 2], [2, 2]],
    ['is the declared one with its open size, for a flat list', [1, 2, 3, 4, 5, 6], [-1, 3], [2, 3]],
    ['is that of one element for a bare value', 1, [-1, 1], [1, 1]],
    ['is none for a scalar', 1, [], []],
    ['may have a size of 0', [], [-1], [0]],
    ['may be empty inside', [[], []], [-1, -1], [2, 0]],
  ])('%s', (_, value, declared, shape) => {
    expect(jsonTensor({ name: 'x', datatype: 'FP32', shape: declared }, value).shape).toEqual(shape);
  });

  it.each<[value: unknown, declared: number[], message: string]>([
    [[1, 2], [-1, 3], "its shape [2] is none of the model's [-1,3]; nest the lists accordingly"],
    [[1, 2], [-1, -1, 2], "its shape [2] is none of the model's [-1,-1,2]"],
    [[[1], [2, 3]], [-1, 2], 'its lists are of different lengths; nest them like the tensor, or give one flat list'],
    [[1, [2]], [-1], 'its lists are of different lengths'],
  ])('%j for %j cannot be told', (value, shape, message) => {
    expect(() => jsonTensor({ name: 'x', datatype: 'FP32', shape }, value)).toThrow(`value of input 'x': ${message}`);
  });
});

describe('the elements of a JSON value', () => {
  const convert = (datatype: string, values: unknown[]) => {
    if (!isDatatype(datatype)) throw new TypeError(datatype);
    return valuesOf(jsonTensor({ name: 'x', datatype, shape: [-1] }, values));
  };

  it.each<[datatype: string, given: unknown[], stored: unknown[]]>([
    ['BOOL', [true, false, 1, 0], [1, 0, 1, 0]],
    ['UINT8', [0, 255], [0, 255]],
    ['INT8', [-128, 127], [-128, 127]],
    ['UINT16', [65_535], [65_535]],
    ['INT16', [-32_768], [-32_768]],
    ['UINT32', [4_294_967_295], [4_294_967_295]],
    ['INT32', [-2_147_483_648], [-2_147_483_648]],
    ['INT64', [-1, 9007199254740993n, -(2n ** 63n)], [-1n, 9007199254740993n, -(2n ** 63n)]],
    ['UINT64', [1, 2n ** 64n - 1n], [1n, 2n ** 64n - 1n]],
    ['FP32', [1.5, -2, 2n ** 60n], [1.5, -2, 2 ** 60]],
    ['FP64', [0.1, Number.NaN, Number.POSITIVE_INFINITY], [0.1, Number.NaN, Number.POSITIVE_INFINITY]],
    ['FP16', [1, -2], [0x3c00, 0xc000]],
    ['BF16', [1, -2], [0x3f80, 0xc000]],
    ['BYTES', ['a', 'ü', ''], ['a', 'ü', '']],
  ])('become %s', (datatype, given, stored) => {
    expect(convert(datatype, given)).toEqual(stored);
  });

  it.each<[datatype: string, element: unknown, message: string]>([
    ['BOOL', 2, 'element 0 is 2, which is no BOOL'],
    ['UINT8', 256, 'element 0 is 256, which is no UINT8'],
    ['UINT8', -1, 'element 0 is -1, which is no UINT8'],
    ['INT32', 1.5, 'element 0 is 1.5, which is no INT32'],
    ['INT64', 2n ** 63n, 'element 0 is 9223372036854775808, which is no INT64'],
    ['UINT64', -1, 'element 0 is -1, which is no UINT64'],
    ['FP32', 'a', 'element 0 is "a", which is no FP32'],
    ['FP32', true, 'element 0 is true, which is no FP32'],
    ['FP16', null, 'element 0 is null, which is no FP16'],
    ['FP32', { a: 1 }, 'element 0 is an object, which is no FP32'],
    ['BYTES', 1, 'element 0 is 1; BYTES take strings'],
  ])('are refused when they do not fit %s: %s', (datatype, element, message) => {
    expect(() => convert(datatype, [element])).toThrow(`value of input 'x': ${message}`);
  });
});

describe('random tensors', () => {
  const draw = (seed: number, datatype: keyof typeof DATATYPES = 'FP32') =>
    randomTensor({ name: 'x', datatype, shape: [-1, 3, -1] }, { batch: 2, random: randomFrom(seed) });

  it('are the same for the same seed, and others for another', () => {
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1).data).not.toEqual(draw(2).data);
  });

  it('have the batch in front and 4 elsewhere', () => {
    expect(draw(0).shape).toEqual([2, 3, 4]);
  });

  it.each(Object.keys(DATATYPES).filter(isDatatype))('exist for %s', (datatype) => {
    expect([...valuesOf(draw(0, datatype))]).toHaveLength(24);
  });

  it('are spread evenly from 0 to 1 before they are scaled', () => {
    const random = randomFrom(7);
    const counts = new Array<number>(10).fill(0);
    for (let i = 0; i < 10_000; i++) {
      const tenth = Math.floor(random() * 10);
      counts[tenth] = (counts[tenth] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });

  it('need a variable first dimension for a batch', () => {
    const fixed = { name: 'x', datatype: 'FP32', shape: [1, 4] } as const;
    expect(() => randomTensor(fixed, { batch: 2, random: randomFrom(0) })).toThrow(
      "--batch 2: input 'x' has no variable first dimension (shape [1, 4])",
    );
  });
});
