/**
 * JSON text is built as a byte string: one character per byte of its UTF-8 form, written as `latin1`. So bytes of a BYTES element pass through unchanged,
 * whatever they are, and the length of the string is the number of bytes.
 */

import { latin1, utf8Bytes } from './bytes.ts';

/** Quotes text as a JSON string, in the form of a byte string. */
export function quote(text: string): string {
  return JSON.stringify(isAscii(text) ? text : byteString(utf8Bytes(text)));
}

/** Quotes the bytes of a BYTES element as they are: quotes, backslashes and control characters are escaped, nothing else. */
export function quoteBytes(bytes: Uint8Array): string {
  return JSON.stringify(byteString(bytes));
}

function byteString(bytes: Uint8Array): string {
  return latin1(bytes, 0, bytes.length);
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f) return false;
  }
  return true;
}
