import { InferenceServerError } from '@nereid/core';
import type { Diagnostic } from './diagnostic.ts';
import { formatDiagnostic } from './format-diagnostic.ts';

/** `invalid-text`: the text has errors, see `diagnostics`. `unprintable-message`: a message does not fit its type. */
export type PbtxtErrorReason = 'invalid-text' | 'unprintable-message';

interface PbtxtErrorInit {
  readonly reason: PbtxtErrorReason;
  readonly message: string;
  readonly diagnostics?: readonly Diagnostic[];
  readonly cause?: unknown;
}

/** What the throwing entry points of this package throw; `code` is INVALID_ARG. */
export class PbtxtError extends InferenceServerError {
  override readonly name = 'PbtxtError';
  readonly reason: PbtxtErrorReason;
  /** All problems of the text, errors and warnings; empty for `unprintable-message`. */
  readonly diagnostics: readonly Diagnostic[];

  constructor({ reason, message, diagnostics = [], cause }: PbtxtErrorInit) {
    super('INVALID_ARG', message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.diagnostics = diagnostics;
  }
}

/** The error for a text whose diagnostics have errors; its message shows each of them with its line. */
export function invalidText(
  diagnostics: readonly Diagnostic[],
  source: { readonly text: string; readonly file?: string },
): PbtxtError {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const message = errors.map((error) => formatDiagnostic(error, source)).join('\n');
  return new PbtxtError({ reason: 'invalid-text', message, diagnostics });
}
