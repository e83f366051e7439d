export interface PoissonOptions {
  readonly ratePerSecond: number;
  readonly count: number;
  /** Equal seeds give equal arrivals; 1 by default. */
  readonly seed?: number;
}

/** Arrival times in microseconds of many clients that know nothing of each other: exponential gaps of the given mean rate. */
export function poissonArrivals({ ratePerSecond, count, seed = 1 }: PoissonOptions): number[] {
  const random = uniform(seed);
  let now = 0;
  return Array.from({ length: count }, () => {
    now += (-Math.log(1 - random()) / ratePerSecond) * 1e6;
    return now;
  });
}

/** Numbers in [0, 1), equal for equal seeds. Source: mulberry32 by Tommy Ettinger, public domain. */
function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
