import { quote } from './quote.ts';

/** What a run of digits, letters, points and exponent signs is. */
export type NumberKind =
  | { readonly kind: 'integer' }
  | { readonly kind: 'float' }
  | { readonly kind: 'bad'; readonly message: string; readonly suggestion?: string };

const INTEGER = /^(?:0|[1-9][0-9]*|0[0-7]+|0[xX][0-9A-Fa-f]+)$/;
const FLOAT = /^(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fF]?$/;
const LEADING_ZERO = /^0+([1-9][0-9]*)$/;
const GROUPED = /^[1-9][0-9]*(?:_[0-9]+)+$/;

/** Tells integers (decimal, `0x` hex, leading-0 octal) from floats and from what is neither. */
export function classifyNumber(text: string): NumberKind {
  if (INTEGER.test(text)) return { kind: 'integer' };
  if (FLOAT.test(text)) return { kind: 'float' };
  const decimal = LEADING_ZERO.exec(text)?.[1];
  if (decimal !== undefined) {
    const message = `${quote(text)} starts with 0, which makes it octal, but has a digit above 7; write ${decimal}`;
    return { kind: 'bad', message, suggestion: decimal };
  }
  if (GROUPED.test(text)) {
    const suggestion = text.replaceAll('_', '');
    return { kind: 'bad', message: `${quote(text)} has _ between its digits; write ${quote(suggestion)}`, suggestion };
  }
  return { kind: 'bad', message: `${quote(text)} is not a number` };
}

/** The value of an integer token, without its sign. */
export function integerValue(text: string): bigint {
  return BigInt(text.length > 1 && text.charAt(0) === '0' && /^[0-7]+$/.test(text) ? `0o${text.slice(1)}` : text);
}

/** Whether an integer token is in hex or octal, which float fields do not take. */
export function isDecimal(text: string): boolean {
  return text === '0' || text.charAt(0) !== '0';
}
