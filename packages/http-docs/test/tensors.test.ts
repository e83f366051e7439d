import { describe, expect, it } from 'vitest';
import { type Fill, fillText, firstShape, formatTensor, parseShape, summary } from '../src/page/tensors.ts';

describe('a shape', () => {
  it.each([
    ['1, 3', [1, 3]],
    ['[1,3]', [1, 3]],
    ['1x3', [1, 3]],
    [' 64 ', [64]],
    ['0', [0]],
    ['', []],
    ['[]', []],
  ])('is read from %j', (text, shape) => {
    expect(parseShape(text)).toEqual(shape);
  });

  it.each(['a', '-1', '1.5', '1,,a', '[1', '1]', '1e3', '9999999999999999'])('is not read from %j', (text) => {
    expect(parseShape(text)).toBeUndefined();
  });

  it('begins with 1 for each variable dimension', () => {
    expect(firstShape([-1, 3, -1])).toEqual([1, 3, 1]);
  });
});

describe('values to begin with', () => {
  it.each<[string, Fill, unknown]>([
    ['FP32', 'zeros', [0, 0, 0]],
    ['INT8', 'ones', [1, 1, 1]],
    ['UINT64', 'range', [0, 1, 2]],
    ['BOOL', 'range', [false, true, false]],
    ['BYTES', 'range', ['text 0', 'text 1', 'text 2']],
    ['BYTES', 'zeros', ['', '', '']],
  ])('of %s filled with %s', (datatype, fill, values) => {
    expect(JSON.parse(fillText(datatype, 3, fill))).toEqual(values);
  });

  it('stay within INT8 however many there are, and are of every kind at random', () => {
    const many = JSON.parse(fillText('INT8', 1000, 'range')) as number[];
    expect([Math.min(...many), Math.max(...many)]).toEqual([0, 127]);
    const random = (datatype: string) => new Set(JSON.parse(fillText(datatype, 200, 'random')) as unknown[]);
    expect(random('BOOL')).toEqual(new Set([true, false]));
    expect(random('UINT8')).toEqual(new Set([0, 1]));
    expect(random('FP64').size).toBeGreaterThan(100);
  });
});

describe('an output', () => {
  it('is shown by its shape', () => {
    expect(formatTensor({ datatype: 'INT32', shape: [2, 2], data: [1, 2, 3, 4] })).toBe('[[1, 2],\n [3, 4]]');
    expect(formatTensor({ datatype: 'BYTES', shape: [1], data: ['<b>"x"'] })).toBe('["<b>\\"x\\""]');
    expect(formatTensor({ datatype: 'BOOL', shape: [], data: [true] })).toBe('true');
    expect(formatTensor({ datatype: 'FP64', shape: [0], data: [] })).toBe('[]');
  });

  it('is cut in the middle of long axes', () => {
    const data = Array.from({ length: 40 }, (_, index) => index);
    expect(formatTensor({ datatype: 'INT32', shape: [40], data })).toBe(
      '[0, 1, 2, 3, 4, 5, 6, 7, …, 32, 33, 34, 35, 36, 37, 38, 39]',
    );
  });

  it('has the digits of its precision', () => {
    const data = [Math.fround(0.1), Math.fround(1 / 3), Math.fround(16777217), 1e-30];
    const shown = formatTensor({ datatype: 'FP32', shape: [4], data });
    expect(shown).toBe('[0.1, 0.33333334, 16777216, 1e-30]');
    for (const [index, text] of shown.slice(1, -1).split(', ').entries())
      expect(Math.fround(Number(text))).toBe(Math.fround(data[index] ?? 0));
    expect(formatTensor({ datatype: 'FP64', shape: [1], data: [1 / 3] })).toBe('[0.3333333333333333]');
  });

  it('is summed up where it is numbers', () => {
    expect(summary({ datatype: 'FP32', shape: [3], data: [1, 4, 1] })).toBe('least 1 · greatest 4 at 1 · mean 2');
    expect(summary({ datatype: 'BYTES', shape: [2], data: ['a', 'b'] })).toBeUndefined();
    expect(summary({ datatype: 'FP32', shape: [1], data: [1] })).toBeUndefined();
    const odd = { datatype: 'FP64', shape: [3], data: [Number.NaN, 1, -Infinity] };
    expect([formatTensor(odd), summary(odd)]).toEqual(['[NaN, 1, -Infinity]', '2 of 3 values are no finite numbers']);
  });
});
