import type { Diagnostic } from './diagnostic.ts';

/** What the diagnostic is about, and how to show it. */
export interface FormatDiagnosticOptions {
  /** The text that was parsed; its line is shown below the message. */
  readonly text: string;
  /** Put before `line:column`. Default: none. */
  readonly file?: string;
  /** Whether to colour for a terminal with ANSI sequences. Default false. */
  readonly color?: boolean;
}

/** A longer line is cut around the problem, for minified texts. */
const WIDEST = 120;
const BEFORE = 40;
const NEWLINE = 10;

/**
 * A diagnostic for people: message, source line, and carets below what it is about.
 *
 *     config.pbtxt:3:1: error: ModelConfig has no field `max_batchsize`; did you mean `max_batch_size`?
 *       3 | max_batchsize: 8
 *         | ^~~~~~~~~~~~~
 *
 * @returns three lines without a newline at the end; control characters of the source are shown as `·`
 */
export function formatDiagnostic(
  { severity, message, span }: Pick<Diagnostic, 'severity' | 'message' | 'span'>,
  { text, file, color = false }: FormatDiagnosticOptions,
): string {
  const { line, column, offset } = span.start;
  const place = `${file === undefined ? '' : `${file}:`}${line}:${column}`;
  const paint = color ? painted : plain;
  const level = paint(severity === 'error' ? RED : YELLOW, severity);
  const lineStart = offset - column + 1;
  const lineEnd = endOfLine(text, lineStart);
  const window = cut({ start: lineStart, end: lineEnd, focus: offset });
  const source = visible(text.slice(window.start, window.end));
  const gutter = String(line).padStart(3);
  const marked = Math.max(1, Math.min(span.end.offset, window.end) - offset);
  const underline = blank(source.slice(0, offset - window.start)) + paint(GREEN, `^${'~'.repeat(marked - 1)}`);
  return [
    `${paint(BOLD, `${place}:`)} ${level}: ${message}`,
    `${gutter} | ${source}`,
    `${' '.repeat(gutter.length)} | ${underline}`,
  ].join('\n');
}

const BOLD = 1;
const RED = 31;
const GREEN = 32;
const YELLOW = 33;

function painted(code: number, text: string): string {
  return `\u001b[${code}m${text}\u001b[0m`;
}

function plain(_code: number, text: string): string {
  return text;
}

function endOfLine(text: string, start: number): number {
  const newline = text.indexOf('\n', start);
  const end = newline === -1 ? text.length : newline;
  return text.charAt(end - 1) === '\r' && text.charCodeAt(end) === NEWLINE ? end - 1 : end;
}

function cut({ start, end, focus }: { start: number; end: number; focus: number }): { start: number; end: number } {
  if (end - start <= WIDEST) return { start, end: Math.max(end, focus) };
  const from = Math.max(start, Math.min(focus - BEFORE, end - WIDEST));
  return { start: from, end: Math.min(end, from + WIDEST) };
}

/** One visible character for each UTF-16 unit that is not, so that carets stay below what they mark. */
function visible(source: string): string {
  return source.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, '·');
}

function blank(source: string): string {
  return source.replace(/[^\t]/g, ' ');
}
