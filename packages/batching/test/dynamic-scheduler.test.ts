import { InferenceServerError } from '@nereid/core';
import { RecordingResponder, requestFor } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { DynamicScheduler, type DynamicSchedulerOptions } from '../src/index.ts';
import { dynamicFixture, SECOND } from './dynamic-fixture.ts';

const ids = (count: number) => Array.from({ length: count }, (_, id) => String(id));

describe('when batches are formed', () => {
  it('what comes in one turn of the event loop runs together', async () => {
    const { send, clock, batches } = await dynamicFixture();
    for (const id of ids(3)) send(id);
    expect(batches()).toEqual([]);
    await clock.elapse(0);
    send(3);
    await clock.elapse(0);
    expect(batches()).toEqual(['0,1,2@0s instance-idle', '3@0s instance-idle']);
  });

  it('a full batch does not wait for the end of the turn', async () => {
    const { send, batches } = await dynamicFixture({ instances: 2 });
    for (const id of ids(9)) send(id);
    expect(batches()).toEqual(['0,1,2,3,4,5,6,7@0s full']);
  });

  it('what waits while the instance is busy runs together, without any delay', async () => {
    const { send, clock, batches } = await dynamicFixture({ serviceMicros: SECOND });
    for (const id of ids(6)) {
      send(id);
      await clock.elapse(100_000);
    }
    await clock.elapse(10 * SECOND);
    expect(batches()).toEqual(['0@0s instance-idle', '1,2,3,4,5@1s instance-idle']);
  });

  it('a delay that ended while the instance was busy is over', async () => {
    const { send, occupy, clock, batches } = await dynamicFixture({
      dynamicBatching: { maxQueueDelayMicroseconds: SECOND },
    });
    occupy(SECOND);
    send('a');
    await clock.elapse(10 * SECOND);
    expect(batches()).toEqual(['a@1s delay']);
  });

  it('the delay is that of the oldest request, to the microsecond', async () => {
    const { send, clock, batches } = await dynamicFixture({ dynamicBatching: { maxQueueDelayMicroseconds: 137 } });
    for (const id of ids(4)) {
      send(id);
      await clock.elapse(45);
    }
    await clock.elapse(SECOND);
    expect(batches()).toEqual(['0,1,2,3@0.000137s delay']);
  });

  it('a request of many rows is never split', async () => {
    const { send, clock, batches } = await dynamicFixture();
    send('a', { rows: 5 });
    send('b', { rows: 4 });
    send('c', { rows: 4 });
    await clock.elapse(0);
    expect(batches()).toEqual(['a@0s full', 'b,c@0s full']);
  });

  it('a model without a batch dimension runs one at a time, under the policies of the queue', async () => {
    const { send, clock, batches, answered } = await dynamicFixture({
      maxBatchSize: 0,
      serviceMicros: SECOND,
      dynamicBatching: { maxQueueDelayMicroseconds: 5 * SECOND, defaultQueuePolicy: { maxQueueSize: 2 } },
    });
    for (const id of ids(4)) send(id);
    await clock.elapse(10 * SECOND);
    expect(answered()).toEqual(['3 UNAVAILABLE', '0', '1', '2']);
    expect(batches()).toEqual(['0@0s full', '1@1s full', '2@2s full']);
  });

  it('two idle instances get a batch each, and the delay does not hold up the full one', async () => {
    const { send, clock, batches, backend } = await dynamicFixture({
      instances: 2,
      serviceMicros: SECOND,
      dynamicBatching: { maxQueueDelayMicroseconds: 1000 },
    });
    for (const id of ids(11)) send(id);
    await clock.elapse(SECOND / 2);
    expect(batches()).toEqual(['0,1,2,3,4,5,6,7@0s full', '8,9,10@0.001s delay']);
    expect(backend.batches.map(({ instance }) => instance)).toEqual(['m_0', 'm_1']);
  });
});

