/** What waits and what runs is counted exactly, whichever way a request leaves, and at any moment of its life it can be cancelled. */
import { InferenceServerError } from '@nereid/core';
import { describe, expect, it } from 'vitest';
import type { DynamicBatching } from '../src/index.ts';
import { type DynamicFixture, dynamicFixture, SECOND } from './dynamic-fixture.ts';

/** One request occupies the only instance for a second, three more wait. */
async function threeWait(defaultQueuePolicy: DynamicBatching['defaultQueuePolicy'] = {}) {
  const fixture = await dynamicFixture({ serviceMicros: 1000, dynamicBatching: { defaultQueuePolicy } });
  fixture.occupy(SECOND);
  const requests = ['a', 'b', 'c'].map((id) => fixture.send(id));
  expect(counts(fixture)).toEqual({ queued: 3, executing: 1 });
  return { ...fixture, fixture, requests };
}

const counts = ({ scheduler: { queued, executing } }: DynamicFixture) => ({ queued, executing });
const NOTHING = { queued: 0, executing: 0 };

describe('the number of requests that wait', () => {
  it('falls to nothing when they have run', async () => {
    const { clock, fixture } = await threeWait();
    await clock.elapse(SECOND);
    expect(counts(fixture)).toEqual({ queued: 0, executing: 3 });
    await clock.elapse(1000);
    expect(counts(fixture)).toEqual(NOTHING);
  });

  it('falls to nothing when their batch fails', async () => {
    const { clock, fixture, backend, answered } = await threeWait();
    backend.failNextBatch(new InferenceServerError('INTERNAL', 'failed'));
    await clock.elapse(2 * SECOND);
    expect(answered()).toEqual(['a INTERNAL', 'b INTERNAL', 'c INTERNAL']);
    expect(counts(fixture)).toEqual(NOTHING);
  });

  it('falls with each that is cancelled, at once', async () => {
    const { fixture, requests } = await threeWait();
    const left = requests.map((request) => {
      request.cancel();
      return counts(fixture).queued;
    });
    expect(left).toEqual([2, 1, 0]);
  });

  it('falls with those that time out, at their deadline', async () => {
    const { clock, fixture } = await threeWait({ defaultTimeoutMicroseconds: 1000 });
    await clock.elapse(999);
    expect(counts(fixture).queued).toBe(3);
    await clock.elapse(1);
    expect(counts(fixture).queued).toBe(0);
  });

  it('stays with those that are delayed: they wait on', async () => {
    const { clock, fixture } = await threeWait({ timeoutAction: 'DELAY', defaultTimeoutMicroseconds: 1000 });
    await clock.elapse(2000);
    expect(counts(fixture).queued).toBe(3);
    await clock.elapse(2 * SECOND);
    expect(counts(fixture)).toEqual(NOTHING);
  });

  it('does not rise with one that is refused', async () => {
    const { fixture, send, answered } = await threeWait({ maxQueueSize: 3 });
    for (const id of ['d', 'e']) send(id);
    expect(answered()).toEqual(['d UNAVAILABLE', 'e UNAVAILABLE']);
    expect(counts(fixture).queued).toBe(3);
  });
});

/** Where a request may be when its client goes away. */
const MOMENTS: readonly [string, (fixture: DynamicFixture) => Promise<void>, string][] = [
  ['in the turn in which it came', async () => {}, 'cancelled'],
  ['while its batch is held back', ({ clock }) => clock.elapse(500), 'cancelled'],
  ['in the last microsecond of the delay', ({ clock }) => clock.elapse(999), 'cancelled'],
  ['at the end of the delay', ({ clock }) => clock.elapse(1000), 'answered'],
  ['while it runs', ({ clock }) => clock.elapse(1500), 'answered'],
  ['after its answer', ({ clock }) => clock.elapse(3000), 'answered'],
];

describe('a request that is cancelled', () => {
  it.each(MOMENTS)('%s gets exactly one answer, and the next one is served', async (_, until, expected) => {
    const fixture = await dynamicFixture({
      serviceMicros: 1000,
      dynamicBatching: { maxQueueDelayMicroseconds: 1000 },
    });
    const request = fixture.send('x');
    await until(fixture);
    request.cancel();
    request.cancel();
    await fixture.clock.elapse(SECOND);
    const isRun = expected === 'answered';
    expect(fixture.answered()).toEqual([isRun ? 'x' : 'x CANCELLED']);
    expect(fixture.backend.batches).toHaveLength(isRun ? 1 : 0);
    fixture.send('next');
    await fixture.clock.elapse(SECOND);
    expect(fixture.answered().at(-1)).toBe('next');
    expect(counts(fixture)).toEqual(NOTHING);
  });
});
