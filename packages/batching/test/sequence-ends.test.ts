/** How sequences end, by whatever way. */
import { describe, expect, it } from 'vitest';
import { HeldSum, SECOND, STRATEGIES, sequenceFixture } from './sequence-fixture.ts';

const IDLE = SECOND;

describe.each(STRATEGIES)('the idle time, %s', (_, strategy) => {
  it('ends a sequence to the microsecond, and the backlog takes its slot', async () => {
    const made = await sequenceFixture({ maxBatchSize: 1, sequenceBatching: strategy });
    made.send(1, 1, { start: true });
    made.sequence(2, [5]);
    const released = HeldSum.released;
    await made.clock.elapse(1000 + IDLE - 1);
    expect([made.scheduler.queued, HeldSum.released]).toEqual([1, released]);
    await made.clock.elapse(1);
    expect([made.scheduler.queued, HeldSum.released]).toEqual([0, released + 1]);
    made.send(1, 1);
    await made.clock.elapse(SECOND);
    expect(made.answered()).toEqual(['1=1', '1 INVALID_ARG', '2=5']);
  });

  it('counts from the end of the last run, and anew after each request', async () => {
    const made = await sequenceFixture({ serviceMicros: 3 * IDLE, sequenceBatching: strategy });
    made.send(1, 1, { start: true });
    await made.clock.elapse(4 * IDLE - 1);
    made.send(1, 2);
    await made.clock.elapse(4 * IDLE - 2);
    made.send(1, 4, { end: true });
    await made.clock.elapse(4 * IDLE);
    expect(made.answered()).toEqual(['1=1', '1=3', '1=7']);
  });

  it('never ends a sequence of which a request waits or runs', async () => {
    const made = await sequenceFixture({ serviceMicros: 2 * IDLE, maxBatchSize: 1, sequenceBatching: strategy });
    made.sequence(1, [1, 2, 4]);
    made.sequence(2, [1, 2]);
    await made.clock.elapse(20 * IDLE);
    expect(made.answered()).toEqual(['1=1', '1=3', '1=7', '2=1', '2=3']);
  });

  it('costs one timer, which is gone with the last sequence', async () => {
    const made = await sequenceFixture({ sequenceBatching: strategy });
    for (const id of [1, 2, 3]) made.send(id, 1, { start: true });
    await made.clock.elapse(IDLE / 2);
    expect(made.clock.pending).toBe(1);
    for (const id of [1, 2, 3]) made.send(id, 1, { end: true });
    await made.clock.elapse(2000);
    expect(made.clock.pending).toBe(0);
  });
});

describe.each(STRATEGIES)('the backlog, %s', (_, strategy) => {
  const busy = () => sequenceFixture({ serviceMicros: 5 * SECOND, maxBatchSize: 1, sequenceBatching: strategy });

  it('rejects a whole sequence when the time of one of its requests is up', async () => {
    const made = await busy();
    made.sequence(1, [1, 2]);
    made.send(2, 1, { start: true });
    made.send(2, 1, { timeoutMicroseconds: 3 * SECOND });
    made.send(2, 1, { timeoutMicroseconds: 9 * SECOND });
    await made.clock.elapse(3 * SECOND - 1);
    expect(made.answered()).toEqual([]);
    await made.clock.elapse(1);
    made.send(2, 1);
    expect(made.answered()).toEqual(['2 UNAVAILABLE', '2 UNAVAILABLE', '2 UNAVAILABLE', '2 INVALID_ARG']);
    expect(made.responder.answers[0]?.error?.message).toContain('timeout of the corresponding sequence');
    await made.clock.elapse(9 * SECOND);
    expect(made.answered().slice(4)).toEqual(['1=1', '1=3']);
  });

  it('has no time limit for a sequence that has a slot', async () => {
    const made = await busy();
    made.sequence(1, [1, 2, 3], { timeoutMicroseconds: 1 });
    made.sequence(2, [1], { timeoutMicroseconds: 20 * SECOND });
    await made.clock.elapse(30 * SECOND);
    expect(made.answered()).toEqual(['1=1', '1=3', '1=6', '2=1']);
  });

  it('is served first come, first served', async () => {
    const made = await busy();
    for (const id of [1, 2, 3]) made.send(id, 1, { start: true });
    for (const id of [3, 2, 1]) made.send(id, 1, { end: true });
    await made.clock.elapse(60 * SECOND);
    expect(made.answered()).toEqual(['1=1', '1=2', '2=1', '2=2', '3=1', '3=2']);
  });

  it('drops a sequence of which a request is cancelled', async () => {
    const made = await busy();
    made.sequence(1, [1, 2]);
    made.send(2, 1, { start: true });
    const middle = made.send(2, 2);
    made.send(2, 4);
    middle.cancel();
    made.send(2, 8);
    await made.clock.elapse(30 * SECOND);
    expect(made.answered()).toEqual(['2 CANCELLED', '2 CANCELLED', '2 CANCELLED', '2 INVALID_ARG', '1=1', '1=3']);
  });
});

