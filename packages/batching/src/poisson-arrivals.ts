import { uniform } from './uniform.ts';

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
