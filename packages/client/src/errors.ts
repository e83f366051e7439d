import { type ErrorCode, InferenceServerError } from '@nereid/core';

/**
 * Why a call failed:
 * `usage` it could not be sent as it was asked for · `connection` the server was not reached, or went away · `timeout` the deadline of the client has passed ·
 * `cancelled` its signal was aborted · `refused` the server answered that it cannot, `status` says how · `bad-answer` what came is no answer of the protocol.
 */
export type ClientErrorReason = 'usage' | 'connection' | 'timeout' | 'cancelled' | 'refused' | 'bad-answer';

export interface ClientErrorInit {
  readonly reason: ClientErrorReason;
  readonly code: ErrorCode;
  /** What happened. */
  readonly summary: string;
  /** What to do. */
  readonly advice?: string | undefined;
  readonly status?: number | undefined;
  readonly serverMessage?: string | undefined;
  readonly isNotTaken?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** The one error that the clients throw. Its message is `summary`, and `advice` where there is any. */
export class ClientError extends InferenceServerError {
  override readonly name = 'ClientError';
  readonly reason: ClientErrorReason;
  /** What happened, in one sentence. */
  readonly summary: string;
  /** What to do about it; '' where the summary says it all. */
  readonly advice: string;
  /** HTTP status or gRPC status code of the answer; undefined without an answer. */
  readonly status: number | undefined;
  /** What the server said, word for word; undefined where it said nothing. */
  readonly serverMessage: string | undefined;
  /** Whether it is certain that the server has not begun what was asked for, so that sending it again is safe. */
  readonly isNotTaken: boolean;
  /** How long the server asks to wait before the next attempt; undefined where it does not. */
  readonly retryAfterMs: number | undefined;

  constructor(init: ClientErrorInit) {
    const { reason, code, summary, advice = '' } = init;
    super(
      code,
      advice === '' ? summary : `${summary}; ${advice}`,
      init.cause === undefined ? {} : { cause: init.cause },
    );
    this.reason = reason;
    this.summary = summary;
    this.advice = advice;
    this.status = init.status;
    this.serverMessage = init.serverMessage;
    this.isNotTaken = init.isNotTaken ?? false;
    this.retryAfterMs = init.retryAfterMs;
  }
}

/** Something in the arguments of a call that no server would take. */
export function usageError(summary: string, cause?: unknown): ClientError {
  return new ClientError({ reason: 'usage', code: 'INVALID_ARG', summary, cause });
}

/** Runs what reads an answer; whatever it throws means that the answer is none of the protocol. */
export function readAnswer<T>(server: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof ClientError) throw thrown;
    throw new ClientError({
      reason: 'bad-answer',
      code: 'INTERNAL',
      summary: `the answer of ${server} is none of the v2 inference protocol: ${InferenceServerError.from(thrown).message}`,
      advice: 'is it a server of that protocol?',
      cause: thrown,
    });
  }
}
