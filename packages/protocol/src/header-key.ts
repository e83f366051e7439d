/**
 * Key of a header in the template cache: its bytes, without the contents of a leading `"id"`. Clients number their requests, and write the id first; so headers
 * that differ in that id alone share a key. A key without id starts with `{`, one with id starts with the quote behind it.
 */
export interface HeaderKey {
  readonly key: string;
  /** The id that was cut out; undefined when the header does not start with a plain one, then it is part of the key. */
  readonly id: string | undefined;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MEMBER = '{"id":';

export function headerKey(body: Buffer, length: number): HeaderKey {
  const start = idStart(body);
  if (start === 0) return { key: body.toString('latin1', 0, length), id: undefined };
  let end = start;
  // Only ASCII without escapes: everything else takes the ordinary way, as part of the key.
  for (let byte = body[end]; byte !== QUOTE; byte = body[++end]) {
    if (byte === undefined || byte < SPACE || byte > 0x7e || byte === BACKSLASH || end >= length) {
      return { key: body.toString('latin1', 0, length), id: undefined };
    }
  }
  if (end >= length) return { key: body.toString('latin1', 0, length), id: undefined };
  return { key: body.toString('latin1', end, length), id: body.toString('latin1', start, end) };
}

/** Offset of the first character of a leading id; 0 when there is none. */
function idStart(body: Buffer): number {
  for (let i = 0; i < MEMBER.length; i++) {
    if (body[i] !== MEMBER.charCodeAt(i)) return 0;
  }
  const pos = body[MEMBER.length] === SPACE ? MEMBER.length + 1 : MEMBER.length;
  return body[pos] === QUOTE ? pos + 1 : 0;
}
