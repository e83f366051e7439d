/**
 * JSON `data` → tensor bytes, in one pass over the text and without an intermediate array. The syntax was checked when the span was made, so
 * this scan only tells elements, brackets and separators apart.
 */
import { DATATYPES, type Datatype, elementCount, formatShape, type Shape } from '@nereid/core';
import { allocate, latin1, utf8 } from './bytes.ts';
import { ProtocolError } from './errors.ts';
import type { JsonSpan } from './json-reader.ts';
import { isDigit, numberFrom, unescapeInto } from './json-scan.ts';
import { assertWithin, type ProtocolLimits } from './limits.ts';

export interface JsonTensorSource {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: Shape;
  /** Text that holds the span, e.g. the JSON header. */
  readonly text: Uint8Array;
  /** The value of `data`. */
  readonly span: JsonSpan;
  /** Whether a single value may stand for an array of one. Default false. */
  readonly takesScalar?: boolean;
  readonly limits: ProtocolLimits;
}

/** Stores the element that starts at `pos`; the offset behind it, or `REFUSED` when it does not suit the datatype. */
type ElementReader = (pos: number, index: number) => number;

const REFUSED = -1;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;

/**
 * Reads the elements of a tensor from JSON. Arrays may be nested in any way; only the number of elements is compared with the shape.
 * Integers narrower than 64 bits keep their low bytes, as the original does.
 *
 * @returns the tensor's bytes, newly allocated; BYTES elements with their length in front
 * @throws {ProtocolError} `not-json` for FP16 and BF16, `bad-data` for elements of another type or number, `limit` when too large
 */
export function decodeJsonTensor(source: JsonTensorSource): Uint8Array {
  const { datatype, name, span, text, takesScalar = false } = source;
  if (datatype === 'FP16' || datatype === 'BF16') {
    throw new ProtocolError(
      'not-json',
      `receiving ${datatype} data via JSON is not supported; send input '${name}' as binary data`,
    );
  }
  if (text[span.start] !== OPEN_BRACKET && !takesScalar) throw badData(source, 'it must be an array');
  const count = elementCount(source.shape);
  // Two bytes of text are the least an element takes, so a shape that promises more never causes an allocation.
  if (count > span.end - span.start) throw tooFew(source, 'fewer');
  if (datatype === 'BYTES') return decodeStrings(source, count);
  const bytes = count * DATATYPES[datatype].byteSize;
  assertWithin({ what: `input '${name}'`, bytes, limit: source.limits.maxJsonTensorBytes, limits: source.limits });
  const data = allocate(bytes);
  readElements(source, count, elementReader(source, data));
  return data;
}

function readElements(source: JsonTensorSource, count: number, read: ElementReader): void {
  const { text, span, limits } = source;
  let depth = 0;
  let index = 0;
  for (let pos = span.start; pos < span.end; ) {
    const byte = text[pos] ?? 0;
    if (byte <= 0x20 || byte === COMMA) pos++;
    else if (byte === OPEN_BRACKET) {
      if (++depth > limits.maxJsonDepth)
        throw badData(source, `it is nested deeper than ${limits.maxJsonDepth} levels`);
      pos++;
    } else if (byte === CLOSE_BRACKET) {
      depth--;
      pos++;
    } else {
      if (index === count) throw tooMany(source);
      const next = read(pos, index);
      if (next === REFUSED) throw wrongType(source, index, pos);
      index++;
      pos = next;
    }
  }
  if (index < count) throw tooFew(source, String(index));
}

function elementReader(source: JsonTensorSource, data: Uint8Array<ArrayBuffer>): ElementReader {
  const { text, datatype } = source;
  if (datatype === 'BOOL') return (pos, index) => readBool(text, pos, data, index);
  if (datatype === 'UINT64' || datatype === 'INT64') return wideReader(text, data, datatype === 'UINT64');
  const view = viewOf(datatype, data);
  if (datatype === 'FP32' || datatype === 'FP64') return realReader(text, view);
  return narrowReader(text, view, datatype.startsWith('U'));
}

type NumberArray = Exclude<InstanceType<(typeof DATATYPES)[Datatype]['array']>, BigInt64Array | BigUint64Array>;

function viewOf(datatype: Exclude<Datatype, 'INT64' | 'UINT64'>, data: Uint8Array<ArrayBuffer>): NumberArray {
  const { array, byteSize } = DATATYPES[datatype];
  // What is allocated is aligned.
  return new array(data.buffer, data.byteOffset, data.byteLength / Math.max(byteSize, 1));
}

