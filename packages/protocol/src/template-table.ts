/**
 * The templates of headers seen before, found by the bytes of the header without making a string of them. Two slots per hash, the fresher first; whatever
 * is pushed out of both is forgotten, so memory is bounded by slots × longest header.
 *
 * Clients number their requests, and write the id first; so the contents of a leading plain `"id"` are no part of the key: headers that differ in that
 * alone share a template. The key is then what follows the id, from its closing quote on; other keys start with the brace.
 */
import type { RequestTemplate } from './request-template.ts';

interface Entry {
  readonly key: Buffer;
  readonly template: RequestTemplate;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `{"id":` */
const MEMBER: readonly number[] = [0x7b, 0x22, 0x69, 0x64, 0x22, 0x3a];

export class TemplateTable {
  readonly #slots: (Entry | undefined)[];
  readonly #mask: number;
  #last: Entry | undefined;

  /** @param capacity  entries, rounded up to a power of two; 0 keeps none */
  constructor(capacity: number) {
    const size = capacity === 0 ? 0 : 2 ** Math.ceil(Math.log2(Math.max(capacity, 2)));
    this.#slots = new Array<Entry | undefined>(size).fill(undefined);
    this.#mask = size - 1;
  }

  /** Template of the header `body[0, end)` whose key starts at `start`. */
  get(body: Buffer, start: number, end: number): RequestTemplate | undefined {
    if (this.#slots.length === 0) return undefined;
    // Most headers are that of the request before, and comparing is half of what looking up costs.
    if (this.#last !== undefined && isSame(this.#last.key, body, start, end)) return this.#last.template;
    const slot = hashOf(body, start, end) & this.#mask;
    for (const entry of [this.#slots[slot], this.#slots[slot ^ 1]]) {
      if (entry === undefined || !isSame(entry.key, body, start, end)) continue;
      this.#last = entry;
      return entry.template;
    }
    return undefined;
  }

  /** Keeps a copy of the key. */
  set(
    header: { readonly body: Buffer; readonly start: number; readonly end: number },
    template: RequestTemplate,
  ): void {
    if (this.#slots.length === 0) return;
    const { body, start, end } = header;
    const slot = hashOf(body, start, end) & this.#mask;
    this.#slots[slot ^ 1] = this.#slots[slot];
    this.#slots[slot] = { key: Buffer.from(body.subarray(start, end)), template };
  }
}

/** Offset at which the key of the header `body[0, end)` starts: behind a leading plain id, else 0. */
export function keyStart(body: Buffer, end: number): number {
  let pos = idStart(body);
  if (pos === 0) return 0;
  // Only ASCII without escapes: everything else takes the ordinary way, as part of the key.
  for (let byte = body[pos]; byte !== QUOTE; byte = body[++pos]) {
    if (byte === undefined || byte < SPACE || byte > 0x7e || byte === BACKSLASH) return 0;
  }
  return pos < end ? pos : 0;
}

/** The id in front of a key that starts at `start`. */
export function idBefore(body: Buffer, start: number): string {
  return body.toString('latin1', idStart(body), start);
}

/** Offset of the first character of a leading id; 0 when there is none. */
function idStart(body: Buffer): number {
  for (let i = 0; i < MEMBER.length; i++) {
    if (body[i] !== MEMBER[i]) return 0;
  }
  const pos = body[MEMBER.length] === SPACE ? MEMBER.length + 1 : MEMBER.length;
  return body[pos] === QUOTE ? pos + 1 : 0;
}

function hashOf(body: Buffer, start: number, end: number): number {
  let hash = end - start;
  for (let pos = start; pos < end; pos++) hash = (Math.imul(hash, 31) + (body[pos] ?? 0)) | 0;
  // The last bytes of most headers are alike: let all bits decide.
  return hash ^ (hash >>> 15);
}

function isSame(key: Buffer, body: Buffer, start: number, end: number): boolean {
  const length = end - start;
  if (key.length !== length) return false;
  for (let i = 0; i < length; i++) {
    if (key[i] !== body[start + i]) return false;
  }
  return true;
}
