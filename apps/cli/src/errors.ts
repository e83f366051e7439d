import { type ErrorCode, InferenceServerError } from '@nereid/core';

/**
 * Why a command failed: `usage` the command line is wrong · `unreadable` a file cannot be read or written · `bad-input` a file or value is read and not
 * what it should be · `not-inspectable` a path that holds no model · `connection` no server answers · `server` the server refused.
 */
export type CliErrorReason = 'usage' | 'unreadable' | 'bad-input' | 'not-inspectable' | 'connection' | 'server';

const CODES: Readonly<Record<CliErrorReason, ErrorCode>> = {
  usage: 'INVALID_ARG',
  unreadable: 'UNAVAILABLE',
  'bad-input': 'INVALID_ARG',
  'not-inspectable': 'INVALID_ARG',
  connection: 'UNAVAILABLE',
  server: 'UNKNOWN',
};

/** Ends a command. The message is one line for people: what is wrong and what to do. */
export class CliError extends InferenceServerError {
  override readonly name = 'CliError';
  readonly reason: CliErrorReason;

  constructor(reason: CliErrorReason, message: string, options?: ErrorOptions) {
    super(CODES[reason], message, options);
    this.reason = reason;
  }
}
