import { RecordingResponder, requestFor } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { dynamicFixture, SECOND } from './dynamic-fixture.ts';

const ids = (count: number) => Array.from({ length: count }, (_, id) => String(id));

describe('a timeout in the queue', () => {
  const policy = { defaultTimeoutMicroseconds: 1000 };

  it('never strikes a request that an idle instance could run: a held batch is sent at the first deadline', async () => {
    const { send, clock, batches, answered } = await dynamicFixture({
      dynamicBatching: { maxQueueDelayMicroseconds: SECOND, defaultQueuePolicy: policy },
    });
    send('a');
    await clock.elapse(400);
    send('b');
    await clock.elapse(SECOND);
    expect(batches()).toEqual(['a,b@0.001s timeout']);
    expect(answered()).toEqual(['a', 'b']);
  });

  it('does not strike what only waits for the end of a long turn', async () => {
    const { send, clock, answered } = await dynamicFixture({ dynamicBatching: { defaultQueuePolicy: policy } });
    send('a');
    clock.block(5000);
    await clock.elapse(0);
    expect(answered()).toEqual(['a']);
  });

  it('strikes when an instance becomes free just after it, and not at the very moment', async () => {
    for (const [busy, expected] of [
      [1000, 'a'],
      [1001, 'a UNAVAILABLE'],
    ] as const) {
      const { send, clock, occupy, answered } = await dynamicFixture({
        dynamicBatching: { defaultQueuePolicy: policy },
      });
      occupy(busy);
      send('a');
      await clock.elapse(SECOND);
      expect(answered()).toEqual([expected]);
    }
  });

  it('makes room in a full queue', async () => {
    const { send, clock, occupy, answered } = await dynamicFixture({
      dynamicBatching: { defaultQueuePolicy: { ...policy, maxQueueSize: 1 } },
    });
    occupy(SECOND);
    send('a');
    await clock.elapse(1000);
    send('b');
    send('c');
    expect(answered()).toEqual(['a UNAVAILABLE', 'c UNAVAILABLE']);
  });

  it('moves a delayed request behind the fresh ones of its level only, and counts it in the queue still', async () => {
    const { send, clock, occupy, answered, batches } = await dynamicFixture({
      dynamicBatching: {
        priorityLevels: 2,
        defaultPriorityLevel: 1,
        defaultQueuePolicy: { ...policy, timeoutAction: 'DELAY', maxQueueSize: 2 },
      },
    });
    occupy(2500);
    send('a');
    await clock.elapse(2000);
    send('second', { priority: 2 });
    send('b');
    send('c');
    await clock.elapse(SECOND);
    expect(answered()[0]).toBe('c UNAVAILABLE');
    expect(batches()).toEqual(['b,a,second@0.0025s instance-idle']);
  });
});

describe('a full queue', () => {
  it('counts every level without a limit of its own under the limit of the scheduler', async () => {
    const { send, occupy, answered } = await dynamicFixture({
      maxQueueSize: 3,
      dynamicBatching: {
        priorityLevels: 3,
        defaultPriorityLevel: 1,
        priorityQueuePolicy: new Map([[3n, { maxQueueSize: 1 }]]),
      },
    });
    occupy(SECOND);
    for (const priority of [1, 2, 3, 3, 1, 2]) send(priority, { priority });
    expect(answered()).toEqual(['3 UNAVAILABLE', '2 UNAVAILABLE']);
  });

  it('says the limit and what to do', async () => {
    const { send, occupy, responder } = await dynamicFixture({ maxQueueSize: 1 });
    occupy(SECOND);
    send('a');
    send('b');
    expect(responder.answers[0]?.error).toMatchObject({
      reason: 'queue-full',
      message:
        "Exceeds maximum queue size: 1 requests already wait for model 'm'; " +
        'send it again later, add model instances, or raise the limit',
    });
  });

  it('refuses nobody for those that only wait for the end of the turn', async () => {
    const { send, clock, answered } = await dynamicFixture({ maxQueueSize: 1, instances: 2, serviceMicros: SECOND });
    for (const id of ids(4)) send(id);
    await clock.elapse(10 * SECOND);
    expect(answered()).toEqual(['3 UNAVAILABLE', '0', '1', '2']);
  });

  it('holds 10 000 unless said otherwise', async () => {
    const { send, occupy, scheduler } = await dynamicFixture();
    occupy(SECOND);
    for (const id of ids(10_001)) send(id);
    expect(scheduler.queued).toBe(10_000);
  });
});

