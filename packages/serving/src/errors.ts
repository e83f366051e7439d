import { type ErrorCode, InferenceServerError } from '@nereid/core';

/** What the engine refuses, with the code a caller acts on. */
const CODES = {
  /** No model of that name in any repository. */
  'unknown-model': 'NOT_FOUND',
  /** The model has no such version. */
  'unknown-version': 'NOT_FOUND',
  /** No version of the model is ready. */
  'no-ready-version': 'NOT_FOUND',
  /** The version exists and is loading, unloading or failed. */
  'not-ready': 'UNAVAILABLE',
  /** A version that is no decimal number. */
  'bad-version': 'INVALID_ARG',
  /** The request does not fit the model's configuration. */
  'bad-request': 'INVALID_ARG',
  /** A header to be forwarded is called like a parameter that means something. */
  'reserved-header': 'INVALID_ARG',
  /** The client cancelled before the request was queued. */
  cancelled: 'CANCELLED',
  /** The engine is stopping. */
  stopping: 'UNAVAILABLE',
  /** The model directory or its configuration is at fault. */
  'bad-model': 'INVALID_ARG',
  /** There is no configuration, and the model file does not make up for it. */
  'no-config': 'NOT_FOUND',
  /** The configuration asks for something the engine does not do. */
  unsupported: 'UNSUPPORTED',
  /** No backend of the configuration's name was given. */
  'unknown-backend': 'INVALID_ARG',
  /** The model's batching strategy does not exist where its configuration says. */
  'no-strategy': 'NOT_FOUND',
  /** The model's batching strategy cannot be used. */
  'bad-strategy': 'INVALID_ARG',
  /** A warmup sample cannot be made, or failed. */
  'warmup-failed': 'INVALID_ARG',
} as const satisfies Record<string, ErrorCode>;

export type ServingErrorReason = keyof typeof CODES;

/** What the engine itself finds fault with; a backend's own errors pass through unchanged. `code` follows from `reason`. */
export class ServingError extends InferenceServerError {
  override readonly name = 'ServingError';
  readonly reason: ServingErrorReason;

  constructor(reason: ServingErrorReason, message: string, options?: ErrorOptions) {
    super(CODES[reason], message, options);
    this.reason = reason;
  }
}
