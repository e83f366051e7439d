import { InferenceServerError } from '@nereid/core';
import { addSub, FakeBackend, ManualClock, RecordingResponder } from '@nereid/testing';
import { describe, expect, it, test } from 'vitest';
import { LatencySummary } from '../src/latency-summaries.ts';
import { addSubRequest, GOOD, loaded } from './fixture.ts';

const MEDIAN = [{ quantile: 0.5, error: 0.05 }];
const SECOND = 1_000_000;

const medianOf = (summary: LatencySummary, nowMicros: number) => summary.snapshot(nowMicros).quantiles[0]?.value;

describe('a summary', () => {
  it('has the quantiles of the last minute, and count and sum of all time', () => {
    const summary = new LatencySummary(MEDIAN, { nowMicros: 0 });
    for (let i = 0; i < 1000; i++) summary.observe(7, 0);
    expect(medianOf(summary, 47 * SECOND)).toBe(7);
    for (let i = 0; i < 1000; i++) summary.observe(20, 47 * SECOND);
    for (const value of [30, 30, 30]) summary.observe(value, 50 * SECOND);
    // What is older than a minute has left, and no longer decides which is the median.
    expect(medianOf(summary, 61 * SECOND)).toBe(20);
    expect(summary.snapshot(200 * SECOND)).toEqual({
      count: 2003,
      sum: 1000 * 27 + 90,
      quantiles: [{ quantile: 0.5, value: Number.NaN }],
    });
  });

  it.each([0.001, 0.5, 1])('loses no value, whenever it adds them up: phase %f', (phase) => {
    const summary = new LatencySummary([{ quantile: 0.5, error: 0.0001 }], { nowMicros: 0, phase });
    for (let i = 1; i <= 2500; i++) {
      summary.observe(i, 0);
      if (i % 999 === 0) expect(medianOf(summary, 0)).toBe(Math.ceil(i / 2));
    }
    expect(medianOf(summary, 0)).toBe(1250);
  });

  it('begins anew after a long pause', () => {
    const summary = new LatencySummary(MEDIAN, { nowMicros: 0 });
    summary.observe(1, 0);
    summary.observe(9, 3600 * SECOND);
    expect(medianOf(summary, 3647 * SECOND)).toBe(9);
    expect(medianOf(summary, 3661 * SECOND)).toBeNaN();
  });

  it('keeps a value for at least 48 seconds, whenever it comes', () => {
    for (let second = 0; second < 60; second += 5) {
      const summary = new LatencySummary(MEDIAN, { nowMicros: 0 });
      summary.observe(3, second * SECOND);
      expect(medianOf(summary, (second + 47) * SECOND)).toBe(3);
      expect(medianOf(summary, (second + 61) * SECOND)).toBeNaN();
    }
  });
});

test('successful requests are summarized, each part of their time by itself', async () => {
  const clock = new ManualClock(1000);
  const compute: ReturnType<typeof addSub> = (request) => {
    if (request.id === 'fails') throw new InferenceServerError('INTERNAL', 'no');
    return addSub()(request);
  };
  const backend = new FakeBackend({ compute, serviceMicros: 100, clock });
  await using served = await loaded(GOOD, { clock, backend, summarizeLatencies: MEDIAN });
  const responder = new RecordingResponder();
  for (const id of ['runs', 'waits', 'fails']) served.engine.infer(addSubRequest({ id, responder }));
  await clock.elapse(300);
  const of = (count: number, sum: number, value: number) => ({ count, sum, quantiles: [{ quantile: 0.5, value }] });
  expect(served.engine.statistics('good')[0]?.latencyMicros).toEqual({
    request: of(2, 300, 100),
    queue: of(2, 100, 0),
    computeInput: of(2, 0, 0),
    computeInfer: of(2, 200, 100),
    computeOutput: of(2, 0, 0),
  });
});

test('nothing is summarized unless it is asked for, and never a quantile that is none', async () => {
  await using served = await loaded(GOOD);
  expect(served.engine.statistics()[0]).not.toHaveProperty('latencyMicros');
  await expect(loaded(GOOD, { summarizeLatencies: [{ quantile: 2, error: 0.1 }] })).rejects.toThrow(
    'a quantile lies between 0 and 1, got 2',
  );
});

test('statistics tell how many requests and batches instances have', async () => {
  const clock = new ManualClock(1000);
  await using served = await loaded(GOOD, { clock, backend: new FakeBackend({ serviceMicros: 100, clock }) });
  const responder = new RecordingResponder();
  for (let i = 0; i < 3; i++) served.engine.infer(addSubRequest({ responder }));
  const now = () => served.engine.statistics('good')[0];
  expect(now()).toMatchObject({ pending: 2, executing: 1, instances: [{ batches: 1 }] });
  await clock.elapse(300);
  expect(now()).toMatchObject({ pending: 0, executing: 0, instances: [{ batches: 0 }] });
});
