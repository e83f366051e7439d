import { InferenceServerError } from '@nereid/core';

/**
 * Why a repository as a whole, or a path handed to it, cannot be used. Faults of one model are data instead (`RepositoryProblem`).
 *
 * - `no-path`: no repository path was given
 * - `not-a-directory`: a repository path does not exist, is no directory, or cannot be listed
 * - `bad-config-name`: the name of the configuration variant is empty or contains a path separator
 * - `escapes-directory`: a file that must lie inside a directory lies outside
 * - `unreadable`: a file does not exist, is no regular file, or the system refuses to read it
 * - `too-large`: a file exceeds the limit it is read with
 */
export type RepositoryErrorReason =
  | 'no-path'
  | 'not-a-directory'
  | 'bad-config-name'
  | 'escapes-directory'
  | 'unreadable'
  | 'too-large';

const CODES = {
  'no-path': 'INVALID_ARG',
  'not-a-directory': 'INVALID_ARG',
  'bad-config-name': 'INVALID_ARG',
  'escapes-directory': 'UNSUPPORTED',
  unreadable: 'UNAVAILABLE',
  'too-large': 'INVALID_ARG',
} as const;

/** The only error this package throws. `code` follows from `reason`. */
export class RepositoryError extends InferenceServerError {
  override readonly name = 'RepositoryError';
  readonly reason: RepositoryErrorReason;

  constructor(reason: RepositoryErrorReason, message: string, options?: ErrorOptions) {
    super(CODES[reason], message, options);
    this.reason = reason;
  }
}
