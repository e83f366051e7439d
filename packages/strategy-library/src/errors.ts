import { type ErrorCode, InferenceServerError } from '@nereid/core';

/** Why a library is not used: `addon`, the native addon cannot be loaded; `library`, the file is none, lacks a function, or refuses the model. */
export type StrategyLibraryErrorReason = 'addon' | 'library';

interface StrategyLibraryFault {
  readonly reason: StrategyLibraryErrorReason;
  readonly message: string;
  /** What the addon threw. */
  readonly cause: unknown;
}

const CODES: ReadonlySet<unknown> = new Set<ErrorCode>([
  'UNKNOWN',
  'INTERNAL',
  'NOT_FOUND',
  'INVALID_ARG',
  'UNAVAILABLE',
  'UNSUPPORTED',
  'ALREADY_EXISTS',
  'CANCELLED',
]);

/** A library that cannot be opened. `code` is the library's own, or that of the addon. */
export class StrategyLibraryError extends InferenceServerError {
  override readonly name = 'StrategyLibraryError';
  readonly reason: StrategyLibraryErrorReason;

  constructor({ reason, message, cause }: StrategyLibraryFault) {
    super(codeOf(cause), message, { cause });
    this.reason = reason;
  }
}

function codeOf(thrown: unknown): ErrorCode {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return isErrorCode(code) ? code : 'INTERNAL';
}

function isErrorCode(code: unknown): code is ErrorCode {
  return CODES.has(code);
}
