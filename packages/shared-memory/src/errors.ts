import { type ErrorCode, InferenceServerError } from '@nereid/core';

/**
 * What is wrong with shared memory, or with its use:
 * `disabled` clients may not register any · `bad-key` a key that is no name of a POSIX object · `bad-region` an empty name, or a size or offset that is none or beyond the object ·
 * `no-gpu` CUDA memory without a GPU · `exists` the name is taken · `limit` too many regions, or too large a part · `not-opened` there is no such object, or not for this process ·
 * `unknown-region` nobody registered it · `bad-part` a part that is beyond the region, or a region that its owner has made shorter ·
 * `too-small` an output is larger than its part · `io` the bytes could not be moved.
 */
export type SharedMemoryErrorReason =
  | 'disabled'
  | 'bad-key'
  | 'bad-region'
  | 'no-gpu'
  | 'exists'
  | 'limit'
  | 'not-opened'
  | 'unknown-region'
  | 'bad-part'
  | 'too-small'
  | 'io';

const CODES: Record<SharedMemoryErrorReason, ErrorCode> = {
  disabled: 'UNSUPPORTED',
  'bad-key': 'INVALID_ARG',
  'bad-region': 'INVALID_ARG',
  'no-gpu': 'INVALID_ARG',
  exists: 'ALREADY_EXISTS',
  limit: 'INVALID_ARG',
  'not-opened': 'INTERNAL',
  'unknown-region': 'NOT_FOUND',
  'bad-part': 'INVALID_ARG',
  'too-small': 'INTERNAL',
  io: 'INTERNAL',
};

/** A region that cannot be registered or used. Codes are those of the original for the same failure. */
export class SharedMemoryError extends InferenceServerError {
  override readonly name = 'SharedMemoryError';
  readonly reason: SharedMemoryErrorReason;

  constructor(reason: SharedMemoryErrorReason, message: string, options?: ErrorOptions) {
    super(CODES[reason], message, options);
    this.reason = reason;
  }
}
