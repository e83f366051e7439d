import { type ErrorCode, InferenceServerError } from '@nereid/core';

/**
 * Why a model file could not be inspected.
 *
 * `unreadable`: the file is missing, a directory, or may not be read. `truncated`: it ends before the archive does. `corrupt`: a part of it
 * contradicts another. `limit`: it is larger than an option of `ArchiveLimits` allows. `wrong-kind`: it is another kind of file than asked
 * for. `no-such-model`: the package holds no model of that name.
 */
export type ModelArchiveReason = 'unreadable' | 'truncated' | 'corrupt' | 'limit' | 'wrong-kind' | 'no-such-model';

const CODES: Record<ModelArchiveReason, ErrorCode> = {
  unreadable: 'UNAVAILABLE',
  truncated: 'INVALID_ARG',
  corrupt: 'INVALID_ARG',
  limit: 'UNSUPPORTED',
  'wrong-kind': 'INVALID_ARG',
  'no-such-model': 'NOT_FOUND',
};

/** The only error that this package throws. The message names the file, what is wrong with it and what to do. */
export class ModelArchiveError extends InferenceServerError {
  override readonly name = 'ModelArchiveError';
  readonly reason: ModelArchiveReason;

  constructor(reason: ModelArchiveReason, message: string, options?: ErrorOptions) {
    super(CODES[reason], message, options);
    this.reason = reason;
  }
}
