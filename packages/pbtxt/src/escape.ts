/** One escape sequence of a string literal: a byte, a code point, or what is wrong with it. */
export type Escape =
  | { readonly kind: 'byte'; readonly end: number; readonly byte: number }
  | { readonly kind: 'code-point'; readonly end: number; readonly codePoint: number; readonly isPair: boolean }
  | { readonly kind: 'error'; readonly end: number; readonly message: string; readonly suggestion?: string };

const BYTE_OF: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['b', 8],
  ['f', 12],
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['v', 11],
  ['?', 63],
  ['\\', 92],
  ["'", 39],
  ['"', 34],
]);

/** Reads the escape whose backslash stands at `at`; the character after it exists and is not a newline. */
export function readEscape(text: string, at: number): Escape {
  const letter = String.fromCodePoint(text.codePointAt(at + 1) ?? 0);
  const byte = BYTE_OF.get(letter);
  if (byte !== undefined) return { kind: 'byte', end: at + 2, byte };
  if (letter >= '0' && letter <= '7') return octalEscape(text, at);
  if (letter === 'x' || letter === 'X') return hexEscape(text, at);
  if (letter === 'u' || letter === 'U') return unicodeEscape(text, at);
  return {
    kind: 'error',
    end: at + 1 + letter.length,
    message: `\\${letter} is not an escape of text format; write \\\\ for a backslash`,
    suggestion: `\\\\${letter}`,
  };
}

/** One to three octal digits; like protobuf, the lowest eight bits count. */
function octalEscape(text: string, at: number): Escape {
  const end = endOfDigits(text, { start: at + 1, most: 3, radix: 8 });
  return { kind: 'byte', end, byte: Number.parseInt(text.slice(at + 1, end), 8) & 0xff };
}

/** One or two hex digits. */
function hexEscape(text: string, at: number): Escape {
  const end = endOfDigits(text, { start: at + 2, most: 2, radix: 16 });
  if (end === at + 2) return { kind: 'error', end, message: '\\x must be followed by one or two hex digits' };
  return { kind: 'byte', end, byte: Number.parseInt(text.slice(at + 2, end), 16) };
}

/** `\uXXXX` or `\UXXXXXXXX`; two `\u` that form a surrogate pair are one code point. */
function unicodeEscape(text: string, at: number): Escape {
  const first = codeUnit(text, at);
  if (first === undefined) {
    const [letter, count] = text.charAt(at + 1) === 'u' ? ['u', 4] : ['U', 8];
    return { kind: 'error', end: at + 2, message: `\\${letter} must be followed by ${count} hex digits` };
  }
  const { value, end } = first;
  if (value > 0x10ffff) return { kind: 'error', end, message: 'the last code point of Unicode is \\U0010FFFF' };
  if (value < 0xd800 || value > 0xdfff) return { kind: 'code-point', end, codePoint: value, isPair: false };
  const second = value <= 0xdbff && text.charAt(end) === '\\' ? codeUnit(text, end) : undefined;
  if (second === undefined || second.value < 0xdc00 || second.value > 0xdfff) {
    return { kind: 'error', end, message: 'half of a surrogate pair is not a character; write the code point as \\U…' };
  }
  const codePoint = 0x10000 + ((value - 0xd800) << 10) + (second.value - 0xdc00);
  return { kind: 'code-point', end: second.end, codePoint, isPair: true };
}

function codeUnit(text: string, at: number): { value: number; end: number } | undefined {
  const letter = text.charAt(at + 1);
  if (letter !== 'u' && letter !== 'U') return undefined;
  const most = letter === 'u' ? 4 : 8;
  const end = endOfDigits(text, { start: at + 2, most, radix: 16 });
  if (end !== at + 2 + most) return undefined;
  return { value: Number.parseInt(text.slice(at + 2, end), 16), end };
}

function endOfDigits(text: string, digits: { start: number; most: number; radix: 8 | 16 }): number {
  let end = digits.start;
  const limit = Math.min(text.length, digits.start + digits.most);
  while (end < limit && !Number.isNaN(Number.parseInt(text.charAt(end), digits.radix))) end++;
  return end;
}
