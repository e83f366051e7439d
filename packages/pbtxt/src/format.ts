import { invalidText } from './errors.ts';
import { colonText, flatValue } from './format-flat.ts';
import { FormatWriter } from './format-writer.ts';
import type { PbtxtOptions } from './options.ts';
import { parseSyntax } from './parse-syntax.ts';
import { printSyntax } from './print.ts';
import type { Document, Field, Item, ListElement, ListValue, MessageValue, Scalar, Skipped, Value } from './syntax.ts';
import { tokensOf } from './tree.ts';

/** How to lay out, and the limits of the parse before. */
export interface FormatOptions extends PbtxtOptions {
  /** Spaces for each level. Default 2. */
  readonly indent?: number;
  /** Widest line that a list or a block is put on whole, in characters. Default 100. */
  readonly width?: number;
}

/**
 * Lays a text out anew: one field a line, indentation by nesting, `{ }` for blocks, no separators but the commas of lists,
 * a colon before scalars only. Comments, the order of fields, and single empty lines between them are kept, and blocks
 * that were written on one line and fit stay there. Formatting the result again changes nothing, and it parses to the
 * same message.
 *
 * Lines end as the first one of the text does (`\n` or `\r\n`); a byte-order mark is dropped.
 *
 * @param input  a text, or a tree that may have been edited
 * @throws {PbtxtError} INVALID_ARG `invalid-text` when the text has syntax errors; no schema is needed or used
 */
export function format(input: string | Document, options: FormatOptions = {}): string {
  const text = typeof input === 'string' ? input : printSyntax(input);
  const { document, diagnostics } = parseSyntax(text, options);
  if (diagnostics.some(({ severity }) => severity === 'error')) throw invalidText(diagnostics, { ...options, text });
  const formatted = new Formatter(options).document(document);
  return usesCrLf(text) ? formatted.replaceAll('\n', '\r\n') : formatted;
}

function usesCrLf(text: string): boolean {
  return text.charAt(text.indexOf('\n') - 1) === '\r';
}

class Formatter {
  readonly #writer: FormatWriter;
  readonly #width: number;

  constructor({ indent = 2, width = 100 }: FormatOptions) {
    this.#writer = new FormatWriter(indent);
    this.#width = width;
  }

  document({ items, end }: Document): string {
    this.#items(items);
    return this.#writer.finish(end);
  }

  #items(items: readonly Item[]): void {
    for (const item of items) if (item.kind === 'field') this.#field(item);
  }

  #field(field: Field): void {
    const [first, ...rest] = tokensOf(field.name);
    if (first !== undefined) this.#writer.line(first);
    for (const token of rest) this.#writer.inline(token, '');
    if (field.value !== undefined) this.#fieldValue(field, field.value);
    this.#writer.suffix('', field.separator);
  }

  #fieldValue(field: Field, value: Value): void {
    const colon = colonText(field);
    if (value.kind === 'scalar') {
      this.#writer.suffix(colon, field.colon);
      this.#scalar(value, 'field');
      return;
    }
    const hasComments = field.colon?.leading.includes('#') ?? false;
    if (!hasComments && this.#appendFlat(value, `${colon} `)) return;
    this.#writer.open(`${colon} ${bracketsOf(value).open}`, field.colon, value.open);
    this.#blockContent(value);
  }

  /** Appends the whole value if it may stand on the current line. */
  #appendFlat(value: Value, before: string): boolean {
    const flat = flatValue(value, this.#width - this.#writer.column - before.length);
    if (flat === undefined) return false;
    this.#writer.append(before + flat);
    return true;
  }

  #scalar({ sign, tokens }: Scalar, place: 'field' | 'element'): void {
    const [first, ...rest] = sign === undefined ? tokens : [sign, ...tokens];
    if (first === undefined) return;
    if (place === 'field') this.#writer.inline(first, ' ');
    else this.#writer.line(first);
    for (const token of rest) {
      if (sign !== undefined) this.#writer.inline(token, '');
      else if (token.leading.includes('\n')) this.#writer.continued(token);
      else this.#writer.inline(token, ' ');
    }
  }

  #blockContent(block: MessageValue | ListValue): void {
    if (block.kind === 'message') this.#items(block.items);
    else for (const element of block.elements) this.#element(element);
    if (block.close !== undefined) this.#writer.close(block.close, bracketsOf(block).close);
  }

  #element(element: ListElement | Skipped): void {
    if (element.kind === 'skipped') return;
    const { value, comma } = element;
    if (value.kind === 'scalar') this.#scalar(value, 'element');
    else this.#blockElement(value);
    this.#writer.suffix(comma === undefined ? '' : ',', comma);
  }

  /** Comments before a block in a list stay before it. */
  #blockElement(block: MessageValue | ListValue): void {
    this.#writer.line({ ...block.open, text: '' });
    const bare = { ...block, open: { ...block.open, leading: '' } };
    if (this.#appendFlat(bare, '')) return;
    this.#writer.open(bracketsOf(block).open);
    this.#blockContent(block);
  }
}

function bracketsOf(block: MessageValue | ListValue): { open: string; close: string } {
  return block.kind === 'message' ? { open: '{', close: '}' } : { open: '[', close: ']' };
}
