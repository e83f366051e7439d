/**
 * Quantiles of a stream of numbers in little memory: samples ascending by value, of which each knows how many values it stands for since the one before it
 * (`weight`), and by how much its rank may lie higher than the sum of those (`slack`). Neighbours are merged while the two together stay within what the wanted
 * quantiles allow at their rank.
 * Source: Cormode, Korn, Muthukrishnan, Srivastava, "Effective Computation of Biased Quantiles over Data Streams" (2005), targeted quantiles.
 */

/** A quantile that is wanted. */
export interface WantedQuantile {
  /** Above 0 and below 1. */
  readonly quantile: number;
  /** By how much the rank of the answer may be off, as a part of the number of values; from 0.0001 on and below 1. A smaller one costs more memory and time. */
  readonly error: number;
}

/** With the least error, a stream keeps some ten thousand samples. */
const LEAST_ERROR = 0.0001;

/** Why it cannot be wanted; undefined when it can. */
export function quantileFault({ quantile, error }: WantedQuantile): string | undefined {
  if (!(quantile > 0 && quantile < 1)) return `a quantile lies between 0 and 1, got ${quantile}`;
  if (error >= LEAST_ERROR && error < 1) return undefined;
  return `the error of quantile ${quantile} is at least ${LEAST_ERROR} and below 1, got ${error}`;
}

export class TargetedQuantiles {
  /** What a value below, and above, a wanted quantile may be off, per value between it and the end of the stream on that side. */
  readonly #slopes: readonly { readonly quantile: number; readonly below: number; readonly above: number }[];
  #samples = new Samples();
  #count = 0;

  constructor(wanted: readonly WantedQuantile[]) {
    this.#slopes = wanted.map(({ quantile, error }) => ({
      quantile,
      below: (2 * error) / (1 - quantile),
      above: (2 * error) / quantile,
    }));
  }

  /** Samples kept. */
  get size(): number {
    return this.#samples.values.length;
  }

  clear(): void {
    this.#samples = new Samples();
    this.#count = 0;
  }

  /** @param sorted  ascending; it is not kept */
  addSorted(sorted: Float64Array): void {
    if (sorted.length === 0) return;
    this.#samples = this.#samples.with(sorted);
    this.#count += sorted.length;
    this.#compress();
  }

  /** The value of that quantile, a wanted one, as nearest rank; NaN when there are no values. */
  valueAt(quantile: number): number {
    const rank = Math.ceil(quantile * this.#count);
    const highest = rank + this.#allowed(rank) / 2;
    const { values, weights, slacks } = this.#samples;
    let upTo = 0;
    for (let i = 0; i < values.length; i++) {
      upTo += weights[i] ?? 0;
      if (upTo + (slacks[i] ?? 0) > highest) return values[Math.max(0, i - 1)] ?? Number.NaN;
    }
    return values.at(-1) ?? Number.NaN;
  }

  /** In place, from the end. The first and the last sample stay: they are the least and the greatest value. */
  #compress(): void {
    const { values, weights, slacks } = this.#samples;
    const last = values.length - 1;
    let kept = last;
    let below = this.#count - (weights[last] ?? 0);
    for (let i = last - 1; i > 0; i--) {
      const weight = weights[i] ?? 0;
      below -= weight;
      const together = weight + (weights[kept] ?? 0);
      if (kept < last && together + (slacks[kept] ?? 0) <= this.#allowed(below)) {
        weights[kept] = together;
        continue;
      }
      kept--;
      values[kept] = values[i] ?? 0;
      weights[kept] = weight;
      slacks[kept] = slacks[i] ?? 0;
    }
    for (const list of [values, weights, slacks]) list.splice(1, kept - 1);
  }

  /** By how many values a sample with so many below it may be off. */
  #allowed(below: number): number {
    const count = this.#count;
    let least = count;
    for (let i = 0; i < this.#slopes.length; i++) {
      const slope = this.#slopes[i];
      if (slope === undefined) continue;
      const allowed = below < slope.quantile * count ? slope.below * (count - below) : slope.above * below;
      if (allowed < least) least = allowed;
    }
    return least;
  }
}

/** One list per field: a sample is no object of its own. */
class Samples {
  readonly values: number[] = [];
  readonly weights: number[] = [];
  readonly slacks: number[] = [];

  /** These and one more for each value. What comes before a sample may have any rank that the sample may have. */
  with(sorted: Float64Array): Samples {
    const merged = new Samples();
    const { length } = this.values;
    let next = 0;
    for (const value of sorted) {
      for (; next < length && (this.values[next] ?? 0) <= value; next++) merged.#take(this, next);
      const isOuter = next === 0 || next === length;
      merged.#push(value, 1, isOuter ? 0 : (this.weights[next] ?? 0) + (this.slacks[next] ?? 0) - 1);
    }
    for (; next < length; next++) merged.#take(this, next);
    return merged;
  }

  #take({ values, weights, slacks }: Samples, i: number): void {
    this.#push(values[i] ?? 0, weights[i] ?? 0, slacks[i] ?? 0);
  }

  #push(value: number, weight: number, slack: number): void {
    this.values.push(value);
    this.weights.push(weight);
    this.slacks.push(slack);
  }
}
