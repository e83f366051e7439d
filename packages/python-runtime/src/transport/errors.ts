import { type ErrorCode, InferenceServerError } from '@nereid/core';

/**
 * What went wrong between the two sides:
 * - `too-large`: a batch needs more shared memory than the limit allows;
 * - `memory`: the system has no more shared memory to give;
 * - `stale`: what was to be read is gone: another batch was written over it;
 * - `message`: the other side sent a message that contradicts itself or the memory;
 * - `closed`: the transport was closed.
 */
export type TransportErrorReason = 'too-large' | 'memory' | 'stale' | 'message' | 'closed';

export interface TransportErrorInit {
  readonly code: ErrorCode;
  readonly reason: TransportErrorReason;
  readonly message: string;
  readonly cause?: unknown;
}

/** Why tensors did not get from one side to the other. */
export class TransportError extends InferenceServerError {
  override readonly name = 'TransportError';
  readonly reason: TransportErrorReason;

  constructor(init: TransportErrorInit) {
    super(init.code, init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.reason = init.reason;
  }
}