describe('an instance that takes batches ahead', () => {
  const ahead = async (dynamicBatching: DynamicSchedulerOptions['dynamicBatching'] = {}, count = 15) => {
    const made = await dynamicFixture({ capacity: 2, serviceMicros: SECOND, dynamicBatching });
    made.occupy(SECOND);
    for (const id of ids(count)) made.send(id);
    const before = made.batches();
    await made.clock.elapse(10 * SECOND);
    return { before, after: made.batches().slice(before.length) };
  };

  it('gets one that is full, and not one that may still grow', async () => {
    expect(await ahead()).toEqual({
      before: ['0,1,2,3,4,5,6,7@0s full'],
      after: ['8,9,10,11,12,13,14@2s instance-idle'],
    });
  });

  it.each([
    ['a limit', { defaultQueuePolicy: { maxQueueSize: 15 } }],
    ['a timeout', { defaultQueuePolicy: { defaultTimeoutMicroseconds: 5 * SECOND } }],
    ['timeouts of requests', { defaultQueuePolicy: { allowTimeoutOverride: true } }],
    ['levels', { priorityLevels: 2, defaultPriorityLevel: 1 }],
  ])('gets none while the queue has %s, which go on applying', async (_, dynamicBatching) => {
    expect((await ahead(dynamicBatching)).before).toEqual([]);
  });
});

describe('stopping', () => {
  it('refuses new requests, sends held ones at once, and resolves when the last is done', async () => {
    const { send, clock, scheduler, answered, batches } = await dynamicFixture({
      serviceMicros: 100,
      dynamicBatching: { maxQueueDelayMicroseconds: SECOND },
    });
    send('a');
    await clock.elapse(10);
    let isStopped = false;
    const stopped = scheduler.stop().then(() => {
      isStopped = true;
    });
    send('late');
    expect(answered()).toEqual(['late UNAVAILABLE']);
    await clock.elapse(99);
    expect(isStopped).toBe(false);
    await clock.elapse(1);
    expect(isStopped).toBe(true);
    expect(batches()).toEqual(['a@0.00001s stopping']);
    await stopped;
  });

  it('resolves when what waited was cancelled', async () => {
    const { send, clock, scheduler } = await dynamicFixture();
    const request = send('a');
    const stopped = scheduler.stop();
    request.cancel();
    await clock.elapse(0);
    await stopped;
  });

  it('leaves no timer behind', async () => {
    const { send, clock, scheduler } = await dynamicFixture({
      dynamicBatching: { maxQueueDelayMicroseconds: SECOND, defaultQueuePolicy: { defaultTimeoutMicroseconds: 500 } },
    });
    send('a');
    await clock.elapse(10);
    expect(clock.pending).toBe(1);
    await scheduler.stop();
    expect(clock.pending).toBe(0);
  });
});

describe('running inline', () => {
  const lane = { maxRunMicros: 100 };

  it('serves a lone request to a short model within the call', async () => {
    const { send, clock, batches } = await dynamicFixture({ lane, inline: true, serviceMicros: 20 });
    for (let i = 0; i < 20; i++) {
      send(i);
      await clock.elapse(1000);
    }
    expect(send('now').isDone).toBe(true);
    expect(batches().at(-1)).toMatch(/^now@.* instance-idle$/);
    await clock.elapse(0);
    send('a');
    send('b');
    expect(send('c').isDone).toBe(false);
    await clock.elapse(0);
    expect(batches().at(-1)).toMatch(/^b,c@/);
  });

  it('never happens when batches are delayed', async () => {
    const { send, clock, backend } = await dynamicFixture({
      lane,
      inline: true,
      serviceMicros: 20,
      dynamicBatching: { maxQueueDelayMicroseconds: 10 },
    });
    for (let i = 0; i < 50; i++) {
      send(i);
      await clock.elapse(1000);
    }
    expect(backend.batches.filter(({ inline }) => inline)).toEqual([]);
  });
});

