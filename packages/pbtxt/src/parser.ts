import type { Problems } from './diagnostic.ts';
import type { Limits } from './options.ts';
import { quote } from './quote.ts';
import type { BracketName, Document, Field, Item, MessageValue, PlainName, Skipped, Token, Value } from './syntax.ts';
import { isCloser, isOpener, TokenCursor } from './token-cursor.ts';
import { extent, nameText, over } from './tree.ts';
import { isQuotedName, needsColon, startsField, ValueParser } from './value-parser.ts';

/*
 * Recursive descent with recovery: each problem is reported once, where it is understood, and parsing goes on where the
 * next field or value plausibly begins. The depth limit bounds the recursion.
 */
export class Parser {
  readonly #tokens: TokenCursor;
  readonly #problems: Problems;
  readonly #values: ValueParser;

  constructor(tokens: readonly Token[], { limits, problems }: { limits: Limits; problems: Problems }) {
    this.#tokens = new TokenCursor(tokens);
    this.#problems = problems;
    const message = (depth: number) => this.#message(depth);
    this.#values = new ValueParser({ tokens: this.#tokens, problems, maxDepth: limits.maxDepth, message });
  }

  document(text: string): Document {
    const items = this.#items(0);
    return { kind: 'document', text, items, end: this.#tokens.next() };
  }

  /** Items up to the end of the text, or up to a closing bracket that some open bracket waits for. */
  #items(depth: number): Item[] {
    const items: Item[] = [];
    while (!this.#tokens.atClose()) items.push(this.#item(depth));
    return items;
  }

  #item(depth: number): Item {
    const token = this.#tokens.peek();
    if (token.kind === 'name' || isQuotedName(this.#tokens)) return this.#field(this.#plainName(), depth);
    if (token.text === '[' && this.#tokens.peek(1).kind === 'name') return this.#field(this.#bracketName(), depth);
    if (isCloser(token.text)) return this.#skipCloser();
    if (token.text === ',' || token.text === ';') return this.#skipSeparator();
    return isOpener(token.text) ? this.#skipBlock() : this.#skipRun();
  }

  #field(name: PlainName | BracketName, depth: number): Field {
    const colon = this.#colon();
    const value = this.#fieldValue(name, { colon, depth });
    const separator = this.#tokens.take(',') ?? this.#tokens.take(';');
    return { kind: 'field', name, colon, value, separator };
  }

  #colon(): Token | undefined {
    const equals = this.#tokens.take('=');
    if (equals === undefined) return this.#tokens.take(':');
    const message = 'text format writes `name: value`; replace `=` by `:`';
    this.#problems.add({ reason: 'missing-colon', message, ...over(equals), suggestion: ':' });
    return equals;
  }

  #fieldValue(
    name: PlainName | BracketName,
    { colon, depth }: { colon: Token | undefined; depth: number },
  ): Value | undefined {
    const label = nameText(name);
    const place = extent(name, this.#tokens.previous());
    if (!this.#values.startsValue({ hasColon: colon !== undefined })) {
      this.#problems.add({ reason: 'expected-value', message: `${quote(label)} has no value`, ...place });
      return undefined;
    }
    const value = this.#values.value({ label, depth });
    if (colon === undefined && needsColon(value)) {
      const suggestion = `${label}:`;
      const message = `${quote(label)} needs a colon before its value; write ${quote(suggestion)}`;
      this.#problems.add({ reason: 'missing-colon', message, ...place, suggestion });
    }
    return value;
  }

  /** The cursor stands on `{` or `<`; `depth` messages are open around it. */
  #message(depth: number): MessageValue {
    const open = this.#tokens.open();
    const items = this.#values.isTooDeep(open, depth) ? this.#values.skippedBody() : this.#items(depth + 1);
    return { kind: 'message', open, items, close: this.#values.close(open) };
  }

  #plainName(): PlainName {
    const token = this.#tokens.next();
    if (token.kind === 'string') {
      const suggestion = token.text.slice(1, -1);
      const message = `field names are written without quotes; write ${quote(suggestion)}`;
      this.#problems.add({ reason: 'expected-name', message, ...over(token), suggestion });
    }
    return { kind: 'name', token };
  }

  #bracketName(): BracketName {
    const open = this.#tokens.next();
    const parts: Token[] = [];
    while (isNamePart(this.#tokens.peek())) parts.push(this.#tokens.next());
    const close = this.#tokens.take(']');
    if (close === undefined) {
      const message = `a name in brackets is like [package.extension]; ${quote(this.#tokens.peek().text)} ends it too early`;
      this.#problems.add({ reason: 'unbalanced', message, ...over(open, parts.at(-1)) });
    }
    return { kind: 'bracket-name', open, parts, close };
  }

  #skipCloser(): Skipped {
    const token = this.#tokens.next();
    const message = `${quote(token.text)} closes nothing; remove it, or open its block`;
    this.#problems.add({ reason: 'unbalanced', message, ...over(token) });
    return { kind: 'skipped', tokens: [token] };
  }

  #skipSeparator(): Skipped {
    const token = this.#tokens.next();
    const message = `${quote(token.text)} follows no field; remove it`;
    this.#problems.add({ reason: 'unexpected-separator', message, ...over(token) });
    return { kind: 'skipped', tokens: [token] };
  }

  /** A block without a name, passed over whole. */
  #skipBlock(): Skipped {
    const open = this.#tokens.open();
    const message = `a field name is expected before ${quote(open.text)}`;
    this.#problems.add({ reason: 'expected-name', message, ...over(open) });
    const inner = this.#tokens.takeBalanced();
    const close = this.#tokens.close(open);
    return { kind: 'skipped', tokens: close === undefined ? [open, ...inner] : [open, ...inner, close] };
  }

  /** Passes over what cannot begin a field, with one report for all of it. */
  #skipRun(): Skipped {
    const first = this.#tokens.next();
    const tokens = [first];
    while (!this.#atRecovery()) tokens.push(this.#tokens.next());
    if (first.kind === 'placeholder') {
      const message = `the template variable ${quote(first.text)} was left in the text; put its value here`;
      this.#problems.add({ reason: 'placeholder', message, ...over(first) });
    } else if (first.kind !== 'bad') {
      const message = `a field name is expected here, not ${quote(first.text)}`;
      this.#problems.add({ reason: 'expected-name', message, ...over(first, tokens.at(-1)) });
    }
    return { kind: 'skipped', tokens };
  }

  #atRecovery(): boolean {
    const { kind, text } = this.#tokens.peek();
    if (kind === 'end' || isCloser(text) || isOpener(text) || text === ',' || text === ';') return true;
    return startsField(this.#tokens);
  }
}

function isNamePart({ kind, text }: Token): boolean {
  return kind === 'name' || kind === 'integer' || text === '.' || text === '/' || text === '-';
}
