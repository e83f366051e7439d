import { type ErrorCode, InferenceServerError } from '@nereid/core';

/**
 * What went wrong with a process:
 * - `spawn`: it could not be started at all, e.g. no such program;
 * - `start-failed`: it said itself why it cannot become ready;
 * - `start-timeout`: it was not ready in time and was killed;
 * - `exit`: it ended unasked;
 * - `protocol`: it sent what cannot be understood and was killed;
 * - `stopped`: it was stopped on purpose, or never started.
 */
export type SupervisorErrorReason = 'spawn' | 'start-failed' | 'start-timeout' | 'exit' | 'protocol' | 'stopped';

export interface SupervisorErrorInit {
  readonly code: ErrorCode;
  readonly reason: SupervisorErrorReason;
  readonly message: string;
  readonly lastLines?: readonly string[];
  readonly detail?: Uint8Array;
  readonly cause?: unknown;
}

/** Why a supervised process is not there. */
export class SupervisorError extends InferenceServerError {
  override readonly name = 'SupervisorError';
  readonly reason: SupervisorErrorReason;
  /** The last lines that the process wrote to its standard error, oldest first. */
  readonly lastLines: readonly string[];
  /** What the process sent along with `start-failed`; empty otherwise. */
  readonly detail: Uint8Array;

  constructor(init: SupervisorErrorInit) {
    super(init.code, init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.reason = init.reason;
    this.lastLines = init.lastLines ?? [];
    this.detail = init.detail ?? new Uint8Array(0);
  }
}