describe.each(STRATEGIES)('cancelling, %s', (_, strategy) => {
  it('a request cancels those behind it in its sequence, and frees the slot', async () => {
    const made = await sequenceFixture({ maxBatchSize: 1, sequenceBatching: strategy });
    made.send(1, 1, { start: true });
    await made.clock.elapse(0);
    made.send(1, 2);
    const third = made.send(1, 4);
    made.send(1, 8);
    made.sequence(2, [7]);
    third.cancel();
    made.send(1, 16);
    await made.clock.elapse(SECOND);
    expect(made.answered()).toEqual(['1 CANCELLED', '1 CANCELLED', '1 INVALID_ARG', '1=1', '1=3', '2=7']);
    expect(made.responder.answers[1]?.error?.message).toContain('a request of its sequence 1 was cancelled');
  });

  it('a request that runs cancels nothing', async () => {
    const made = await sequenceFixture({ sequenceBatching: strategy });
    const first = made.send(1, 1, { start: true });
    await made.clock.elapse(0);
    first.cancel();
    made.send(1, 2);
    await made.clock.elapse(SECOND);
    expect(made.answered()).toEqual(['1=1', '1=3']);
  });

  it('one that was cancelled before it came never runs', async () => {
    const made = await sequenceFixture({ sequenceBatching: strategy });
    const request = made.prepare(1, 1, { start: true });
    request.cancel();
    made.scheduler.enqueue(request);
    await made.clock.elapse(SECOND);
    expect(made.answered()).toEqual(['1 CANCELLED']);
    expect(made.backend.batches).toEqual([]);
    await made.scheduler.stop();
  });

  it('leaves a sequence alone that follows in the same slot', async () => {
    const made = await sequenceFixture({ sequenceBatching: strategy });
    made.send(1, 1, { start: true });
    await made.clock.elapse(0);
    const second = made.send(1, 2);
    made.sequence(1, [10, 20]);
    second.cancel();
    await made.clock.elapse(SECOND);
    expect(made.answered()).toEqual(['1 CANCELLED', '1=1', '1=10', '1=30']);
  });
});

describe.each(STRATEGIES)('stopping, %s', (_, strategy) => {
  it('refuses sequences that begin, takes those that continue, and resolves when the last has ended', async () => {
    const made = await sequenceFixture({ sequenceBatching: strategy });
    const first = made.send(1, 1, { start: true });
    await made.clock.elapse(2000);
    let isStopped = false;
    const stopped = made.scheduler.stop().then(() => {
      isStopped = true;
    });
    expect(made.scheduler.continues(first)).toBe(false);
    const next = made.send(1, 2);
    expect(made.scheduler.continues(next)).toBe(true);
    made.send(2, 1, { start: true });
    await made.clock.elapse(2000);
    expect(isStopped).toBe(false);
    made.send(1, 4, { end: true });
    expect(made.scheduler.continues(next)).toBe(false);
    await made.clock.elapse(2000);
    expect(isStopped).toBe(true);
    expect(made.answered()).toEqual(['1=1', '2 UNAVAILABLE', '1=3', '1=7']);
    expect(made.responder.answers[1]?.error?.message).toContain('has stopped accepting new inference requests');
    await stopped;
  });

  it('runs the backlog, ends idle sequences and leaves no timer behind', async () => {
    const made = await sequenceFixture({ maxBatchSize: 1, sequenceBatching: strategy });
    made.send(1, 1, { start: true });
    made.sequence(2, [3]);
    let isStopped = false;
    const stopped = made.scheduler.stop().then(() => {
      isStopped = true;
    });
    await made.clock.elapse(IDLE + 2000);
    expect(isStopped).toBe(true);
    expect(made.answered()).toEqual(['1=1', '2=3']);
    expect([made.clock.pending, made.scheduler.queued, made.scheduler.executing]).toEqual([0, 0, 0]);
    await stopped;
  });
});