function readBool(text: Uint8Array, pos: number, data: Uint8Array, index: number): number {
  const first = text[pos];
  if (first === 0x74) {
    data[index] = 1;
    return pos + 4;
  }
  if (first !== 0x66) return REFUSED;
  data[index] = 0;
  return pos + 5;
}

/** Stores with the modulo of typed arrays: that is what keeps the low bytes of a value out of range. */
function narrowReader(text: Uint8Array, view: NumberArray, unsigned: boolean): ElementReader {
  return (start, index) => {
    const end = integerEnd(text, start);
    if (end === REFUSED) return REFUSED;
    const value = smallInteger(text, start, end);
    if (value !== undefined) {
      if (unsigned && value < 0) return REFUSED;
      view[index] = value;
      return end;
    }
    const exact = largeInteger(text, start, end, unsigned);
    if (exact === undefined) return REFUSED;
    view[index] = Number(BigInt.asIntN(32, exact));
    return end;
  };
}

/** Writes 64-bit elements as two words, which spares a bigint for values in the safe range. */
function wideReader(text: Uint8Array, data: Uint8Array, unsigned: boolean): ElementReader {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return (start, index) => {
    const end = integerEnd(text, start);
    if (end === REFUSED) return REFUSED;
    const value = smallInteger(text, start, end);
    if (value !== undefined) {
      if (unsigned && value < 0) return REFUSED;
      view.setUint32(index * 8, value >>> 0, true);
      view.setInt32(index * 8 + 4, Math.floor(value / 0x1_0000_0000), true);
      return end;
    }
    const exact = largeInteger(text, start, end, unsigned);
    if (exact === undefined) return REFUSED;
    view.setBigUint64(index * 8, BigInt.asUintN(64, exact), true);
    return end;
  };
}

/** Offset behind the integer at `start`; `REFUSED` for anything else, a fraction or an exponent included. */
function integerEnd(text: Uint8Array, start: number): number {
  let pos = text[start] === MINUS ? start + 1 : start;
  const digits = pos;
  while (isDigit(text[pos])) pos++;
  const next = text[pos];
  if (pos === digits || next === DOT || next === 0x65 || next === 0x45) return REFUSED;
  return pos;
}

/** Digits that a double holds exactly, whatever they are. */
const SAFE_DIGITS = 15;

/** Value of an integer of up to 15 digits; undefined for longer ones. */
function smallInteger(text: Uint8Array, start: number, end: number): number | undefined {
  const negative = text[start] === MINUS;
  const digits = negative ? start + 1 : start;
  if (end - digits > SAFE_DIGITS) return undefined;
  let value = 0;
  for (let pos = digits; pos < end; pos++) value = value * 10 + (text[pos] ?? 0) - 0x30;
  return negative ? 0 - value : value;
}

/** Characters of the longest integer that fits 64 bits, its sign included; there are no leading zeros. */
const LONGEST_INTEGER = 20;

/** Value of an integer that fits 64 bits; undefined when it does not. */
function largeInteger(text: Uint8Array, start: number, end: number, unsigned: boolean): bigint | undefined {
  // Asked first: what making a bigint costs grows faster than its length.
  if (end - start > LONGEST_INTEGER) return undefined;
  const value = BigInt(latin1(text, start, end));
  const fits = unsigned ? value >= 0n && BigInt.asUintN(64, value) === value : BigInt.asIntN(64, value) === value;
  return fits ? value : undefined;
}

/** Exact powers of ten: dividing or multiplying a safe integer by one of them rounds once, as a full conversion does. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);

/** Digits up to which the error of an accumulated mantissa stays within `WIDEST_ERROR`, the division by a power of ten included. */
const APPROXIMATE_DIGITS = 20;
const WIDEST_ERROR = 2 ** -48;

/**
 * Computes an element from its digits where that is exact, or, for FP32, where every value within the error rounds to the same float
 * (a widened FP32 prints with 17 digits); the rest goes through the engine's own, slower conversion.
 */
