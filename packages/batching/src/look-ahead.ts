/**
 * How many batches an instance is given at a time.
 *
 * One that waits at the instance saves it from idling while an answer travels back, and lets the answers of several travel together; but it can no
 * longer move to another instance, be joined, cancelled or time out. So as many wait there as make up a short time of work: dozens for a model of
 * microseconds, one for a model of milliseconds. Measured on an MLP of 15 us over HTTP with 16 connections: 2 at a time cost the server 1.5 times the CPU
 * of 16 at a time.
 */
export interface LookAheadOptions {
  /** Work that may wait at an instance, in microseconds, beside the batch that runs. */
  readonly micros: number;
  /** Most batches at a time, whatever the instance takes. */
  readonly most: number;
}

/** Weight of a new run in the average. */
const WEIGHT = 1 / 8;

/** Follows what a batch costs, for one model version. */
export class LookAhead {
  readonly #options: LookAheadOptions;
  #costMicros = Number.NaN;

  constructor(options: LookAheadOptions) {
    this.#options = options;
  }

  measured(micros: number): void {
    this.#costMicros = Number.isNaN(this.#costMicros)
      ? micros
      : this.#costMicros + (micros - this.#costMicros) * WEIGHT;
  }

  /** @param capacity  batches that the instance takes */
  depth(capacity: number): number {
    return Math.min(1 + Math.max(this.#waiting(), 1), this.#options.most, capacity);
  }

  /** Batches that may wait beside the one that runs; one before the first measure, unless any amount of work may. */
  #waiting(): number {
    const { micros } = this.#options;
    if (micros === Number.POSITIVE_INFINITY) return micros;
    return Number.isNaN(this.#costMicros) ? 1 : Math.floor(micros / Math.max(this.#costMicros, 1));
  }
}
