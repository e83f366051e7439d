import type { LineIndex, Span } from './position.ts';

/** What a diagnostic is about. The first group needs no schema, the second comes from the message type. */
export type DiagnosticReason =
  | 'too-large'
  | 'too-deep'
  | 'too-many-problems'
  | 'illegal-character'
  | 'slash-comment'
  | 'unterminated-string'
  | 'bad-escape'
  | 'bad-number'
  | 'placeholder'
  | 'unbalanced'
  | 'expected-name'
  | 'expected-value'
  | 'missing-colon'
  | 'missing-comma'
  | 'unexpected-separator'
  | 'unexpected-list'
  | 'unquoted-string'
  | 'unknown-field'
  | 'unknown-extension'
  | 'unknown-type'
  | 'reserved-field'
  | 'unknown-enum-value'
  | 'wrong-type'
  | 'out-of-range'
  | 'invalid-utf8'
  | 'duplicate-field'
  | 'duplicate-map-key'
  | 'oneof-conflict'
  | 'missing-required'
  | 'rejected';

/** One problem of a text. */
export interface Diagnostic {
  /** An `error` keeps the message from being made; a `warning` does not. */
  readonly severity: 'error' | 'warning';
  readonly reason: DiagnosticReason;
  /** What was expected, what came, and what to do; without the position. */
  readonly message: string;
  /** Where; always inside the text. */
  readonly span: Span;
  /** What to write in place of the span, where that is known. */
  readonly suggestion?: string;
}

/** A diagnostic before its offsets became a span; `severity` is `error` unless given. */
export interface Problem {
  readonly reason: DiagnosticReason;
  readonly severity?: Diagnostic['severity'];
  readonly message: string;
  readonly start: number;
  readonly end: number;
  readonly suggestion?: string | undefined;
}

/** Collects the problems of one text, up to a limit. */
export class Problems {
  readonly lines: LineIndex;
  readonly #limit: number;
  readonly #found: Diagnostic[] = [];
  #overflow: Diagnostic | undefined;
  #errors = 0;

  constructor(lines: LineIndex, limit: number) {
    this.lines = lines;
    this.#limit = limit;
  }

  /** False once the limit is reached: then looking for suggestions is wasted. */
  get hasRoom(): boolean {
    return this.#found.length < this.#limit;
  }

  get hasErrors(): boolean {
    return this.#errors > 0;
  }

  add(problem: Problem): void {
    if (problem.severity !== 'warning') this.#errors++;
    if (this.hasRoom) this.#found.push(this.#diagnostic(problem));
    else if (this.#overflow === undefined) {
      this.#overflow = this.#diagnostic({
        reason: 'too-many-problems',
        message: `more than ${this.#limit} problems; the others are not listed`,
        start: problem.start,
        end: problem.end,
      });
    }
  }

  /** Everything found, in the order of the text; what speaks of the limit comes last. */
  list(): readonly Diagnostic[] {
    const sorted = this.#found.toSorted((a, b) => a.span.start.offset - b.span.start.offset);
    return this.#overflow === undefined ? sorted : [...sorted, this.#overflow];
  }

  #diagnostic({ reason, severity = 'error', message, start, end, suggestion }: Problem): Diagnostic {
    const span = this.lines.span(start, end);
    return { severity, reason, message, span, ...(suggestion !== undefined && { suggestion }) };
  }
}