function realReader(text: Uint8Array, view: NumberArray): ElementReader {
  const isFloat = view instanceof Float32Array;
  return (start, index) => {
    const negative = text[start] === MINUS;
    let pos = negative ? start + 1 : start;
    let mantissa = 0;
    const first = pos;
    for (let digit = text[pos]; isDigit(digit); digit = text[++pos]) mantissa = mantissa * 10 + digit - 0x30;
    let digits = pos - first;
    if (digits === 0) return readWordOrRefuse(text, start, view, index);
    let exponent = 0;
    if (text[pos] === DOT) {
      const point = ++pos;
      for (let digit = text[pos]; isDigit(digit); digit = text[++pos]) mantissa = mantissa * 10 + digit - 0x30;
      exponent = point - pos;
      digits -= exponent;
    }
    if (text[pos] === 0x65 || text[pos] === 0x45) {
      const mark = pos;
      pos = numberTail(text, mark);
      exponent += Number(latin1(text, mark + 1, pos));
    }
    const value = scaled(mantissa, exponent);
    if (digits > SAFE_DIGITS && !(isFloat && digits <= APPROXIMATE_DIGITS && roundsAlike(value))) {
      return readWhole(text, start, view, index);
    }
    if (Number.isNaN(value)) return readWhole(text, start, view, index);
    view[index] = negative ? -value : value;
    return pos;
  };
}

/** `mantissa` × 10^`exponent` with one rounding; NaN where the power of ten is not exact. */
function scaled(mantissa: number, exponent: number): number {
  return exponent < 0
    ? mantissa / (POWERS_OF_TEN[-exponent] ?? Number.NaN)
    : mantissa * (POWERS_OF_TEN[exponent] ?? Number.NaN);
}

function roundsAlike(value: number): boolean {
  return Math.fround(value * (1 - WIDEST_ERROR)) === Math.fround(value * (1 + WIDEST_ERROR));
}

function readWhole(text: Uint8Array, start: number, view: NumberArray, index: number): number {
  const end = numberTail(text, start);
  const value = numberFrom(latin1(text, start, end));
  if (value === undefined) return REFUSED;
  view[index] = value;
  return end;
}

/** Offset behind the characters that numbers are made of. */
function numberTail(text: Uint8Array, start: number): number {
  let pos = start;
  while (isNumberByte(text[pos])) pos++;
  return pos;
}

/** NaN, Infinity, Inf with or without a minus; anything else is no number. */
function readWordOrRefuse(text: Uint8Array, start: number, view: NumberArray, index: number): number {
  const word = /^-?(?:NaN|Infinity|Inf)/.exec(latin1(text, start, start + 9))?.[0];
  if (word === undefined) return REFUSED;
  view[index] = numberFrom(word) ?? 0;
  return start + word.length;
}

function decodeStrings(source: JsonTensorSource, count: number): Uint8Array {
  const { text, span, limits, name } = source;
  // An element's text has two quotes more than its bytes, its encoding four bytes of length more: the span and two bytes each are enough.
  const data = allocate(span.end - span.start + 2 * count);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let at = 0;
  readElements(source, count, (pos) => {
    if (text[pos] !== QUOTE) return REFUSED;
    const end = closingQuote(text, pos + 1);
    const behind = unescapeInto({ from: text, start: pos + 1, end, to: data, at: at + 4 });
    view.setUint32(at, behind - at - 4, true);
    at = behind;
    return end + 1;
  });
  assertWithin({ what: `input '${name}'`, bytes: at, limit: limits.maxJsonTensorBytes, limits });
  return data.subarray(0, at);
}

function closingQuote(text: Uint8Array, start: number): number {
  let pos = start;
  for (let byte = text[pos]; byte !== QUOTE; byte = text[pos]) pos += byte === BACKSLASH ? 2 : 1;
  return pos;
}

function isNumberByte(byte: number | undefined): boolean {
  return isDigit(byte) || byte === MINUS || byte === DOT || byte === 0x2b || byte === 0x65 || byte === 0x45;
}

function badData(source: JsonTensorSource, why: string): ProtocolError {
  return new ProtocolError('bad-data', `Unable to parse 'data' of input '${source.name}': ${why}`);
}

function wrongType(source: JsonTensorSource, index: number, pos: number): ProtocolError {
  const text = utf8(source.text, pos, Math.min(pos + 24, source.span.end));
  const found = /^(?:"(?:[^"\\]|\\.)*"?|[^\s,\]]*)/.exec(text)?.[0] ?? text;
  return badData(source, `element ${index} is no ${source.datatype} value: ${found}`);
}

function tooMany(source: JsonTensorSource): ProtocolError {
  return mismatch(source, `it holds more than ${elementCount(source.shape)} elements`);
}

function tooFew(source: JsonTensorSource, found: string): ProtocolError {
  return mismatch(source, `it takes ${elementCount(source.shape)} elements, 'data' holds ${found}`);
}

function mismatch(source: JsonTensorSource, why: string): ProtocolError {
  const shape = formatShape(source.shape);
  return new ProtocolError(
    'bad-data',
    `Shape does not match true shape of 'data' field of input '${source.name}', shape ${shape}: ${why}`,
  );
}
