import { readEscape } from './escape.ts';
import type { Token } from './syntax.ts';

/*
 * Values of string literals. Tokens of kind `string` are closed and have good escapes, by construction in the lexer.
 */

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LONE_SURROGATE = /\p{Surrogate}/u;

/** The text that adjacent literals spell together, or undefined when their bytes are not UTF-8. */
export function literalText(tokens: readonly Token[]): string | undefined {
  if (tokens.every((token) => !token.text.includes('\\'))) {
    const plain = tokens.map((token) => token.text.slice(1, -1)).join('');
    return LONE_SURROGATE.test(plain) ? undefined : plain;
  }
  try {
    return strictDecoder.decode(Uint8Array.from(tokens.flatMap((token) => literalBytes(token.text))));
  } catch {
    return undefined;
  }
}

/**
 * Spells surrogate pairs that were written as two escapes as one, which is the only form protobufjs reads.
 *
 * @returns the literal to read instead, or undefined when it holds no such pair
 */
export function withoutSurrogateEscapes(literal: string): string | undefined {
  if (!literal.includes('\\u') && !literal.includes('\\U')) return undefined;
  const pieces: string[] = [];
  let copied = 0;
  for (let at = literal.indexOf('\\'); at !== -1; ) {
    const sequence = readEscape(literal, at);
    if (sequence.kind === 'code-point' && sequence.isPair) {
      pieces.push(literal.slice(copied, at), `\\U${sequence.codePoint.toString(16).padStart(8, '0')}`);
      copied = sequence.end;
    }
    at = literal.indexOf('\\', sequence.end);
  }
  return copied === 0 ? undefined : pieces.join('') + literal.slice(copied);
}

function literalBytes(literal: string): number[] {
  const bytes: number[] = [];
  const end = literal.length - 1;
  let at = 1;
  while (at < end) {
    const backslash = literal.indexOf('\\', at);
    const plainEnd = backslash === -1 ? end : backslash;
    if (plainEnd > at) pushText(bytes, literal.slice(at, plainEnd));
    if (backslash === -1) break;
    const sequence = readEscape(literal, backslash);
    if (sequence.kind === 'byte') bytes.push(sequence.byte);
    else if (sequence.kind === 'code-point') pushText(bytes, String.fromCodePoint(sequence.codePoint));
    at = sequence.end;
  }
  return bytes;
}

/** Half a surrogate pair becomes a byte that UTF-8 never holds, so that it is refused like other bytes that are no text. */
function pushText(bytes: number[], text: string): void {
  if (LONE_SURROGATE.test(text)) bytes.push(0xff);
  else for (const byte of encoder.encode(text)) bytes.push(byte);
}
