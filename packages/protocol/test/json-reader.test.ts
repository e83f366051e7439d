import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtocolError } from '../src/index.ts';
import { JsonReader, JsonReal, type JsonValue } from '../src/json-reader.ts';

function read(text: string | Buffer, limits = { maxDepth: 100, maxValues: 1000 }): JsonValue {
  const reader = new JsonReader(Buffer.from(text), limits);
  const value = reader.value();
  reader.finish();
  return value;
}

/** Maps to objects, reals to numbers: what `JSON.parse` would give. */
function plain(value: JsonValue): unknown {
  if (value instanceof JsonReal) return value.value;
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  return value;
}

describe('JsonReader', () => {
  it('agrees with JSON.parse on every document that this one can read without loss', () => {
    const document = fc.json({ maxDepth: 6 }).filter((text) => !/-0\b/.test(text));
    fc.assert(
      fc.property(document, fc.constantFrom(0, 2), (text, indent) => {
        const value = JSON.parse(text);
        expect(plain(read(JSON.stringify(value, null, indent)))).toEqual(value);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  it('accepts exactly the texts that JSON.parse accepts, words for non-finite numbers apart', () => {
    const character = fc.constantFrom(...'{}[],:"\\utrefalsn0123456789.-+ \nE', '\u0001', 'é');
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 12 }), (text) => {
        const accepted = accepts(() => JSON.parse(text));
        const ours = accepts(() => read(text));
        const isLoneSurrogate = /\\u/i.test(text);
        if (!isLoneSurrogate) expect(ours).toBe(accepted);
      }),
      { seed: 2, numRuns: 3000 },
    );
  });

  it.each([
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
    ['18446744073709551615', 18446744073709551615n],
    ['9007199254740991', 9007199254740991],
    ['-0', 0],
  ])('keeps the integer %s exact', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it.each([
    ['1.0', 1],
    ['1e3', 1000],
    ['18446744073709551616', 2 ** 64],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['Inf', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['-Inf', Number.NEGATIVE_INFINITY],
  ])('tells %s from an integer', (text, expected) => {
    expect(read(text)).toEqual(new JsonReal(expected));
  });

  it('takes the first of a repeated key', () => {
    expect(plain(read('{"a":1,"b":2,"a":{"c":[3]}}'))).toEqual({ a: 1, b: 2 });
  });

  it.each([
    ['"\\u00e9\\n\\"\\\\\\/\\b\\f\\r\\t"', 'é\n"\\/\b\f\r\t'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"😀é"', '😀é'],
    ['"a\\u0000b"', 'a\0b'],
  ])('resolves the escapes of %s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it.each([
    ['', 'expected a value, found the end at offset 0'],
    ['{"a" 1}', "expected ':', found '1' at offset 5"],
    ['[1 2]', "expected ',' or ']', found '2' at offset 3"],
    ['{"a":1 "b"}', "expected ',' or '}', found '\"' at offset 7"],
    ['{a:1}', "expected a member name, found 'a' at offset 1"],
    ['[1]x', "expected the end, found 'x' at offset 3"],
    ['[01]', "expected ',' or ']', found '1' at offset 2"],
    ['[1.]', "expected a digit, found ']' at offset 3"],
    ['[+1]', "expected a value, found '+' at offset 1"],
    ['1e400', 'a number is too big, found the end at offset 5'],
    ['"\\ud800"', "a surrogate without its partner is refused, found '\"' at offset 7"],
    ['"\\udc00"', "a surrogate without its partner is refused, found '\"' at offset 7"],
    ['"\\x"', "expected an escape sequence, found 'x' at offset 2"],
    ['"\\u12g4"', "expected four hexadecimal digits, found '1' at offset 3"],
    ['"abc', 'expected a closing quote; control characters must be escaped, found the end at offset 4'],
  ])('refuses %j', (text, message) => {
    expect(() => read(text)).toThrow(`failed to parse the request JSON buffer: ${message}`);
  });

  it('refuses nesting beyond the limit, whether read or skipped, without exhausting the stack', () => {
    const deep = '['.repeat(10_000) + ']'.repeat(10_000);
    expect(() => read(deep)).toThrow('nesting deeper than 100 levels is refused');
    expect(() => new JsonReader(Buffer.from(deep), { maxDepth: 100, maxValues: 9 }).skip()).toThrow(ProtocolError);
    expect(() => read('['.repeat(100) + ']'.repeat(100))).not.toThrow();
  });

  it('refuses more values than the limit', () => {
    expect(() => read('[1,2,3]', { maxDepth: 9, maxValues: 3 })).toThrow('the JSON header holds too many values');
    expect(() => read('[1,2,3]', { maxDepth: 9, maxValues: 4 })).not.toThrow();
  });
});

function accepts(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof ProtocolError)) throw error;
    return false;
  }
}
