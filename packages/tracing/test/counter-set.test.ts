import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CounterSet } from '../src/counter-set.ts';

const sink = { add() {}, flush() {} };
const set = (rate: number, count: number) =>
  new CounterSet({ levels: ['TIMESTAMPS'], rate, count, logFrequency: 0 }, sink);
const chosen = (counters: CounterSet, contexts: readonly boolean[]) => contexts.map((has) => counters.take(has));

it('traces every N-th request, N-th first', () => {
  expect(chosen(set(3, -1), Array(7).fill(false))).toEqual([false, false, true, false, false, true, false]);
});

it('makes exactly as many traces as the count allows', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 9 }),
      fc.nat(100),
      (rate, count, requests) => {
        const counters = set(rate, count);
        const made = chosen(counters, Array(requests).fill(false)).filter(Boolean).length;
        expect(made).toBe(Math.min(count, Math.floor(requests / rate)));
        expect(counters.remaining).toBe(count - made);
      },
    ),
    { seed: 7 },
  );
});

it('always traces a request with a context, which takes of the count only in its turn', () => {
  const counters = set(2, 1);
  expect(chosen(counters, [true, true, true, true, false])).toEqual([true, true, true, true, false]);
  expect(counters.remaining).toBe(0);
});

it('with rate 0 traces those with a context and no others', () => {
  expect(chosen(set(0, -1), [false, true, false])).toEqual([false, true, false]);
});
