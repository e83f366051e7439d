/**
 * JSON as a tree with positions and numbers as written, so that 64-bit integers keep every digit and a problem can be shown where it stands.
 * The grammar is RFC 8259's, nothing more. The first syntax error ends the reading.
 */

/** A value; `start` and `end` are offsets in UTF-16 units, `end` after the last character. */
export type JsonNode = { readonly start: number; readonly end: number } & (
  | { readonly kind: 'object'; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'null' }
);

export interface JsonMember {
  readonly name: string;
  /** Where the quoted name stands. */
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly value: JsonNode;
}

/** Where and why the text is no JSON. */
export class JsonSyntaxError extends Error {
  readonly start: number;
  readonly end: number;

  constructor(message: string, start: number, end: number) {
    super(message);
    this.start = start;
    this.end = end;
  }
}

/**
 * @param maxDepth nesting beyond which the reading stops; it bounds the stack
 * @throws {JsonSyntaxError}
 */
export function parseJson(text: string, maxDepth: number): JsonNode {
  const reader = new Reader(text, maxDepth);
  const value = reader.value(0);
  reader.expectEnd();
  return value;
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORD = /[A-Za-z0-9_$.+-]+/y;

class Reader {
  readonly #text: string;
  readonly #maxDepth: number;
  #at = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  value(depth: number): JsonNode {
    this.#skipSpace();
    const start = this.#at;
    if (depth > this.#maxDepth) throw this.#error(`nested deeper than ${this.#maxDepth} levels`);
    switch (this.#text[start]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return { kind: 'string', value: this.#string(), start, end: this.#at };
      default:
        return this.#literal();
    }
  }

  expectEnd(): void {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#error('expected the end of the text after the value');
  }

  #object(depth: number): JsonNode {
    const start = this.#at;
    const members: JsonMember[] = [];
    this.#list('}', () => {
      const nameStart = this.#at;
      if (this.#text[nameStart] !== '"') throw this.#error('expected a field name in double quotes');
      const name = this.#string();
      const nameEnd = this.#at;
      this.#skipSpace();
      if (!this.#skip(':')) throw this.#error(`expected ':' after the field name ${JSON.stringify(name)}`);
      members.push({ name, nameStart, nameEnd, value: this.value(depth + 1) });
    });
    return { kind: 'object', members, start, end: this.#at };
  }

  #array(depth: number): JsonNode {
    const start = this.#at;
    const items: JsonNode[] = [];
    this.#list(']', () => items.push(this.value(depth + 1)));
    return { kind: 'array', items, start, end: this.#at };
  }

  #list(close: string, item: () => void): void {
    this.#at++;
    this.#skipSpace();
    if (this.#skip(close)) return;
    do {
      this.#skipSpace();
      item();
      this.#skipSpace();
    } while (this.#skip(','));
    if (!this.#skip(close)) throw this.#error(`expected ',' or '${close}'`);
  }

  #string(): string {
    const quoted = this.#match(STRING);
    if (quoted !== undefined) return JSON.parse(quoted);
    throw this.#error('this string has no end, a line break or a wrong escape in it');
  }

  #literal(): JsonNode {
    const start = this.#at;
    const text = this.#match(NUMBER);
    if (text !== undefined && !this.#wordFollows()) return { kind: 'number', text, start, end: this.#at };
    this.#at = start;
    const word = this.#match(WORD);
    const end = this.#at;
    if (word === 'true' || word === 'false') return { kind: 'boolean', value: word === 'true', start, end };
    if (word === 'null') return { kind: 'null', start, end };
    const found = word ?? this.#text[start];
    const message =
      found === undefined ? 'the text ends where a value is expected' : `expected a value, got '${found}'`;
    throw new JsonSyntaxError(message, start, Math.max(end, start + 1));
  }

  #wordFollows(): boolean {
    WORD.lastIndex = this.#at;
    return WORD.test(this.#text);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text)?.[0];
    this.#at += match?.length ?? 0;
    return match;
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    this.#match(SPACE);
  }

  #error(message: string): JsonSyntaxError {
    const rest = this.#text[this.#at];
    return new JsonSyntaxError(
      rest === undefined ? `${message}; the text ends here` : message,
      this.#at,
      Math.min(this.#at + 1, this.#text.length),
    );
  }
}
