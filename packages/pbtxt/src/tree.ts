import type { BracketName, Field, Item, ListElement, PlainName, SyntaxNode, Token, Value } from './syntax.ts';

/** All tokens of a node in the order of the text. */
export function tokensOf(node: SyntaxNode): Token[] {
  const tokens: Token[] = [];
  collect(node, tokens);
  return tokens;
}

function collect(node: SyntaxNode, tokens: Token[]): void {
  switch (node.kind) {
    case 'document':
      for (const item of node.items) collect(item, tokens);
      tokens.push(node.end);
      return;
    case 'field':
      collectField(node, tokens);
      return;
    case 'name':
      tokens.push(node.token);
      return;
    case 'bracket-name':
      tokens.push(node.open);
      for (const part of node.parts) tokens.push(part);
      if (node.close !== undefined) tokens.push(node.close);
      return;
    case 'message':
    case 'list':
      tokens.push(node.open);
      for (const inner of node.kind === 'message' ? node.items : node.elements) collect(inner, tokens);
      if (node.close !== undefined) tokens.push(node.close);
      return;
    case 'element':
      collect(node.value, tokens);
      if (node.comma !== undefined) tokens.push(node.comma);
      return;
    case 'scalar':
      if (node.sign !== undefined) tokens.push(node.sign);
      for (const token of node.tokens) tokens.push(token);
      return;
    case 'skipped':
      for (const token of node.tokens) tokens.push(token);
      return;
    default:
      node satisfies never;
  }
}

function collectField({ name, colon, value, separator }: Field, tokens: Token[]): void {
  collect(name, tokens);
  if (colon !== undefined) tokens.push(colon);
  if (value !== undefined) collect(value, tokens);
  if (separator !== undefined) tokens.push(separator);
}

/** The first token of a name or value. */
export function firstToken(node: PlainName | BracketName | Value): Token | undefined {
  if (node.kind === 'name') return node.token;
  return node.kind === 'scalar' ? (node.sign ?? node.tokens[0]) : node.open;
}

/** The last token of a name, value, list element, or item; undefined only for a node without tokens. */
export function lastToken(node: PlainName | BracketName | Value | Item | ListElement): Token | undefined {
  switch (node.kind) {
    case 'name':
      return node.token;
    case 'bracket-name':
      return node.close ?? node.parts.at(-1) ?? node.open;
    case 'scalar':
      return node.tokens.at(-1) ?? node.sign;
    case 'message':
      return node.close ?? lastOf(node.items) ?? node.open;
    case 'list':
      return node.close ?? lastOf(node.elements) ?? node.open;
    case 'element':
      return node.comma ?? lastToken(node.value);
    case 'field':
      return node.separator ?? (node.value && lastToken(node.value)) ?? node.colon ?? lastToken(node.name);
    case 'skipped':
      return node.tokens.at(-1);
    default:
      return node satisfies never;
  }
}

/** The stretch from the start of one token to the end of another, as offsets. */
export function over(first: Token, last: Token = first): { start: number; end: number } {
  return { start: first.start, end: last.start + last.text.length };
}

/** The stretch of a name or value, as offsets. */
export function extent(node: PlainName | BracketName | Value, fallback: Token): { start: number; end: number } {
  return over(firstToken(node) ?? fallback, lastToken(node) ?? fallback);
}

/** A field's name as written, without quotes: `name`, `[pkg.extension]`. */
export function nameText(name: PlainName | BracketName): string {
  if (name.kind === 'bracket-name') return `[${bracketText(name)}]`;
  return name.token.kind === 'string' ? name.token.text.slice(1, -1) : name.token.text;
}

/** What stands between the brackets, without white space. */
export function bracketText(name: BracketName): string {
  return name.parts.map((part) => part.text).join('');
}

function lastOf(nodes: readonly (Item | ListElement)[]): Token | undefined {
  const last = nodes.at(-1);
  return last === undefined ? undefined : lastToken(last);
}
