import { type Datatype, decodeBytes, elementCount, elements, encodeBytes } from '@nereid/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonSpan } from '../src/json-reader.ts';
import { decodeJsonTensor } from '../src/json-tensor.ts';
import { DEFAULT_LIMITS } from '../src/limits.ts';
import { tensorText } from '../src/tensor-text.ts';

interface Case {
  readonly datatype: Datatype;
  readonly shape: readonly number[];
  readonly data: string;
}

function decode({ datatype, shape, data }: Case, limits = DEFAULT_LIMITS): Uint8Array {
  const text = Buffer.from(data);
  return new Uint8Array(
    decodeJsonTensor({ name: 'x', datatype, shape, text, span: new JsonSpan(0, text.length), limits }),
  );
}

function valuesOf(test: Case): unknown[] {
  return [...elements({ name: 'x', datatype: test.datatype, shape: test.shape, data: decode(test) })];
}

describe('decodeJsonTensor', () => {
  it.each<[Datatype, string, unknown[]]>([
    ['BOOL', '[true,false]', [1, 0]],
    ['UINT8', '[0, 255]', [0, 255]],
    ['UINT16', '[0,65535]', [0, 65535]],
    ['UINT32', '[0,4294967295]', [0, 4294967295]],
    ['UINT64', '[9007199254740993,18446744073709551615]', [9007199254740993n, 18446744073709551615n]],
    ['INT8', '[-128,127]', [-128, 127]],
    ['INT16', '[-32768,32767]', [-32768, 32767]],
    ['INT32', '[-2147483648,2147483647]', [-2147483648, 2147483647]],
    ['INT64', '[-9223372036854775808,9223372036854775807]', [-9223372036854775808n, 9223372036854775807n]],
    ['INT64', '[-1,-4294967297]', [-1n, -4294967297n]],
    ['FP32', '[0.1,1e-3]', [Math.fround(0.1), Math.fround(0.001)]],
    ['FP64', '[5e-324,-1.7976931348623157e308]', [5e-324, -Number.MAX_VALUE]],
    ['FP64', '[9007199254740993,1E2]', [9007199254740992, 100]],
    ['FP32', '[3.5e38,-0.0]', [Number.POSITIVE_INFINITY, -0]],
    ['FP32', '[NaN,Infinity]', [Number.NaN, Number.POSITIVE_INFINITY]],
    ['FP64', '[-Infinity,Inf]', [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]],
  ])('reads %s %s', (datatype, data, expected) => {
    expect(valuesOf({ datatype, shape: [2], data })).toEqual(expected);
  });

  it.each<[Datatype, string, unknown]>([
    ['INT8', '[300]', 44],
    ['UINT8', '[256]', 0],
    ['INT16', '[-32769]', 32767],
    ['UINT32', '[4294967297]', 1],
    ['INT32', '[9007199254740993]', 1],
    ['UINT16', '[18446744073709551615]', 65535],
  ])('keeps the low bytes of an integer out of range: %s %s', (datatype, data, expected) => {
    expect(valuesOf({ datatype, shape: [1], data })).toEqual([expected]);
  });

  it.each<[Datatype, string]>([
    ['BOOL', '[1]'],
    ['BOOL', '["true"]'],
    ['UINT8', '[-1]'],
    ['UINT64', '[-9223372036854775808]'],
    ['UINT64', '[18446744073709551616]'],
    ['INT64', '[9223372036854775808]'],
    ['INT32', '[1.5]'],
    ['INT32', '[1.0]'],
    ['INT64', '[1e3]'],
    ['INT32', '[NaN]'],
    ['INT32', '["1"]'],
    ['INT32', '[null]'],
    ['FP32', '["1"]'],
    ['FP32', '[true]'],
    ['FP64', '[1e400]'],
    ['FP64', '[{}]'],
    ['FP64', '[null]'],
    ['BYTES', '[1]'],
    ['BYTES', '[null]'],
  ])('refuses %s %s and names tensor and element', (datatype, data) => {
    const message = `Unable to parse 'data' of input 'x': element 0 is no ${datatype} value: ${data.slice(1, -1)}`;
    expect(() => decode({ datatype, shape: [1], data })).toThrow(message);
  });

  it.each(['1', '{"a":[1]}', 'null', '"x"'])('refuses data that is no array: %s', (data) => {
    expect(() => decode({ datatype: 'FP32', shape: [1], data })).toThrow("Unable to parse 'data' of input 'x'");
  });

  it.each<[string, Datatype]>([
    ['FP16', 'FP16'],
    ['BF16', 'BF16'],
  ])('refuses %s whatever the data', (_, datatype) => {
    expect(() => decode({ datatype, shape: [0], data: '[]' })).toThrow(
      `receiving ${datatype} data via JSON is not supported; send input 'x' as binary data`,
    );
  });

  it.each<Datatype>(['INT8', 'INT64', 'UINT64', 'UINT32'])(
    'refuses an integer of %s with a million digits',
    (datatype) => {
      for (const sign of datatype.startsWith('U') ? [''] : ['', '-'])
        expect(() => decode({ datatype, shape: [1], data: `[${sign}${'9'.repeat(1_000_000)}]` })).toThrow(
          `element 0 is no ${datatype} value: ${sign}99`,
        );
    },
  );

  it.each([
    ['[1,2]', "it takes 3 elements, 'data' holds 2"],
    ['[1,2,3,4]', 'it holds more than 3 elements'],
    ['[]', 'it takes 3 elements'],
    ['[[1],[[2]],[[3,4]]]', 'it holds more than 3 elements'],
  ])('compares the number of elements with the shape: %s', (data, why) => {
    expect(() => decode({ datatype: 'INT32', shape: [3, 1], data })).toThrow(
      `Shape does not match true shape of 'data' field of input 'x', shape [3,1]: ${why}`,
    );
  });

  it.each(['[1,2,3,4]', '[[1,2],[3,4]]', '[[1],[2,3],[[[4]]]]', '[[],1,[[]],2,3,4]', ' [ 1 , 2 ,\n3,\t4 ] '])(
    'takes any nesting: %s',
    (data) => {
      expect(valuesOf({ datatype: 'INT32', shape: [2, 2], data: data.trim() })).toEqual([1, 2, 3, 4]);
    },
  );

  it('takes nesting to depth 100 and no further', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}7${']'.repeat(depth)}`;
    expect(valuesOf({ datatype: 'INT32', shape: [1], data: nested(100) })).toEqual([7]);
    expect(() => decode({ datatype: 'INT32', shape: [1], data: nested(101) })).toThrow('nested deeper than 100 levels');
  });

  it('reads strings as UTF-8 with their length in front, escapes resolved', () => {
    const data = decode({ datatype: 'BYTES', shape: [4], data: '["", "h\\u00e9llo", ["a\\u0000b\\"]"], "é😀"]' });
    expect(data).toEqual(encodeBytes(['', 'héllo', 'a\0b"]', 'é😀']));
  });

  it('passes bytes of a string that are no UTF-8 through unchanged, as the answer does', () => {
    const text = Buffer.from('["\xff\xfe\x80"]', 'latin1');
    const data = decodeJsonTensor({
      name: 'x',
      datatype: 'BYTES',
      shape: [1],
      text,
      span: new JsonSpan(0, text.length),
      limits: DEFAULT_LIMITS,
    });
    expect(decodeBytes(data)).toEqual([Buffer.from([0xff, 0xfe, 0x80])]);
    expect(Buffer.from(tensorText({ name: 'x', datatype: 'BYTES', shape: [1], data }), 'latin1')).toEqual(text);
  });

  it('refuses a tensor whose bytes exceed the limit, and says how to raise it', () => {
    const limits = { ...DEFAULT_LIMITS, maxJsonTensorBytes: 8, advice: 'Raise it.' };
    expect(() => decode({ datatype: 'FP64', shape: [2], data: '[1,2]' }, limits)).toThrow(
      "input 'x' has 16 bytes, more than the limit of 8. Raise it.",
    );
    expect(() => decode({ datatype: 'BYTES', shape: [1], data: '["12345"]' }, limits)).toThrow(
      'more than the limit of 8',
    );
  });

  it('allocates nothing for a shape that promises more elements than the text can hold', () => {
    const limits = { ...DEFAULT_LIMITS, maxJsonTensorBytes: Number.POSITIVE_INFINITY };
    expect(() => decode({ datatype: 'FP64', shape: [2 ** 49], data: '[1,2]' }, limits)).toThrow('Shape does not match');
  });

  it('reads every double and float as JSON.parse does, however it is written', () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.float({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc
        .tuple(fc.bigInt(-(10n ** 22n), 10n ** 22n), fc.nat(1000), fc.integer({ min: -40, max: 40 }))
        .map(([whole, part, exponent]) => `${whole}.${part}e${exponent}`),
      fc
        .tuple(fc.nat(), fc.bigInt(0n, 10n ** 18n))
        .map(([whole, part]) => `${whole}.${String(part).padStart(18, '0')}`),
      fc.integer().map(String),
    );
    fc.assert(
      fc.property(fc.array(number, { maxLength: 20 }), (texts) => {
        const data = `[${texts.join(',')}]`;
        const expected: number[] = JSON.parse(data);
        expect(valuesOf({ datatype: 'FP64', shape: [texts.length], data })).toEqual(expected);
        expect(valuesOf({ datatype: 'FP32', shape: [texts.length], data })).toEqual([...Float32Array.from(expected)]);
      }),
      { seed: 3, numRuns: 500 },
    );
  });
});

describe('tensorText', () => {
  it.each<[Datatype, ArrayBufferView, string]>([
    ['BOOL', Uint8Array.of(1, 0), '[true,false]'],
    ['UINT8', Uint8Array.of(0, 255), '[0,255]'],
    ['INT8', Int8Array.of(-128, 127), '[-128,127]'],
    ['UINT16', Uint16Array.of(65535), '[65535]'],
    ['INT16', Int16Array.of(-32768), '[-32768]'],
    ['UINT32', Uint32Array.of(4294967295), '[4294967295]'],
    ['INT32', Int32Array.of(-2147483648), '[-2147483648]'],
    ['UINT64', BigUint64Array.of(18446744073709551615n, 9007199254740991n), '[18446744073709551615,9007199254740991]'],
    [
      'INT64',
      BigInt64Array.of(-9223372036854775808n, 9007199254740993n, -1n),
      '[-9223372036854775808,9007199254740993,-1]',
    ],
    ['FP32', Float32Array.of(0.1, 1, -0, 3e38), '[0.10000000149011612,1.0,-0.0,3.0000000054977558e+38]'],
    ['FP32', Float32Array.of(0.5, -2.25), '[0.5,-2.25]'],
    ['FP32', Float32Array.of(Number.NaN, Infinity, -Infinity), '[NaN,Infinity,-Infinity]'],
    ['FP64', Float64Array.of(0.1, -1e300, 5e-324, 1e20, 1e21), '[0.1,-1e+300,5e-324,100000000000000000000.0,1e+21]'],
    ['FP64', new Float64Array(), '[]'],
    ['BYTES', encodeBytes(['a"b', '', '\n']), '["a\\"b","","\\n"]'],
  ])('prints %s %s as %s', (datatype, values, expected) => {
    const data = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    expect(tensorText({ name: 'y', datatype, shape: [1], data })).toBe(expected);
  });

  it.each<[string, Datatype]>([
    ['FP16', 'FP16'],
    ['BF16', 'BF16'],
  ])('refuses %s', (_, datatype) => {
    expect(() => tensorText({ name: 'y', datatype, shape: [0], data: new Uint8Array() })).toThrow(
      `sending ${datatype} data via JSON is not supported; request output 'y' as binary data`,
    );
  });

  it('prints what decodeJsonTensor reads back, for every datatype with a JSON form', () => {
    const values: Record<Exclude<Datatype, 'FP16' | 'BF16'>, fc.Arbitrary<ArrayBufferView>> = {
      BOOL: fc.uint8Array({ max: 1 }),
      UINT8: fc.uint8Array(),
      UINT16: fc.uint16Array(),
      UINT32: fc.uint32Array(),
      UINT64: fc.bigUint64Array(),
      INT8: fc.int8Array(),
      INT16: fc.int16Array(),
      INT32: fc.int32Array(),
      INT64: fc.bigInt64Array(),
      FP32: fc.float32Array({ noNaN: true }),
      FP64: fc.float64Array({ noNaN: true }),
      BYTES: fc.array(fc.string({ unit: 'grapheme' })).map((items) => encodeBytes(items)),
    };
    for (const [name, arbitrary] of Object.entries(values)) {
      const datatype = name as keyof typeof values;
      fc.assert(
        fc.property(arbitrary, (view) => {
          const data = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
          const count =
            datatype === 'BYTES' ? decodeBytes(data).length : elements({ name, datatype, shape: [], data }).length;
          const shape = [count];
          const text = tensorText({ name: 'x', datatype, shape, data });
          expect(decode({ datatype, shape, data: Buffer.from(text, 'latin1').toString() })).toEqual(
            new Uint8Array(data),
          );
          expect(elementCount(shape)).toBe(count);
        }),
        { seed: 4, numRuns: 60 },
      );
    }
  });
});
