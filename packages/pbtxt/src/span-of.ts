import { LineIndex, type Span } from './position.ts';
import type { Document, SyntaxNode, Token } from './syntax.ts';
import { tokensOf } from './tree.ts';

const indexes = new WeakMap<Document, LineIndex>();

/**
 * Where a node or token stands in the text that was parsed, without the white space and comments before it.
 *
 * @param document  the tree that the node belongs to; after an edit, positions still refer to the text before it
 * @returns undefined for a node without tokens
 */
export function spanOf(node: SyntaxNode | Token, document: Document): Span | undefined {
  const tokens = 'leading' in node ? [node] : tokensOf(node);
  const [first] = tokens;
  const last = tokens.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const index = indexes.get(document) ?? new LineIndex(document.text);
  indexes.set(document, index);
  return index.span(first.start, last.start + last.text.length);
}