describe('saying why', () => {
  it('counts batches by size and by reason', async () => {
    const { send, clock, scheduler } = await dynamicFixture({ dynamicBatching: { preferredBatchSize: [2, 4] } });
    for (const burst of [2, 3, 1, 4]) {
      for (const id of ids(burst)) send(id);
      await clock.elapse(0);
    }
    expect(scheduler.batching.sizes).toEqual([
      { batchSize: 1, count: 2 },
      { batchSize: 2, count: 2 },
      { batchSize: 4, count: 1 },
    ]);
    expect(scheduler.batching.closed).toMatchObject({ 'preferred-size': 3, 'instance-idle': 2, full: 0 });
  });

  it('lets every request be traced to its batch', async () => {
    const { send, clock } = await dynamicFixture();
    const [a, b] = [send('a', { rows: 3 }), send('b')];
    expect(a.batch).toBeUndefined();
    await clock.elapse(0);
    expect(a.batch).toEqual({ id: 1, reason: 'instance-idle', requestCount: 2, batchSize: 4, instance: 'm_0' });
    expect(b.batch).toBe(a.batch);
  });
});

describe('a batch that fails', () => {
  it('fails its requests, in their order, and the next one runs', async () => {
    const { send, clock, backend, answered } = await dynamicFixture({ dynamicBatching: { preserveOrdering: true } });
    backend.failNextBatch(new InferenceServerError('INTERNAL', 'out of memory'));
    for (const id of ids(2)) send(id);
    await clock.elapse(0);
    send(2);
    await clock.elapse(0);
    expect(answered()).toEqual(['0 INTERNAL', '1 INTERNAL', '2']);
  });

  it('without answers to some has those failed', async () => {
    const responder = new RecordingResponder();
    const scheduler = new DynamicScheduler({
      maxBatchSize: 4,
      instances: [
        { name: 'm_0', capacity: 1, close: async () => {}, execute: async ([first]) => first?.respond(undefined) },
      ],
    });
    for (const id of ids(3)) scheduler.enqueue(requestFor({ id, responder }));
    await scheduler.stop();
    expect(responder.answers.map(({ error }) => error?.code)).toEqual([undefined, 'INTERNAL', 'INTERNAL']);
  });
});

describe('options', () => {
  const instance = { name: 'm_0', capacity: 1, execute: async () => {}, close: async () => {} };
  it.each<[string, Partial<DynamicSchedulerOptions>, string]>([
    ['no instances', { instances: [] }, 'a scheduler needs one instance at least, got none'],
    ['a negative limit', { maxQueueSize: -1 }, 'maxQueueSize must be a whole number from 0 on'],
    ['half a turn', { regroupTurns: 0.5 }, 'regroupTurns must be a whole number from 0 on, got 0.5'],
    ['half a batch', { maxBatchSize: 1.5 }, 'maxBatchSize must be a whole number from 0 on, got 1.5'],
    [
      'a preferred size beyond the largest',
      { dynamicBatching: { preferredBatchSize: [9] } },
      'a preferred batch size must be a whole number in 1 to 8, got 9',
    ],
    [
      'a negative delay',
      { dynamicBatching: { maxQueueDelayMicroseconds: -1 } },
      'maxQueueDelayMicroseconds must be 0 or more, got -1',
    ],
    [
      'a default level outside of the levels',
      { dynamicBatching: { priorityLevels: 2 } },
      'a priority level must be in 1 to 2, got 0',
    ],
    [
      'a policy outside of the levels',
      { dynamicBatching: { priorityLevels: 2, defaultPriorityLevel: 1, priorityQueuePolicy: new Map([[3n, {}]]) } },
      'a priority level must be in 1 to 2, got 3',
    ],
    [
      'order over levels',
      { dynamicBatching: { priorityLevels: 2, defaultPriorityLevel: 1, preserveOrdering: true } },
      'preserveOrdering takes one priority level at most, got 2',
    ],
    [
      'order with DELAY',
      {
        dynamicBatching: {
          preserveOrdering: true,
          defaultQueuePolicy: { timeoutAction: 'DELAY', defaultTimeoutMicroseconds: 1 },
        },
      },
      'preserveOrdering does not go with the timeout action DELAY',
    ],
    [
      'a negative timeout',
      { dynamicBatching: { defaultQueuePolicy: { defaultTimeoutMicroseconds: -1 } } },
      'a queue timeout must be 0 or more microseconds, got -1',
    ],
  ])('refuse %s', (_, options, message) => {
    expect(() => new DynamicScheduler({ instances: [instance], maxBatchSize: 8, ...options })).toThrow(message);
  });
});
