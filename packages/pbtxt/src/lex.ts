import type { Problems } from './diagnostic.ts';
import { readEscape } from './escape.ts';
import { classifyNumber } from './number.ts';
import { codePointName, quote } from './quote.ts';
import type { Token, TokenKind } from './syntax.ts';

/*
 * Text to tokens, in one pass over char codes. It never fails: what no valid text holds becomes a `bad` token, or, where
 * that lets the rest be understood, white space; each with one problem.
 */

const Class = { Other: 0, Space: 1, Letter: 2, Digit: 3, Quote: 4, Punctuation: 5 } as const;

const CLASS_OF = new Uint8Array(128);
for (const space of ' \t\n\r\v\f') CLASS_OF[space.charCodeAt(0)] = Class.Space;
for (let code = 0x30; code <= 0x39; code++) CLASS_OF[code] = Class.Digit;
for (let code = 0x41; code <= 0x5a; code++) CLASS_OF[code] = CLASS_OF[code + 0x20] = Class.Letter;
CLASS_OF[0x5f] = Class.Letter;
for (const mark of '"\'') CLASS_OF[mark.charCodeAt(0)] = Class.Quote;
for (const mark of '{}<>:[],;-=./') CLASS_OF[mark.charCodeAt(0)] = Class.Punctuation;

const NEWLINE = 0x0a;
const HASH = 0x23;
const DOLLAR = 0x24;
const ASTERISK = 0x2a;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const BYTE_ORDER_MARK = 0xfeff;

/** How far the end of a placeholder is looked for: keeps a line full of openers linear. */
const LONGEST_PLACEHOLDER = 256;
const STRAY_SPACE = /[\p{Zs}\p{Zl}\p{Zp}\p{Cf}\u0085]+/uy;
const NAMED_PLACEHOLDER = /\$[A-Za-z_]\w*/y;
const CURLY_QUOTED = /^[“”„‘’«»](.*)[“”„‘’«»]$/u;

/** All tokens of a text; the last has kind `end`. */
export function lex(text: string, problems: Problems): Token[] {
  return new Lexer(text, problems).run();
}

class Lexer {
  readonly #text: string;
  readonly #problems: Problems;
  #at = 0;

  constructor(text: string, problems: Problems) {
    this.#text = text;
    this.#problems = problems;
  }

  run(): Token[] {
    const tokens: Token[] = [];
    if (this.#text.charCodeAt(0) === BYTE_ORDER_MARK) this.#at = 1;
    for (let from = 0; ; from = this.#at) {
      this.#skipTrivia();
      const start = this.#at;
      const kind = start < this.#text.length ? this.#scan() : 'end';
      tokens.push({ kind, leading: this.#text.slice(from, start), text: this.#text.slice(start, this.#at), start });
      if (kind === 'end') return tokens;
    }
  }

  #skipTrivia(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (CLASS_OF[code] === Class.Space) this.#at++;
      else if (code === HASH) this.#skipLine();
      else if (code === SLASH && this.#skipSlashComment()) continue;
      else if (code >= 0x80 && this.#skipStraySpace()) continue;
      else return;
    }
  }

  #skipLine(): void {
    const newline = this.#text.indexOf('\n', this.#at);
    this.#at = newline === -1 ? this.#text.length : newline;
  }

  #skipSlashComment(): boolean {
    const start = this.#at;
    const next = this.#text.charCodeAt(start + 1);
    if (next === SLASH) {
      this.#skipLine();
      const message = 'text format has no `//` comments; start a comment with `#`';
      this.#problems.add({ reason: 'slash-comment', message, start, end: start + 2, suggestion: '#' });
      return true;
    }
    if (next !== ASTERISK) return false;
    const close = this.#text.indexOf('*/', start + 2);
    this.#at = close === -1 ? this.#text.length : close + 2;
    const message = 'text format has no `/* */` comments; start each line of a comment with `#`';
    this.#problems.add({ reason: 'slash-comment', message, start, end: start + 2 });
    return true;
  }

  #skipStraySpace(): boolean {
    const start = this.#at;
    const run = match(STRAY_SPACE, { text: this.#text, at: start });
    if (run === undefined) return false;
    this.#at += run.length;
    const message = `${codePointName(run)} is not white space in text format; use ordinary spaces`;
    this.#problems.add({ reason: 'illegal-character', message, start, end: this.#at, suggestion: ' ' });
    return true;
  }

  /** Consumes one token; at least one character is left. */
  #scan(): TokenKind {
    const code = this.#text.charCodeAt(this.#at);
    switch (CLASS_OF[code]) {
      case Class.Letter:
        return this.#word();
      case Class.Digit:
        return this.#number();
      case Class.Quote:
        return this.#string(code);
      case Class.Punctuation:
        return this.#punctuation(code);
      default:
        return code === DOLLAR ? this.#dollar() : this.#illegal();
    }
  }

  #word(): TokenKind {
    const start = this.#at;
    while (isWordCode(this.#text.charCodeAt(this.#at))) this.#at++;
    return this.#text.charCodeAt(this.#at) >= 0x80 ? this.#illegal(start) : 'name';
  }

  #number(): TokenKind {
    const start = this.#at;
    const isHex = (this.#text.charCodeAt(start + 1) | 0x20) === 0x78;
    let previous = 0;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      const isExponentSign = (code === PLUS || code === MINUS) && (previous | 0x20) === 0x65 && !isHex;
      if (!isWordCode(code) && code !== DOT && !isExponentSign) break;
      previous = code;
      this.#at++;
    }
    const number = classifyNumber(this.#text.slice(start, this.#at));
    if (number.kind !== 'bad') return number.kind;
    const { message, suggestion } = number;
    this.#problems.add({ reason: 'bad-number', message, start, end: this.#at, suggestion });
    return 'bad';
  }

  #string(mark: number): TokenKind {
    const start = this.#at;
    let kind: TokenKind = 'string';
    this.#at++;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === mark) {
        this.#at++;
        return kind;
      }
      if (code === BACKSLASH && this.#hasMoreOnLine()) {
        if (!this.#escape()) kind = 'bad';
      } else if (code === NEWLINE || Number.isNaN(code) || code === BACKSLASH) {
        return this.#unterminated(start);
      } else this.#at++;
    }
  }

