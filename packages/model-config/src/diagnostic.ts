import { type Diagnostic, type DiagnosticReason, formatDiagnostic, type Span } from '@nereid/pbtxt';
import type { Finding } from './finding.ts';
import type { RuleName } from './rules/index.ts';

/**
 * What a diagnostic is about: a problem of the text (`unknown-field` …), `invalid-json`, `unsupported-value` (a value that the schema allows
 * and no configuration can have), `backend-unknown` (nothing tells which backend runs the model), or the name of a rule.
 */
export type ConfigReason = DiagnosticReason | 'invalid-json' | 'unsupported-value' | 'backend-unknown' | RuleName;

/** One problem of a configuration. A `Diagnostic` of `@nereid/pbtxt` is one as well. */
export interface ConfigDiagnostic extends Omit<Diagnostic, 'reason' | 'span'> {
  readonly reason: ConfigReason;
  /** Which value, e.g. `input[1].dims[0]` or `parameters["KEY"]`; absent when the text as such is at fault. */
  readonly path?: string;
  /** Where in the text; absent when the configuration was not read from one, or says nothing there. */
  readonly span?: Span;
}

/** Finds the value at a path in the text, or the nearest thing around it that is written there. */
export type Locate = (path: string) => Span | undefined;

/** Whether any of the diagnostics is an error, rather than a warning. */
export function hasErrors(diagnostics: readonly ConfigDiagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}

export function toDiagnostic(reason: ConfigReason, finding: Finding, locate?: Locate): ConfigDiagnostic {
  const { severity = 'error', message, path } = finding;
  const span = path === '' ? undefined : locate?.(path);
  return { severity, reason, message, ...(path !== '' && { path }), ...(span && { span }) };
}

export interface FormatConfigDiagnosticOptions {
  /** The text that was parsed; its line is shown below the message. */
  readonly text?: string | undefined;
  /** Name of the file, put before the message. */
  readonly file?: string | undefined;
  /** Whether to colour for a terminal. Default false. */
  readonly color?: boolean;
}

/**
 * A diagnostic for people: place, message and, where text and place are known, the source line with carets; else one line.
 */
export function formatConfigDiagnostic(
  { severity, message, span }: ConfigDiagnostic,
  { text, file, color = false }: FormatConfigDiagnosticOptions = {},
): string {
  const named = file === undefined ? {} : { file };
  if (span && text !== undefined) return formatDiagnostic({ severity, message, span }, { text, color, ...named });
  return `${file === undefined ? '' : `${file}: `}${severity}: ${message}`;
}
