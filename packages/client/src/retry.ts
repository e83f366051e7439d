/**
 * When a call is sent again. Calls that only read may be repeated whenever the server was not reached or is not up to it. Everything else is repeated only when it
 * is certain that the server has not begun it: no connection was made, or the server refused with the word to come back later.
 */
import type { Deadline } from './deadline.ts';
import { ClientError } from './errors.ts';
import type { RetryOptions } from './options.ts';

/** `read` leaves the server as it is; `act` runs a model or changes something. */
export type CallKind = 'read' | 'act';

/** Runs attempts until one succeeds, no further one is safe, none is left, or the deadline would pass while waiting. */
export async function withRetries<T>(
  { kind, retry, deadline }: { readonly kind: CallKind; readonly retry: RetryOptions; readonly deadline: Deadline },
  attempt: () => Promise<T>,
): Promise<T> {
  for (let made = 1; ; made++) {
    deadline.assertOpen();
    try {
      return await attempt();
    } catch (thrown) {
      if (made >= retry.attempts || !(thrown instanceof ClientError) || !isRepeatable(thrown, kind)) throw thrown;
      const delayMs = thrown.retryAfterMs ?? backOff(made, retry);
      if (delayMs >= deadline.remainingMs) throw thrown;
      await deadline.wait(delayMs);
    }
  }
}

/** Whether a call of this kind may be sent again after it failed so. */
function isRepeatable(error: ClientError, kind: CallKind): boolean {
  if (error.isNotTaken) return true;
  if (kind === 'act') return false;
  return error.reason === 'connection' || (error.reason === 'refused' && error.code === 'UNAVAILABLE');
}

function backOff(made: number, { baseDelayMs, maxDelayMs }: RetryOptions): number {
  return Math.min(baseDelayMs * 2 ** (made - 1), maxDelayMs) * (0.5 + Math.random());
}
