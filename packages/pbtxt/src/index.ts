export type { Diagnostic, DiagnosticReason } from './diagnostic.ts';
export { PbtxtError, type PbtxtErrorReason } from './errors.ts';
export { type FormatOptions, format } from './format.ts';
export { type FormatDiagnosticOptions, formatDiagnostic } from './format-diagnostic.ts';
export type { PbtxtOptions } from './options.ts';
export { type ParsedMessage, parseMessage, parseMessageOrThrow } from './parse-message.ts';
export { type ParsedText, parseSyntax } from './parse-syntax.ts';
export { LineIndex, type Position, type Span } from './position.ts';
export { printMessage, printSyntax } from './print.ts';
export { spanOf } from './span-of.ts';
export type {
  BracketName,
  Document,
  Field,
  Item,
  ListElement,
  ListValue,
  MessageValue,
  PlainName,
  Scalar,
  Skipped,
  SyntaxNode,
  Token,
  TokenKind,
  Value,
} from './syntax.ts';
