import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { poissonArrivals, type SimulationOptions, simulate } from '../src/index.ts';
import { dynamicFixture } from './dynamic-fixture.ts';

const run = (options: Partial<SimulationOptions>) =>
  simulate({ arrivals: [], serviceTime: () => 100, config: { maxBatchSize: 8 }, ...options });
const none = { count: 0, mean: 0, p50: 0, p90: 0, p99: 0, max: 0 };

describe('simulate', () => {
  it('without arrivals gives zeros', () => {
    const result = run({});
    expect(result).toMatchObject({ latency: none, queue: none, utilization: 0, durationMicros: 0 });
    expect(result.batching.sizes).toEqual([]);
  });

  it('joins what waits behind a busy instance', () => {
    const result = run({ arrivals: [0, 10, 20, 300] });
    expect(result.batching.sizes).toEqual([
      { batchSize: 1, count: 2 },
      { batchSize: 2, count: 1 },
    ]);
    expect(result.latency).toEqual({ count: 4, mean: 142.5, p50: 100, p90: 190, p99: 190, max: 190 });
    expect(result.queue).toEqual({ count: 4, mean: 42.5, p50: 0, p90: 90, p99: 90, max: 90 });
    expect(result).toMatchObject({ durationMicros: 400, utilization: 0.75 });
  });

  it('joins what comes at one time', () => {
    expect(run({ arrivals: [5, 5, { atMicros: 5, batchSize: 3 }] }).batching.sizes).toEqual([
      { batchSize: 5, count: 1 },
    ]);
  });

  it('holds batches back for the delay', () => {
    const result = run({ arrivals: [0, 30], config: { maxBatchSize: 8, maxQueueDelayMicroseconds: 50 } });
    expect(result.batching.closed.delay).toBe(1);
    expect(result.latency).toMatchObject({ p50: 120, max: 150 });
  });

  it('counts what is rejected', () => {
    const policy = { maxQueueSize: 2, defaultTimeoutMicroseconds: 60 };
    const config = { maxBatchSize: 8, defaultQueuePolicy: policy };
    expect(run({ arrivals: [0, 10, 50, 60], config })).toMatchObject({
      latency: { count: 2 },
      rejected: { queueFull: 1, timeout: 1 },
    });
  });

  it('serves several instances, and holds answers back where their order is kept', () => {
    const options = { instances: 2, serviceTime: (batchSize: number) => (batchSize === 1 ? 100 : 10) };
    const arrivals = [0, { atMicros: 1, batchSize: 2 }];
    expect(run({ ...options, arrivals }).latency).toMatchObject({ p50: 10, max: 100 });
    const config = { maxBatchSize: 8, preserveOrdering: true };
    expect(run({ ...options, arrivals, config }).latency).toMatchObject({ p50: 99, max: 100 });
  });

  it('serves higher priorities first', () => {
    const config = { maxBatchSize: 1, priorityLevels: 2, defaultPriorityLevel: 2 };
    const arrivals = [0, 1, 2, { atMicros: 3, priority: 1 }];
    expect(run({ arrivals, config }).latency.count).toBe(4);
    expect(run({ arrivals, config }).latency.p50).toBe(197);
  });

  it('refuses arrivals that go back in time', () => {
    expect(() => run({ arrivals: [10, 9] })).toThrow('arrivals must be in the order of time, got 9 after 10');
  });

  it('forms the batches that the scheduler forms', async () => {
    const gap = fc.constantFrom(0, 0, 7, 40, 130);
    const setup = fc.record({
      gaps: fc.array(gap, { maxLength: 40 }),
      instances: fc.integer({ min: 1, max: 2 }),
      preferredBatchSize: fc.constantFrom([], [2], [2, 4]),
      maxQueueDelayMicroseconds: fc.constantFrom(0, 60),
      defaultTimeoutMicroseconds: fc.constantFrom(0, 90),
    });
    await fc.assert(
      fc.asyncProperty(setup, async ({ gaps, instances, defaultTimeoutMicroseconds, ...batching }) => {
        const dynamicBatching = { ...batching, defaultQueuePolicy: { defaultTimeoutMicroseconds } };
        const serviceTime = (batchSize: number) => 100.5 + batchSize;
        const made = await dynamicFixture({
          instances,
          maxBatchSize: 4,
          dynamicBatching,
          serviceMicros: (batch) => serviceTime(batch.length),
        });
        const arrivals: number[] = [];
        for (const [id, micros] of gaps.entries()) {
          if (micros > 0) await made.clock.elapse(micros);
          arrivals.push(made.clock.nowMicros());
          made.send(id);
        }
        await made.clock.elapse(10_000);
        const simulated = simulate({
          arrivals,
          instances,
          serviceTime,
          config: { maxBatchSize: 4, ...dynamicBatching },
        });
        expect(simulated.batching).toEqual(made.scheduler.batching);
        expect(simulated.rejected.timeout).toBe(
          made.answered().filter((answer) => answer.includes('UNAVAILABLE')).length,
        );
      }),
      { seed: 4, numRuns: 60 },
    );
  });
});

describe('poissonArrivals', () => {
  it('are ascending, of the rate asked for, and as irregular as chance', () => {
    const arrivals = poissonArrivals({ ratePerSecond: 1000, count: 20_000 });
    const gaps = arrivals.map((micros, i) => micros - (arrivals[i - 1] ?? 0));
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(0);
    expect(mean).toBeGreaterThan(970);
    expect(mean).toBeLessThan(1030);
    expect(Math.sqrt(variance) / mean).toBeCloseTo(1, 1);
  });

  it('are equal for equal seeds only', () => {
    const of = (seed: number) => poissonArrivals({ ratePerSecond: 10, count: 5, seed });
    expect(of(3)).toEqual(of(3));
    expect(of(3)).not.toEqual(of(4));
  });
});
