/** How long to wait before a process that ended unasked is started again. */
export interface Backoff {
  /** Before the first restart; doubles with each failure in a row. 200 by default. */
  readonly initialMs: number;
  /** What the doubling stops at. 30 000 by default. */
  readonly maxMs: number;
  /** Part of the delay that is left to chance, 0 to 1, so that many processes do not start at once. 0.3 by default. */
  readonly jitter: number;
}

export const DEFAULT_BACKOFF: Backoff = { initialMs: 200, maxMs: 30_000, jitter: 0.3 };

/**
 * Milliseconds to wait after a number of failures in a row, 1 at least.
 * @param random from 0 to 1; 0 gives the longest delay
 */
export function restartDelayMs(backoff: Backoff, failures: number, random: number): number {
  const doubled = backoff.initialMs * 2 ** Math.min(failures - 1, 40);
  return Math.min(doubled, backoff.maxMs) * (1 - backoff.jitter * random);
}