describe('cancelling', () => {
  it('takes a request out at once, wherever it waits', async () => {
    const { send, clock, answered, batches, occupy, scheduler } = await dynamicFixture({
      dynamicBatching: { defaultQueuePolicy: { timeoutAction: 'DELAY', defaultTimeoutMicroseconds: 10 } },
    });
    occupy(SECOND);
    const delayed = send('delayed');
    await clock.elapse(100);
    const fresh = send('fresh');
    send('stays');
    delayed.cancel();
    fresh.cancel();
    expect(answered()).toEqual(['delayed CANCELLED', 'fresh CANCELLED']);
    expect(scheduler.queued).toBe(1);
    await clock.elapse(2 * SECOND);
    expect(batches()).toEqual(['stays@1s instance-idle']);
  });

  it('of the oldest lets a held batch wait for the next oldest', async () => {
    const { send, clock, batches } = await dynamicFixture({ dynamicBatching: { maxQueueDelayMicroseconds: 1000 } });
    const oldest = send('a');
    await clock.elapse(600);
    send('b');
    await clock.elapse(100);
    oldest.cancel();
    await clock.elapse(SECOND);
    expect(batches()).toEqual(['b@0.0016s delay']);
  });

  it('of the request that is in the way lets the batch go at once', async () => {
    const { send, clock, batches } = await dynamicFixture({
      dynamicBatching: { maxQueueDelayMicroseconds: SECOND, preferredBatchSize: [6] },
    });
    send('a', { rows: 3 });
    const between = send('b', { rows: 1 });
    await clock.elapse(0);
    between.cancel();
    send('c', { rows: 3 });
    await clock.elapse(0);
    expect(batches()).toEqual(['a,c@0s preferred-size']);
  });

  it('before the end of the turn leaves nothing to run', async () => {
    const { send, clock, backend, answered } = await dynamicFixture();
    send('a').cancel();
    await clock.elapse(0);
    expect(backend.batches).toEqual([]);
    expect(answered()).toEqual(['a CANCELLED']);
  });

  it('leaves a request that runs to complete', async () => {
    const { send, clock, answered } = await dynamicFixture({ serviceMicros: 100 });
    const request = send('a');
    await clock.elapse(50);
    request.cancel();
    await clock.elapse(100);
    expect(answered()).toEqual(['a']);
  });

  it('before the request came keeps it from running', async () => {
    const { scheduler, clock, backend } = await dynamicFixture();
    const responder = new RecordingResponder();
    const request = requestFor({ responder });
    request.cancel();
    scheduler.enqueue(request);
    await clock.elapse(0);
    expect(responder.answers.map(({ error }) => error?.code)).toEqual(['CANCELLED']);
    expect(backend.batches).toEqual([]);
  });

  it('works for a request that was sent from inside an answer', async () => {
    const { scheduler, send, clock, occupy } = await dynamicFixture({ maxQueueSize: 1 });
    occupy(SECOND);
    const chained = new RecordingResponder();
    const respond = () => {
      const request = requestFor({ responder: chained });
      scheduler.enqueue(request);
      request.cancel();
    };
    const request = requestFor({ responder: { respond, fail: respond } });
    scheduler.enqueue(request);
    request.cancel();
    await clock.elapse(0);
    expect(chained.answers.map(({ error }) => error?.code)).toEqual(['CANCELLED']);
    send('next');
    expect(scheduler.queued).toBe(1);
  });
});
