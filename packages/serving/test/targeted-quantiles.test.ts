import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quantileFault, TargetedQuantiles, type WantedQuantile } from '../src/targeted-quantiles.ts';

const USUAL: readonly WantedQuantile[] = [
  { quantile: 0.5, error: 0.05 },
  { quantile: 0.9, error: 0.01 },
  { quantile: 0.95, error: 0.001 },
  { quantile: 0.99, error: 0.001 },
  { quantile: 0.999, error: 0.001 },
];

/** Small whole numbers from a seed, so that equal values occur. */
function numbers(seed: number, { count, upTo }: { readonly count: number; readonly upTo: number }): Float64Array {
  let state = seed;
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) ** 3 * upTo);
  });
}

/** Adds the values in their order, so many at a time. */
function filled(wanted: readonly WantedQuantile[], values: Float64Array, atOnce = 256): TargetedQuantiles {
  const quantiles = new TargetedQuantiles(wanted);
  for (let i = 0; i < values.length; i += atOnce) quantiles.addSorted(values.slice(i, i + atOnce).sort());
  return quantiles;
}

/** By how much the rank of a value is off, at least, as a part of all values. Equal values share their ranks. */
function rankError(sorted: Float64Array, { value, quantile }: { readonly value: number; readonly quantile: number }) {
  const below = sorted.filter((other) => other < value).length;
  const upTo = sorted.filter((other) => other <= value).length;
  const rank = Math.ceil(quantile * sorted.length);
  return Math.max(0, below + 1 - rank, rank - upTo) / sorted.length;
}

describe('a quantile', () => {
  const orders = { 'as they come': (values: Float64Array) => values, ascending: sorted, descending: reversed };
  it.each(Object.keys(orders) as (keyof typeof orders)[])('is as exact as it was asked for, of values %s', (order) => {
    const cases = fc.record({
      seed: fc.nat(),
      count: fc.integer({ min: 1, max: 5000 }),
      upTo: fc.constantFrom(2, 50, 1e6),
      atOnce: fc.constantFrom(7, 64, 256),
    });
    fc.assert(
      fc.property(cases, ({ seed, atOnce, ...shape }) => {
        const values = numbers(seed, shape);
        const quantiles = filled(USUAL, orders[order](values), atOnce);
        const all = sorted(values);
        for (const { quantile, error } of USUAL) {
          const value = quantiles.valueAt(quantile);
          expect(values).toContain(value);
          // One rank is what rounding may cost.
          expect(rankError(all, { value, quantile })).toBeLessThanOrEqual(error + 1 / all.length);
        }
      }),
      { seed: 5, numRuns: 12 },
    );
  });

  it('is a value by its nearest rank while there are few', () => {
    const values = Float64Array.from({ length: 10 }, (_, i) => 10 * (i + 1));
    const wanted = [0.1, 0.5, 0.95].map((quantile) => ({ quantile, error: 0.001 }));
    const quantiles = filled(wanted, values);
    expect(wanted.map(({ quantile }) => quantiles.valueAt(quantile))).toEqual([10, 50, 100]);
  });

  it('is NaN without values, also after they were dropped', () => {
    const quantiles = new TargetedQuantiles(USUAL);
    expect(quantiles.valueAt(0.5)).toBeNaN();
    quantiles.addSorted(Float64Array.of(1));
    expect(quantiles.valueAt(0.999)).toBe(1);
    quantiles.clear();
    expect([quantiles.valueAt(0.5), quantiles.size]).toEqual([Number.NaN, 0]);
  });
});

it('few samples are kept of many values', () => {
  expect(filled(USUAL, numbers(1, { count: 100_000, upTo: 1e6 })).size).toBeLessThan(2000);
});

it.each([
  [{ quantile: 0, error: 0.1 }, 'a quantile lies between 0 and 1, got 0'],
  [{ quantile: 1, error: 0.1 }, 'a quantile lies between 0 and 1, got 1'],
  [{ quantile: Number.NaN, error: 0.1 }, 'a quantile lies between 0 and 1, got NaN'],
  [{ quantile: 0.5, error: 0 }, 'the error of quantile 0.5 is at least 0.0001 and below 1, got 0'],
  [{ quantile: 0.5, error: 1 }, 'the error of quantile 0.5 is at least 0.0001 and below 1, got 1'],
  [{ quantile: 0.5, error: 0.0001 }, undefined],
])('%j is refused with %j', (wanted, fault) => {
  expect(quantileFault(wanted)).toBe(fault);
});

function sorted(values: Float64Array): Float64Array {
  return values.slice().sort();
}

function reversed(values: Float64Array): Float64Array {
  return sorted(values).reverse();
}
