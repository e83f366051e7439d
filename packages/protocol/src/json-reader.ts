/**
 * Reads the JSON of inference messages from bytes, where `JSON.parse` would lose information: 64-bit integers stay exact, an integer is told
 * from `1.0`, NaN and the infinities are accepted as bare words, of a repeated key the first counts, nesting and the number of values are limited, and tensor data
 * is left in place as a span that is decoded straight into its typed array.
 */
import { allocate, latin1, utf8 } from './bytes.ts';
import { ProtocolError } from './errors.ts';
import {
  BACKSLASH,
  CARRIAGE_RETURN,
  DOT,
  ESCAPES,
  hexAt,
  isDigit,
  isNumberStart,
  LETTER_U,
  LINE_FEED,
  MINUS,
  numberEnd,
  numberFrom,
  PLUS,
  QUOTE,
  TAB,
  unescapeInto,
  ZERO,
} from './json-scan.ts';

/** Number that was written with a fraction or an exponent, or that is beyond 64 bits, or NaN or an infinity. */
export class JsonReal {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** Bytes of a value that was checked but not read. */
export class JsonSpan {
  readonly start: number;
  readonly end: number;

  constructor(start: number, end: number) {
    this.start = start;
    this.end = end;
  }
}

export type JsonObject = ReadonlyMap<string, JsonValue>;

/** Integers are numbers, or bigints outside the safe range. */
export type JsonValue =
  | null
  | boolean
  | string
  | number
  | bigint
  | JsonReal
  | JsonSpan
  | readonly JsonValue[]
  | JsonObject;

const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;

const SPACE = 0x20;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export class JsonReader {
  readonly bytes: Uint8Array;
  /** Offset of the next byte to read. */
  pos = 0;
  readonly #maxDepth: number;
  #valuesLeft: number;
  #depth = 0;

  /** Reads `bytes` from their first byte to their last; nothing is copied. */
  constructor(bytes: Uint8Array, limits: { readonly maxDepth: number; readonly maxValues: number }) {
    this.bytes = bytes;
    this.#maxDepth = limits.maxDepth;
    this.#valuesLeft = limits.maxValues;
  }

  /** Skips white space; the byte that follows, or −1 at the end. */
  peek(): number {
    const { bytes } = this;
    for (;;) {
      const byte = bytes[this.pos];
      if (byte === undefined) return -1;
      if (byte !== SPACE && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== TAB) return byte;
      this.pos++;
    }
  }

  get atObject(): boolean {
    return this.peek() === OPEN_BRACE;
  }

  get atArray(): boolean {
    return this.peek() === OPEN_BRACKET;
  }

  /** Reads an object; `visit` consumes the value of each member. */
  eachMember(visit: (key: string) => void): void {
    this.#container(CLOSE_BRACE, () => {
      if (this.peek() !== QUOTE) this.fail('expected a member name');
      const key = this.#string();
      if (this.peek() !== COLON) this.fail("expected ':'");
      this.pos++;
      visit(key);
    });
  }

  /** Reads an array; `visit` consumes each element. */
  eachElement(visit: () => void): void {
    this.#container(CLOSE_BRACKET, visit);
  }

  /** Reads any value; of a repeated key the first counts. */
  value(): JsonValue {
    if (this.#valuesLeft-- === 0) throw new ProtocolError('limit', 'the JSON header holds too many values');
    const first = this.peek();
    if (first === OPEN_BRACE) return this.#object();
    if (first === OPEN_BRACKET) return this.#array();
    if (first === QUOTE) return this.#string();
    return this.#literal(first);
  }

  /** Checks the syntax of a value and passes over it. */
  skip(): void {
    const first = this.peek();
    if (first === OPEN_BRACE) this.eachMember(() => this.skip());
    else if (first === OPEN_BRACKET) this.#skipArray();
    else if (first === QUOTE) this.#scanString();
    else if (isNumberStart(first)) this.#scanNumber();
    else this.#literal(first);
  }

  /** Like `skip`, and tells where the value is. */
  span(): JsonSpan {
    this.peek();
    const start = this.pos;
    this.skip();
    return new JsonSpan(start, this.pos);
  }

  /** @throws {ProtocolError} `bad-json` when something follows */
  finish(): void {
    if (this.peek() !== -1) this.fail('expected the end');
  }

  /** @throws {ProtocolError} `bad-json` naming the offset of the byte that does not fit */
  fail(expected: string): never {
    const found = this.bytes[this.pos] === undefined ? 'the end' : `'${latin1(this.bytes, this.pos, this.pos + 1)}'`;
    throw new ProtocolError(
      'bad-json',
      `failed to parse the request JSON buffer: ${expected}, found ${found} at offset ${this.pos}`,
    );
  }

  #object(): JsonObject {
    const members = new Map<string, JsonValue>();
    this.eachMember((key) => {
      if (members.has(key)) this.skip();
      else members.set(key, this.value());
    });
    return members;
  }

  #array(): JsonValue[] {
    const items: JsonValue[] = [];
    this.eachElement(() => items.push(this.value()));
    return items;
  }

  #container(close: number, visit: () => void): void {
    this.#enter();
    if (this.peek() === close) {
      this.#leave();
      return;
    }
    for (;;) {
      visit();
      if (this.#atClose(close)) break;
    }
    this.#leave();
  }

  /** The loop of `#container` without a callback: this is what large `data` passes through. */
  #skipArray(): void {
    this.#enter();
    if (this.peek() !== CLOSE_BRACKET) {
      do {
        this.#skipPlainNumbers();
        this.skip();
      } while (!this.#atClose(CLOSE_BRACKET));
    }
    this.#leave();
  }

  /** Passes over numbers that are followed by a comma and at most one space; stops at anything else, errors included. */
  #skipPlainNumbers(): void {
    const { bytes } = this;
    let pos = this.pos;
    for (let end = numberEnd(bytes, pos); end !== -1 && bytes[end] === COMMA; end = numberEnd(bytes, pos)) {
      pos = bytes[end + 1] === SPACE ? end + 2 : end + 1;
    }
    this.pos = pos;
  }

  #enter(): void {
    if (++this.#depth > this.#maxDepth) this.fail(`nesting deeper than ${this.#maxDepth} levels is refused`);
    this.pos++;
  }

  #leave(): void {
    this.#depth--;
    this.pos++;
  }

  #atClose(close: number): boolean {
    const next = this.peek();
    if (next === close) return true;
    if (next !== COMMA) this.fail(close === CLOSE_BRACE ? "expected ',' or '}'" : "expected ',' or ']'");
    this.pos++;
    return false;
  }

  #literal(first: number): JsonValue {
    if (isNumberStart(first)) return this.#number();
    if (this.#word('true')) return true;
    if (this.#word('false')) return false;
    if (this.#word('null')) return null;
    return this.fail('expected a value');
  }

  #number(): number | bigint | JsonReal {
    const start = this.pos;
    const isInteger = this.#scanNumber();
    const text = latin1(this.bytes, start, this.pos);
    const value = numberFrom(text);
    if (value === undefined) return this.fail('a number is too big');
    if (!isInteger) return new JsonReal(value);
    if (Number.isSafeInteger(value)) return value + 0;
    const exact = BigInt(text);
    return exact < INT64_MIN || exact > UINT64_MAX ? new JsonReal(value) : exact;
  }

  /** Passes over a number; whether it is written as an integer. */
  #scanNumber(): boolean {
    const { bytes } = this;
    if (bytes[this.pos] === MINUS) this.pos++;
    if (this.#word('NaN') || this.#word('Infinity') || this.#word('Inf')) return false;
    if (bytes[this.pos] === ZERO) this.pos++;
    else this.#digits();
    let isInteger = true;
    if (bytes[this.pos] === DOT) {
      this.pos++;
      this.#digits();
      isInteger = false;
    }
    const mark = bytes[this.pos];
    if (mark === 0x65 || mark === 0x45) {
      const sign = bytes[++this.pos];
      if (sign === PLUS || sign === MINUS) this.pos++;
      this.#digits();
      isInteger = false;
    }
    return isInteger;
  }

  #digits(): void {
    const { bytes } = this;
    let pos = this.pos;
    while (isDigit(bytes[pos])) pos++;
    if (pos === this.pos) this.fail('expected a digit');
    this.pos = pos;
  }

  #word(word: string): boolean {
    const { bytes, pos } = this;
    for (let i = 0; i < word.length; i++) {
      if (bytes[pos + i] !== word.charCodeAt(i)) return false;
    }
    this.pos = pos + word.length;
    return true;
  }

  #string(): string {
    const start = this.pos + 1;
    const escaped = this.#scanString();
    const end = this.pos - 1;
    if (!escaped) return utf8(this.bytes, start, end);
    const text = allocate(end - start);
    return utf8(text, 0, unescapeInto({ from: this.bytes, start, end, to: text, at: 0 }));
  }

  /** Passes over a string; whether it holds escapes. */
  #scanString(): boolean {
    const { bytes } = this;
    let escaped = false;
    this.pos++;
    for (;;) {
      const byte = bytes[this.pos];
      if (byte === undefined || byte < SPACE) this.fail('expected a closing quote; control characters must be escaped');
      this.pos++;
      if (byte === QUOTE) return escaped;
      if (byte !== BACKSLASH) continue;
      escaped = true;
      this.#scanEscape();
    }
  }

  #scanEscape(): void {
    const letter = this.bytes[this.pos];
    if (letter === undefined || !ESCAPES.has(letter)) this.fail('expected an escape sequence');
    this.pos++;
    if (letter !== LETTER_U) return;
    const unit = this.#scanHex();
    if (unit < 0xd800 || unit > 0xdfff) return;
    if (unit > 0xdbff || !this.#word('\\u')) this.fail('a surrogate without its partner is refused');
    const low = this.#scanHex();
    if (low < 0xdc00 || low > 0xdfff) this.fail('a surrogate without its partner is refused');
  }

  #scanHex(): number {
    const value = hexAt(this.bytes, this.pos);
    if (value < 0) this.fail('expected four hexadecimal digits');
    this.pos += 4;
    return value;
  }
}
