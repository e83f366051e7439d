import { performance } from 'node:perf_hooks';
import type { Clock, Timer } from '@nereid/core';

/** setTimeout may be late by more than a millisecond; the rest of the way is left to immediates. */
const COARSE_MARGIN_MS = 2;
/** Longest delay that setTimeout takes. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * The time of the process, on any platform.
 *
 * `nowMicros` has the resolution of `performance.now()`, well below a microsecond. A timer sleeps in `setTimeout` until two to three milliseconds
 * before its deadline and then looks once per turn of the event loop, which keeps the loop turning (and a core busy) for that time. So it fires
 * never early, and late by one turn: a few microseconds on an idle loop, as long as the running callback on a busy one.
 */
export class SystemClock implements Clock {
  nowMicros(): number {
    return performance.now() * 1000;
  }

  at(deadlineMicros: number, callback: () => void): Timer {
    return new SystemTimer(this, deadlineMicros, callback);
  }
}

class SystemTimer implements Timer {
  readonly #clock: Clock;
  readonly #deadlineMicros: number;
  readonly #callback: () => void;
  #timeout: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  constructor(clock: Clock, deadlineMicros: number, callback: () => void) {
    this.#clock = clock;
    this.#deadlineMicros = deadlineMicros;
    this.#callback = callback;
    this.#sleep();
  }

  cancel(): void {
    clearTimeout(this.#timeout);
    clearImmediate(this.#immediate);
  }

  #sleep(): void {
    const coarseMs = Math.floor((this.#deadlineMicros - this.#clock.nowMicros()) / 1000) - COARSE_MARGIN_MS;
    if (coarseMs > 0) this.#timeout = setTimeout(() => this.#wake(), Math.min(coarseMs, LONGEST_TIMEOUT_MS));
    else this.#immediate = setImmediate(() => this.#wake());
  }

  #wake(): void {
    if (this.#clock.nowMicros() >= this.#deadlineMicros) this.#callback();
    else this.#sleep();
  }
}
