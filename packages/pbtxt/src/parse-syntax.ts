import type { Diagnostic } from './diagnostic.ts';
import { Problems } from './diagnostic.ts';
import { lex } from './lex.ts';
import { type Limits, limitsOf, type PbtxtOptions } from './options.ts';
import { Parser } from './parser.ts';
import { LineIndex } from './position.ts';
import type { Document } from './syntax.ts';

/** A text as a tree, and every problem found in it. */
export interface ParsedText {
  readonly document: Document;
  /** In the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Parses a text without knowing its message type. Time and memory are linear in the text; it never throws.
 *
 * @returns a tree that holds every character of the text, and the problems that need no schema
 */
export function parseSyntax(text: string, options: PbtxtOptions = {}): ParsedText {
  const limits = limitsOf(options);
  const problems = new Problems(new LineIndex(text), limits.maxDiagnostics);
  const document = parseDocument(text, { limits, problems });
  return { document, diagnostics: problems.list() };
}

/** Parses into a tree and reports to `problems`. */
export function parseDocument(text: string, context: { limits: Limits; problems: Problems }): Document {
  const { limits, problems } = context;
  const byteSize = Buffer.byteLength(text);
  if (byteSize <= limits.maxBytes) return new Parser(lex(text, problems), context).document(text);
  const message = `the text has ${byteSize} bytes, more than the limit of ${limits.maxBytes} (option maxBytes)`;
  problems.add({ reason: 'too-large', message, start: 0, end: 0 });
  return unreadDocument(text);
}

function unreadDocument(text: string): Document {
  const all = { kind: 'bad', leading: '', text, start: 0 } as const;
  const end = { kind: 'end', leading: '', text: '', start: text.length } as const;
  return { kind: 'document', text, items: [{ kind: 'skipped', tokens: [all] }], end };
}