  #hasMoreOnLine(): boolean {
    const next = this.#text.charCodeAt(this.#at + 1);
    return !Number.isNaN(next) && next !== NEWLINE;
  }

  #escape(): boolean {
    const start = this.#at;
    const sequence = readEscape(this.#text, start);
    this.#at = sequence.end;
    if (sequence.kind !== 'error') return true;
    const { message, end, suggestion } = sequence;
    this.#problems.add({ reason: 'bad-escape', message, start, end, suggestion });
    return false;
  }

  #unterminated(start: number): TokenKind {
    this.#skipLine();
    if (this.#text.charAt(this.#at - 1) === '\r') this.#at--;
    const mark = this.#text.charAt(start);
    this.#problems.add({
      reason: 'unterminated-string',
      message: `this string is not closed on its line; end it with ${mark}, or write \\n for a line break`,
      start,
      end: this.#at,
    });
    return 'bad';
  }

  #punctuation(code: number): TokenKind {
    if (code === DOT && CLASS_OF[this.#text.charCodeAt(this.#at + 1)] === Class.Digit) return this.#number();
    if (code === OPEN_BRACE && this.#placeholder({ open: '{{', close: '}}' })) return 'placeholder';
    this.#at++;
    return 'punctuation';
  }

  #dollar(): TokenKind {
    if (this.#placeholder({ open: '${', close: '}' })) return 'placeholder';
    const named = match(NAMED_PLACEHOLDER, { text: this.#text, at: this.#at });
    if (named === undefined) return this.#illegal();
    this.#at += named.length;
    return 'placeholder';
  }

  #placeholder({ open, close }: { open: string; close: string }): boolean {
    if (!this.#text.startsWith(open, this.#at)) return false;
    const window = this.#text.slice(this.#at, this.#at + LONGEST_PLACEHOLDER);
    const end = window.indexOf(close, open.length);
    if (end === -1 || window.lastIndexOf('\n', end) !== -1) return false;
    this.#at += end + close.length;
    return true;
  }

  /** Characters that belong to nothing, up to the next one that does; a word with a foreign letter is one such run. */
  #illegal(start = this.#at): TokenKind {
    do this.#at++;
    while (this.#at < this.#text.length && this.#continuesIllegal(this.#text.charCodeAt(this.#at)));
    const text = this.#text.slice(start, this.#at);
    const curly = CURLY_QUOTED.exec(text);
    const message =
      curly === null
        ? `${quote(text)} is not a word of text format: names have only letters, digits and _, other text needs quotes`
        : `${quote(text)} has typographic quotes; use straight ones`;
    const suggestion = curly === null ? undefined : `"${curly[1]}"`;
    this.#problems.add({ reason: 'illegal-character', message, start, end: this.#at, suggestion });
    return 'bad';
  }

  #continuesIllegal(code: number): boolean {
    if (code < 0x80) {
      const kind = CLASS_OF[code];
      return (
        kind === Class.Letter || kind === Class.Digit || (kind === Class.Other && code !== HASH && code !== DOLLAR)
      );
    }
    return match(STRAY_SPACE, { text: this.#text, at: this.#at }) === undefined;
  }
}

function isWordCode(code: number): boolean {
  const kind = CLASS_OF[code];
  return kind === Class.Letter || kind === Class.Digit;
}

function match(sticky: RegExp, { text, at }: { text: string; at: number }): string | undefined {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0];
}
