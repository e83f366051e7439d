import type { Token } from './syntax.ts';

const CLOSER_OF: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['<', '>'],
  ['[', ']'],
]);

const NO_TOKEN: Token = { kind: 'end', leading: '', text: '', start: 0 };

/** Walks over the tokens of a text and remembers which brackets are open. */
export class TokenCursor {
  readonly #tokens: readonly Token[];
  readonly #awaited = new Map([...CLOSER_OF.values()].map((closer) => [closer, 0]));
  #at = 0;

  /** `tokens` ends with a token of kind `end`, which is never passed. */
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  peek(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? this.#tokens.at(-1) ?? NO_TOKEN;
  }

  /** The token before the cursor. */
  previous(): Token {
    return this.#tokens[this.#at - 1] ?? NO_TOKEN;
  }

  next(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.#at++;
    return token;
  }

  /** Consumes the next token if it is this punctuation. */
  take(text: string): Token | undefined {
    return this.peek().text === text ? this.next() : undefined;
  }

  /** Consumes an opening bracket, which waits for its closer from here on. */
  open(): Token {
    const token = this.next();
    this.#await(token, 1);
    return token;
  }

  /** Consumes the closer of `open` if it is next; either way `open` waits no longer. */
  close(open: Token): Token | undefined {
    this.#await(open, -1);
    return this.take(CLOSER_OF.get(open.text) ?? '');
  }

  /** At the end, or at a closing bracket that some open bracket waits for. */
  atClose(): boolean {
    const token = this.peek();
    return token.kind === 'end' || (this.#awaited.get(token.text) ?? 0) > 0;
  }

  /** Consumes everything up to the closer of the innermost bracket, or to the end. */
  takeBalanced(): Token[] {
    const taken: Token[] = [];
    for (let depth = 0; ; ) {
      const token = this.peek();
      if (CLOSER_OF.has(token.text)) depth++;
      if (token.kind === 'end' || (isCloser(token.text) && depth-- === 0)) return taken;
      taken.push(this.next());
    }
  }

  #await(open: Token, by: 1 | -1): void {
    const closer = CLOSER_OF.get(open.text) ?? '';
    this.#awaited.set(closer, (this.#awaited.get(closer) ?? 0) + by);
  }
}

export function isOpener(text: string): boolean {
  return CLOSER_OF.has(text);
}

export function isCloser(text: string): boolean {
  return text === '}' || text === '>' || text === ']';
}

/** The bracket that closes `opener`. */
export function closerOf(opener: string): string {
  return CLOSER_OF.get(opener) ?? '';
}
