/** Scanning of JSON text byte by byte: what `JsonReader` and the tensor decoder share. */
import { latin1, writeUtf8 } from './bytes.ts';

export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const QUOTE = 0x22;
export const PLUS = 0x2b;
export const MINUS = 0x2d;
export const DOT = 0x2e;
export const ZERO = 0x30;
const NINE = 0x39;
export const BACKSLASH = 0x5c;
export const LETTER_U = 0x75;

/** Letter after the backslash → the byte it stands for. `u` is handled apart. */
export const ESCAPES = new Map<number, number>([
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
  [0x2f, 0x2f],
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, LINE_FEED],
  [0x72, CARRIAGE_RETURN],
  [0x74, TAB],
  [LETTER_U, -1],
]);

/**
 * Copies the inside of a checked JSON string, escapes resolved to UTF-8; other bytes pass unchanged, also those that are no UTF-8.
 * Needs no more room than the source has.
 * @returns the offset in `to` behind the last byte written
 */
export function unescapeInto(job: {
  from: Uint8Array;
  start: number;
  end: number;
  to: Uint8Array;
  at: number;
}): number {
  const { from, end, to } = job;
  let { at } = job;
  for (let pos = job.start; pos < end; ) {
    const byte = from[pos++] ?? 0;
    if (byte !== BACKSLASH) {
      to[at++] = byte;
      continue;
    }
    const letter = from[pos++] ?? 0;
    if (letter !== LETTER_U) {
      to[at++] = ESCAPES.get(letter) ?? 0;
      continue;
    }
    const high = hexAt(from, pos);
    pos += 4;
    const isPair = high >= 0xd800 && high <= 0xdbff;
    const text = isPair ? String.fromCharCode(high, hexAt(from, pos + 2)) : String.fromCharCode(high);
    if (isPair) pos += 6;
    at += writeUtf8(text, to, at);
  }
  return at;
}

/** Value of a checked number or word; undefined when a finite number is beyond the range of a double. */
export function numberFrom(text: string): number | undefined {
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  if (text.endsWith('NaN')) return Number.NaN;
  if (!text.includes('I')) return undefined;
  return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

export function isDigit(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

/** Offset behind the number at `pos`, −1 when there is none that is well-formed; words are not looked at. */
export function numberEnd(bytes: Uint8Array, start: number): number {
  let pos = bytes[start] === MINUS ? start + 1 : start;
  const first = pos;
  while (isDigit(bytes[pos])) pos++;
  if (pos === first || (bytes[first] === ZERO && pos > first + 1)) return -1;
  if (bytes[pos] === DOT) {
    const point = ++pos;
    while (isDigit(bytes[pos])) pos++;
    if (pos === point) return -1;
  }
  const mark = bytes[pos];
  if (mark !== 0x65 && mark !== 0x45) return pos;
  const sign = bytes[++pos];
  if (sign === PLUS || sign === MINUS) pos++;
  const exponent = pos;
  while (isDigit(bytes[pos])) pos++;
  return pos === exponent ? -1 : pos;
}

/** A digit, a minus, or the first letter of NaN or Infinity. */
export function isNumberStart(byte: number): boolean {
  return (byte >= ZERO && byte <= NINE) || byte === MINUS || byte === 0x4e || byte === 0x49;
}

/** Value of four hexadecimal digits, −1 when they are not. */
export function hexAt(bytes: Uint8Array, pos: number): number {
  const digits = latin1(bytes, pos, pos + 4);
  return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
}
