import type { HistogramStatistics } from './engine.ts';

/** Counts values into buckets. Counts only grow. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** One per bound, and one for what is larger. */
  readonly #counts: number[];
  #sum = 0;

  /** @param bounds  upper bounds of the buckets, ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const fitting = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = fitting < 0 ? this.#bounds.length : fitting;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  snapshot(): HistogramStatistics {
    let upTo = 0;
    const buckets = this.#bounds.map((bound, i) => {
      upTo += this.#counts[i] ?? 0;
      return { bound, count: upTo };
    });
    return { buckets, count: upTo + (this.#counts[this.#bounds.length] ?? 0), sum: this.#sum };
  }
}
