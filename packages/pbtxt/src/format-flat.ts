import type { Field, Item, ListElement, Skipped, Token, Value } from './syntax.ts';
import { tokensOf } from './tree.ts';

/**
 * A value on one line, if it fits in `budget` characters, has no comments, and its author wrote it on one line. Lists of
 * scalars and empty blocks are put on one line in any case.
 *
 * Gives up at the first character too many, so that asking again for every nested value stays cheap.
 */
export function flatValue(value: Value, budget: number): string | undefined {
  const line = new FlatLine(budget);
  return line.addValue(value) ? line.text() : undefined;
}

class FlatLine {
  readonly #pieces: string[] = [];
  #left: number;

  constructor(budget: number) {
    this.#left = budget;
  }

  text(): string {
    return this.#pieces.join('');
  }

  addValue(value: Value): boolean {
    switch (value.kind) {
      case 'scalar':
        return this.#scalar(value.sign, value.tokens);
      case 'message':
        return this.#message(value.open, value.items, value.close);
      case 'list':
        return this.#list(value.open, value.elements, value.close);
      default:
        return value satisfies never;
    }
  }

  #scalar(sign: Token | undefined, tokens: readonly Token[]): boolean {
    if (sign !== undefined && !this.#token(sign)) return false;
    return tokens.every((token, index) => (index === 0 || this.#add(' ')) && this.#token(token));
  }

  #message(open: Token, items: readonly Item[], close: Token | undefined): boolean {
    if (hasComment(open) || close === undefined || hasComment(close)) return false;
    if (items.length === 0) return this.#add('{}');
    if (breaksLine(close)) return false;
    return this.#add('{') && items.every((item) => this.#item(item)) && this.#add(' }');
  }

  #item(item: Item): boolean {
    if (item.kind === 'skipped' || !this.#add(' ')) return false;
    const { name, colon, value, separator } = item;
    const nameTokens = tokensOf(name);
    const [first] = nameTokens;
    if (first === undefined || breaksLine(first) || !nameTokens.every((token) => this.#token(token))) return false;
    if ((colon && hasComment(colon)) || (separator && hasComment(separator)) || value === undefined) return false;
    return this.#add(`${colonText(item)} `) && this.addValue(value);
  }

  #list(open: Token, elements: readonly (ListElement | Skipped)[], close: Token | undefined): boolean {
    if (hasComment(open) || close === undefined || hasComment(close)) return false;
    if (holdsBlocks(elements) && breaksLine(close)) return false;
    const added = elements.every((element, index) => this.#add(index === 0 ? '[' : ', ') && this.#element(element));
    return added && this.#add(elements.length === 0 ? '[]' : ']');
  }

  #element(element: ListElement | Skipped): boolean {
    if (element.kind === 'skipped' || (element.comma && hasComment(element.comma))) return false;
    const { value } = element;
    if (value.kind !== 'scalar' && (breaksLine(value.open) || hasComment(value.open))) return false;
    return this.addValue(value);
  }

  #token(token: Token): boolean {
    return !hasComment(token) && this.#add(token.text);
  }

  #add(text: string): boolean {
    this.#pieces.push(text);
    this.#left -= text.length;
    return this.#left >= 0;
  }
}

/** The colon between a field's name and its value: needed by scalars, left out before blocks. */
export function colonText({ colon, value }: Field): '' | ':' {
  if (value === undefined || value.kind === 'scalar') return ':';
  if (value.kind === 'message') return '';
  const [first] = value.elements;
  // Without elements, whether the colon is needed depends on the schema: it stays as it was.
  if (first?.kind !== 'element') return colon === undefined ? '' : ':';
  return holdsBlocks(value.elements) ? '' : ':';
}

function holdsBlocks([first]: readonly (ListElement | Skipped)[]): boolean {
  return first?.kind === 'element' && first.value.kind !== 'scalar';
}

function hasComment({ leading }: Token): boolean {
  return leading.includes('#');
}

function breaksLine({ leading }: Token): boolean {
  return leading.includes('\n');
}
