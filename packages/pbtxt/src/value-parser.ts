import type { Problems } from './diagnostic.ts';
import { quote } from './quote.ts';
import type { ListElement, ListValue, MessageValue, Scalar, Skipped, Token, Value } from './syntax.ts';
import { closerOf, isCloser, type TokenCursor } from './token-cursor.ts';
import { lastToken, over } from './tree.ts';

interface ValueParserInit {
  readonly tokens: TokenCursor;
  readonly problems: Problems;
  readonly maxDepth: number;
  /** Parses the message that the cursor stands on. */
  readonly message: (depth: number) => MessageValue;
}

/** Whose value it is, for messages, and how many messages are open around it. */
interface Place {
  readonly label: string;
  readonly depth: number;
}

/** The half of the parser that reads values: scalars, and lists of values. */
export class ValueParser {
  readonly #tokens: TokenCursor;
  readonly #problems: Problems;
  readonly #maxDepth: number;
  readonly #message: (depth: number) => MessageValue;

  constructor({ tokens, problems, maxDepth, message }: ValueParserInit) {
    this.#tokens = tokens;
    this.#problems = problems;
    this.#maxDepth = maxDepth;
    this.#message = message;
  }

  /** Whether what follows a field's name can be its value, rather than the next field. */
  startsValue({ hasColon }: { hasColon: boolean }): boolean {
    const { kind, text, leading } = this.#tokens.peek();
    switch (kind) {
      case 'punctuation':
        return text === '{' || text === '<' || text === '[' || text === '-';
      case 'end':
        return false;
      case 'name':
        return !startsField(this.#tokens) && (hasColon || !leading.includes('\n'));
      default:
        return !isQuotedName(this.#tokens);
    }
  }

  value({ label, depth }: Place): Value {
    const { text } = this.#tokens.peek();
    if (text === '{' || text === '<') return this.#message(depth);
    return text === '[' ? this.#list({ label, depth }) : this.#scalar(label);
  }

  /** Reports a message or list whose content would exceed the depth limit. */
  isTooDeep(open: Token, depth: number): boolean {
    if (depth < this.#maxDepth) return false;
    const message = `blocks are nested more than ${this.#maxDepth} deep (option maxDepth)`;
    this.#problems.add({ reason: 'too-deep', message, ...over(open) });
    return true;
  }

  /** The content of a block, passed over. */
  skippedBody(): Skipped[] {
    const tokens = this.#tokens.takeBalanced();
    return tokens.length === 0 ? [] : [{ kind: 'skipped', tokens }];
  }

  /** Consumes the closer of `open`, or reports that it is missing. */
  close(open: Token): Token | undefined {
    const close = this.#tokens.close(open);
    if (close !== undefined) return close;
    const here = this.#tokens.peek();
    const seen = here.kind === 'end' ? 'the end of the text' : quote(here.text);
    const message = `${quote(open.text)} is not closed; ${quote(closerOf(open.text))} is missing before ${seen}`;
    this.#problems.add({ reason: 'unbalanced', message, ...over(open) });
    return undefined;
  }

  #scalar(label: string): Scalar {
    const sign = this.#tokens.take('-');
    const first = this.#tokens.peek();
    if (isStringStart(first)) return { kind: 'scalar', sign, tokens: this.#strings() };
    if (!isWord(first)) {
      const message = `${quote(label)} needs a number after \`-\``;
      this.#problems.add({ reason: 'expected-value', message, ...over(sign ?? first) });
      return { kind: 'scalar', sign, tokens: [] };
    }
    const tokens = [this.#tokens.next()];
    while (isGlued(this.#tokens.peek())) tokens.push(this.#tokens.next());
    this.#reportWord(label, tokens);
    return { kind: 'scalar', sign, tokens };
  }

  /** Adjacent literals are one string; one that a colon follows is a quoted field name instead. */
  #strings(): Token[] {
    const tokens = [this.#tokens.next()];
    while (isStringStart(this.#tokens.peek()) && !isQuotedName(this.#tokens)) tokens.push(this.#tokens.next());
    return tokens;
  }

  #reportWord(label: string, tokens: readonly Token[]): void {
    const [first] = tokens;
    if (first === undefined || tokens.some((token) => token.kind === 'bad')) return;
    const place = over(first, tokens.at(-1));
    const placeholder = tokens.find((token) => token.kind === 'placeholder');
    if (placeholder !== undefined) {
      const message = `${quote(label)} still holds the template variable ${quote(placeholder.text)}; put its value here`;
      this.#problems.add({ reason: 'placeholder', message, ...place });
    } else if (tokens.length > 1) {
      const suggestion = `"${tokens.map((token) => token.text).join('')}"`;
      const message = `${quote(label)} has text without quotes; write ${quote(suggestion)}`;
      this.#problems.add({ reason: 'unquoted-string', message, ...place, suggestion });
    }
  }

  #list({ label, depth }: Place): ListValue {
    const open = this.#tokens.open();
    const elements = this.isTooDeep(open, depth) ? this.skippedBody() : this.#elements({ label, depth });
    return { kind: 'list', open, elements, close: this.close(open) };
  }

  #elements(place: Place): (ListElement | Skipped)[] {
    const elements: (ListElement | Skipped)[] = [];
    while (!this.#tokens.atClose() && !startsField(this.#tokens) && !isQuotedName(this.#tokens)) {
      elements.push(this.#element(place));
    }
    const last = elements.at(-1);
    if (last?.kind === 'element' && last.comma !== undefined && this.#tokens.peek().text === ']') {
      const message = 'no comma stands before `]`; remove it';
      this.#problems.add({ reason: 'unexpected-separator', message, ...over(last.comma) });
    }
    return elements;
  }

  #element(place: Place): ListElement | Skipped {
    const first = this.#tokens.peek();
    if (!isWord(first) && !isStringStart(first) && !'{<[-'.includes(first.text)) return this.#skip(first);
    const value = first.text === '[' ? this.#nestedList(place) : this.value(place);
    return { kind: 'element', value, comma: this.#comma(value) };
  }

  #skip(token: Token): Skipped {
    const message = `a value of the list is expected here, not ${quote(token.text)}`;
    const reason = isCloser(token.text) ? 'unbalanced' : 'expected-value';
    this.#problems.add({ reason, message, ...over(token) });
    return { kind: 'skipped', tokens: [this.#tokens.next()] };
  }

  #nestedList({ label, depth }: Place): ListValue {
    const message = `${quote(label)} has a list inside a list; text format has none`;
    this.#problems.add({ reason: 'unexpected-list', message, ...over(this.#tokens.peek()) });
    return this.#list({ label, depth: depth + 1 });
  }

  #comma(value: Value): Token | undefined {
    const semicolon = this.#tokens.take(';');
    if (semicolon !== undefined) {
      const message = 'the values of a list are separated by commas; replace `;` by `,`';
      this.#problems.add({ reason: 'missing-comma', message, ...over(semicolon), suggestion: ',' });
      return semicolon;
    }
    const next = this.#tokens.peek();
    const comma = this.#tokens.take(',');
    const isLast = this.#tokens.atClose() || startsField(this.#tokens) || isQuotedName(this.#tokens);
    const last = lastToken(value);
    if (comma === undefined && !isLast && last !== undefined && !isCloser(next.text)) {
      const message = `a comma is missing after this value of the list, before ${quote(next.text)}`;
      this.#problems.add({ reason: 'missing-comma', message, ...over(last) });
    }
    return comma;
  }
}

/** A name with what follows a field's name. A value followed by `[pkg.extension]`, the next field, is told apart. */
export function startsField(tokens: TokenCursor): boolean {
  if (tokens.peek().kind !== 'name') return false;
  const { text } = tokens.peek(1);
  return (
    text === ':' || text === '=' || text === '{' || text === '<' || (text === '[' && tokens.peek(2).kind !== 'name')
  );
}

/** A string literal in the place of a field's name, as in JSON. */
export function isQuotedName(tokens: TokenCursor): boolean {
  return tokens.peek().kind === 'string' && tokens.peek(1).text === ':';
}

/** Whether `value` may only follow a colon, as far as that can be told without a schema. */
export function needsColon(value: Value): boolean {
  if (value.kind === 'message') return false;
  if (value.kind === 'scalar') return value.tokens[0]?.kind !== 'bad';
  const [first] = value.elements;
  return first?.kind === 'element' && first.value.kind === 'scalar';
}

function isStringStart({ kind, text }: Token): boolean {
  return kind === 'string' || (kind === 'bad' && (text.startsWith('"') || text.startsWith("'")));
}

function isWord({ kind }: Token): boolean {
  return kind === 'name' || kind === 'integer' || kind === 'float' || kind === 'placeholder' || kind === 'bad';
}

/** Continues a word without white space between: `model.pt`, `a/b`, `v${N}`. */
function isGlued(token: Token): boolean {
  if (token.leading !== '') return false;
  return isWord(token) || token.kind === 'string' || token.text === '.' || token.text === '/' || token.text === '-';
}
