import textformat from 'protobufjs/ext/textformat.js';
import protobuf from 'protobufjs/light.js';
import { checkDocument } from './check.ts';
import { Problems } from './diagnostic.ts';
import { invalidText } from './errors.ts';
import { type Rewrite, rewritten } from './findings.ts';
import { Locator } from './locate.ts';
import { limitsOf, type PbtxtOptions } from './options.ts';
import { type ParsedText, parseDocument } from './parse-syntax.ts';
import { LineIndex, type Span } from './position.ts';
import type { Document } from './syntax.ts';

/** A text as a tree and as a message, and every problem found in it. */
export interface ParsedMessage extends ParsedText {
  /**
   * The message, of the class that the type makes; undefined when a diagnostic is an error. 64-bit integers are `Long`,
   * enums are numbers, maps are plain objects. A float field keeps the number as written, not rounded to 32 bits.
   */
  readonly message: Record<string, unknown> | undefined;
  /**
   * Finds where a value of the message stands.
   *
   * @param path  fields by their name in the text or in the message, elements of repeated fields by index from 0, entries
   *   of maps by key: `input[1].dims[0]`, `parameters["K"].string_value`
   * @returns the span of the value; of a message written as its own field, and of a repeated field without an index, from
   *   the field's name on; of a map entry that holds a message, from its key on. Undefined for a path that is malformed,
   *   unknown to the type, or not set in the text. It answers for texts with errors, too.
   */
  locate(path: string): Span | undefined;
}

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Parses text format as a message of `type`, and reports all problems of the text, not only the first.
 *
 * Time and memory are linear in the text.
 *
 * @param type  its references must resolve; they are resolved by this call where they were not yet
 * @returns never throws because of the text: problems are diagnostics
 * @throws {Error} by protobufjs, when the type refers to types that do not exist
 */
export function parseMessage(type: protobuf.Type, text: string, options: PbtxtOptions = {}): ParsedMessage {
  type.root.resolveAll();
  const lines = new LineIndex(text);
  const limits = limitsOf({ ...options, maxDepth: Math.min(options.maxDepth ?? 100, protobuf.util.recursionLimit) });
  const problems = new Problems(lines, limits.maxDiagnostics);
  const document = parseDocument(text, { limits, problems });
  const rewrites = checkDocument(type, document, problems);
  const message = problems.hasErrors ? undefined : readMessage(type, { document, rewrites, problems });
  const locator = new Locator(type, document, lines);
  return { document, diagnostics: problems.list(), message, locate: (path) => locator.locate(path) };
}

/**
 * Parses like `parseMessage`, for callers that have no use for a text with errors.
 *
 * @returns the message; warnings are dropped
 * @throws {PbtxtError} INVALID_ARG `invalid-text` with all diagnostics; its message quotes each with its line
 */
export function parseMessageOrThrow(
  type: protobuf.Type,
  text: string,
  options: PbtxtOptions = {},
): Record<string, unknown> {
  const { message, diagnostics } = parseMessage(type, text, options);
  if (message !== undefined) return message;
  throw invalidText(diagnostics, { ...options, text });
}

interface Checked {
  readonly document: Document;
  readonly rewrites: readonly Rewrite[];
  readonly problems: Problems;
}

/** Reads the values of a text that was checked. */
function readMessage(
  type: protobuf.Type,
  { document, rewrites, problems }: Checked,
): Record<string, unknown> | undefined {
  const text = rewritten(document.text, rewrites);
  try {
    const message: unknown = textformat.fromText(type, text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
    return isRecord(message) ? message : undefined;
  } catch (thrown) {
    // Only a text that the checks above wrongly took for good gets here.
    const message = `protobufjs refuses this text: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    problems.add({ reason: 'rejected', message, start: 0, end: document.text.length });
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
