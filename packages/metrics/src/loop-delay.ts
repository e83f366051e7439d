import { Histogram, type HistogramStatistics } from '@nereid/serving';

/** How often the event loop is looked at. */
const EVERY_MS = 20;
/** Upper bounds of the buckets, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/**
 * By how many seconds a timer of 20 ms is late, each time. Counts only grow, so that any number of collectors can read them; `monitorEventLoopDelay` of Node tells
 * quantiles since its last reset instead, which is of one reader. A delay that is longer than the interval is counted once.
 */
export class LoopDelay {
  readonly #histogram = new Histogram(BOUNDS);
  #lastMs = performance.now();
  readonly #timer = setInterval(() => this.#look(), EVERY_MS).unref();

  snapshot(): HistogramStatistics {
    return this.#histogram.snapshot();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const nowMs = performance.now();
    this.#histogram.observe(Math.max(0, nowMs - this.#lastMs - EVERY_MS) / 1000);
    this.#lastMs = nowMs;
  }
}
