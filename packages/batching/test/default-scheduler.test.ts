import { InferenceServerError, type ModelInstance } from '@nereid/core';
import { RecordingResponder, requestFor } from '@nereid/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DefaultScheduler, SchedulerError } from '../src/index.ts';
import { fixtureOf } from './fixture.ts';

describe('running requests', () => {
  it('runs one request per execution, in order of arrival', async () => {
    const { send, clock, backend, answered, scheduler } = await fixtureOf();
    for (let id = 0; id < 4; id++) send(id);
    expect([scheduler.executing, scheduler.queued]).toEqual([1, 3]);
    await clock.elapse(1000);
    expect(backend.batches.map((batch) => batch.requests.length)).toEqual([1, 1, 1, 1]);
    expect(answered()).toEqual(['0', '1', '2', '3']);
    expect([scheduler.executing, scheduler.queued]).toEqual([0, 0]);
  });

  it('gives the least loaded instance the next request and fills up to the capacity', async () => {
    const { send, backend } = await fixtureOf({ instances: 2, capacity: 2 });
    for (let id = 0; id < 6; id++) send(id);
    expect(backend.batches.map((batch) => batch.instance)).toEqual(['m_0', 'm_1', 'm_0', 'm_1']);
  });

  it('notes when a request was handed to an instance', async () => {
    const { send, clock } = await fixtureOf();
    await clock.elapse(7);
    const requests = [send('a'), send('b')];
    expect(requests.map((request) => request.dispatchedMicros)).toEqual([7, 0]);
    await clock.elapse(1000);
    expect(requests.map((request) => request.dispatchedMicros)).toEqual([7, 107]);
  });

  it('goes on after a batch that failed', async () => {
    const { send, clock, backend, answered } = await fixtureOf();
    backend.failNextBatch(new InferenceServerError('INTERNAL', 'out of memory'));
    send('a');
    send('b');
    await clock.elapse(1000);
    expect(answered()).toEqual(['a INTERNAL', 'b']);
  });

  it('takes requests that a responder sends from inside an answer', async () => {
    const { send, scheduler, clock, started } = await fixtureOf();
    let left = 3;
    const chain = { fail() {}, respond: () => left-- > 0 && enqueue() };
    const enqueue = () => scheduler.enqueue(requestFor({ id: 'chained', responder: chain }));
    enqueue();
    send('other');
    await clock.elapse(1000);
    expect(started()).toEqual(['chained', 'other', 'chained', 'chained', 'chained']);
  });
});

describe('answers after the batch is over', () => {
  const responses = { of: () => [[], []], everyMicros: 1000 };

  it('come in their own time when the instances may answer late, and the next request runs meanwhile', async () => {
    const { send, clock, answered, started } = await fixtureOf({ responses, scheduler: { answersLate: true } });
    send('a');
    send('b');
    await clock.elapse(250);
    expect([started(), answered()]).toEqual([['a', 'b'], []]);
    await clock.elapse(5000);
    expect(answered()).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  });

  it('are taken for forgotten otherwise', async () => {
    const { send, clock, answered } = await fixtureOf({ responses });
    send('a');
    await clock.elapse(150);
    expect(answered()).toEqual(['a INTERNAL']);
  });
});

describe('a full queue', () => {
  it('refuses the request that is one too many, and says what to do', async () => {
    const { send, answered, responder } = await fixtureOf({ scheduler: { maxQueueSize: 2 } });
    for (let id = 0; id < 5; id++) send(id);
    expect(answered()).toEqual(['3 UNAVAILABLE', '4 UNAVAILABLE']);
    expect(responder.answers[0]?.error).toBeInstanceOf(SchedulerError);
    expect(responder.answers[0]?.error).toMatchObject({
      reason: 'queue-full',
      message:
        "Exceeds maximum queue size: 2 requests already wait for model 'm'; " +
        'send it again later, add model instances, or raise the limit',
    });
  });

  it('takes requests again when one left it', async () => {
    const { send, clock, answered } = await fixtureOf({ scheduler: { maxQueueSize: 1 } });
    send('a');
    send('b');
    await clock.elapse(100);
    send('c');
    send('d');
    await clock.elapse(1000);
    expect(answered()).toEqual(['a', 'd UNAVAILABLE', 'b', 'c']);
  });

  it('holds 10 000 unless said otherwise', async () => {
    const { send, scheduler, answered } = await fixtureOf();
    for (let id = 0; id <= 10_001; id++) send(id);
    expect(scheduler.queued).toBe(10_000);
    expect(answered()).toEqual(['10001 UNAVAILABLE']);
  });

  it('never is when the limit is 0', async () => {
    const { send, scheduler, answered } = await fixtureOf({ scheduler: { maxQueueSize: 0 } });
    for (let id = 0; id <= 20_000; id++) send(id);
    expect(scheduler.queued).toBe(20_000);
    expect(answered()).toEqual([]);
  });
});

describe('cancelling', () => {
  it('takes a request that waits out of the queue at once', async () => {
    const { send, clock, answered, started, responder, scheduler } = await fixtureOf();
    send('a');
    const waiting = send('b');
    send('c');
    waiting.cancel();
    expect(answered()).toEqual(['b CANCELLED']);
    expect(responder.answers[0]?.error).toMatchObject({
      reason: 'cancelled',
      message: "the request for model 'm' was cancelled before it ran",
    });
    expect(scheduler.queued).toBe(1);
    await clock.elapse(1000);
    expect(started()).toEqual(['a', 'c']);
  });

  it('leaves a request that runs to complete', async () => {
    const { send, clock, answered } = await fixtureOf();
    const running = send('a');
    const next = send('b');
    running.cancel();
    await clock.elapse(150);
    next.cancel();
    await clock.elapse(1000);
    expect(answered()).toEqual(['a', 'b']);
  });

  it('before the request came keeps it from running', async () => {
    const { scheduler, started } = await fixtureOf();
    const responder = new RecordingResponder();
    const request = requestFor({ responder });
    request.cancel();
    scheduler.enqueue(request);
    expect((await responder.finalOf(request)).error?.code).toBe('CANCELLED');
    expect(started()).toEqual([]);
  });
});

describe('stopping', () => {
  it('refuses new requests, runs those that wait, and resolves when the last is done', async () => {
    const { send, clock, scheduler, answered, responder } = await fixtureOf();
    for (const id of ['a', 'b', 'c']) send(id);
    let isStopped = false;
    const stopped = scheduler.stop().then(() => {
      isStopped = true;
    });
    send('late');
    expect(responder.answers[0]?.error).toMatchObject({ code: 'UNAVAILABLE', reason: 'stopping' });
    expect(responder.answers[0]?.error?.message).toContain('has stopped accepting new inference requests');
    await clock.elapse(299);
    expect(isStopped).toBe(false);
    await clock.elapse(1);
    expect(isStopped).toBe(true);
    expect(answered()).toEqual(['late UNAVAILABLE', 'a', 'b', 'c']);
    await stopped;
  });

  it('resolves at once when there is nothing to do, and gives every caller the same promise', async () => {
    const { scheduler } = await fixtureOf();
    const stopped = scheduler.stop();
    expect(scheduler.stop()).toBe(stopped);
    await stopped;
  });
});

/** An instance that breaks its promises. */
function defective(execute: ModelInstance['execute']): ModelInstance {
  return { name: 'm_0', capacity: 1, execute, close: async () => {} };
}

describe('a backend with a defect', () => {
  it.each([
    [
      'leaves the request unanswered',
      async () => {},
      'unanswered',
      "instance 'm_0' ran the request without answering it",
    ],
    [
      'rejects',
      () => Promise.reject(new Error('segment gone')),
      'execution-broke',
      "instance 'm_0' broke while it ran the request: segment gone",
    ],
    [
      'throws',
      () => {
        throw new Error('segment gone');
      },
      'execution-broke',
      "instance 'm_0' broke while it ran the request: segment gone",
    ],
  ] as const)(
    'that %s has the request failed with INTERNAL, and the next one runs',
    async (_, execute, reason, message) => {
      const responder = new RecordingResponder();
      const scheduler = new DefaultScheduler({ instances: [defective(execute)] });
      const requests = [requestFor({ responder }), requestFor({ responder })];
      for (const request of requests) scheduler.enqueue(request);
      for (const request of requests) {
        const { error } = await responder.finalOf(request);
        expect(error).toMatchObject({ code: 'INTERNAL', reason });
        expect(error?.message).toContain(message);
      }
      await scheduler.stop();
    },
  );

  it('that throws at every request does not run the queue in one stack', async () => {
    const responder = new RecordingResponder();
    const scheduler = new DefaultScheduler({
      instances: [
        defective(() => {
          throw new Error('broken for good');
        }),
      ],
      maxQueueSize: 0,
    });
    for (let i = 0; i < 50_000; i++) scheduler.enqueue(requestFor({ responder }));
    await scheduler.stop();
    expect(responder.answers).toHaveLength(50_000);
  });

  it('that answers and rejects nevertheless keeps its answer', async () => {
    const responder = new RecordingResponder();
    const instance = defective(async ([request]) => {
      request?.respond(undefined);
      throw new Error('too late');
    });
    const scheduler = new DefaultScheduler({ instances: [instance] });
    const request = requestFor({ responder });
    scheduler.enqueue(request);
    await scheduler.stop();
    expect(responder.answers.map(({ error }) => error)).toEqual([undefined]);
  });
});

describe('options', () => {
  const instance = defective(async () => {});
  it.each([
    ['no instances', { instances: [] }, 'a scheduler needs one instance at least, got none'],
    [
      'a capacity of 0',
      { instances: [{ ...instance, capacity: 0 }] },
      "the capacity of instance 'm_0' must be a whole number from 1 on, got 0",
    ],
    [
      'a negative limit',
      { instances: [instance], maxQueueSize: -1 },
      'maxQueueSize must be a whole number from 0 on, where 0 means no limit; got -1',
    ],
    ['a limit of 1.5', { instances: [instance], maxQueueSize: 1.5 }, 'got 1.5'],
  ])('refuse %s', (_, options, message) => {
    expect(() => new DefaultScheduler(options)).toThrow(message);
  });
});

describe('any history of arrivals, cancellations and failures', () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.constant({ type: 'send' as const }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('cancel' as const), which: fc.nat() }) },
    {
      weight: 3,
      arbitrary: fc.record({ type: fc.constant('elapse' as const), micros: fc.integer({ min: 0, max: 250 }) }),
    },
    { weight: 1, arbitrary: fc.constant({ type: 'fail' as const }) },
    { weight: 1, arbitrary: fc.constant({ type: 'stop' as const }) },
  );

  it('ends with every request answered once, those that ran in order of arrival', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          steps: fc.array(step, { maxLength: 50 }),
          instances: fc.integer({ min: 1, max: 3 }),
          capacity: fc.integer({ min: 1, max: 2 }),
          inline: fc.boolean(),
          maxQueueSize: fc.integer({ min: 0, max: 4 }),
        }),
        async ({ steps, instances, capacity, inline, maxQueueSize }) => {
          const scheduler = { maxQueueSize, ...(inline && { inline: {} }) };
          const made = await fixtureOf({ instances, capacity, inline, scheduler, serviceMicros: 50 });
          const sent: ReturnType<typeof made.send>[] = [];
          for (const [id, action] of steps.entries()) {
            if (action.type === 'send') sent.push(made.send(id));
            else if (action.type === 'cancel') sent[action.which % Math.max(sent.length, 1)]?.cancel();
            else if (action.type === 'elapse') await made.clock.elapse(action.micros);
            else if (action.type === 'fail') made.backend.failNextBatch(new InferenceServerError('INTERNAL', 'failed'));
            else void made.scheduler.stop();
          }
          const stopped = made.scheduler.stop();
          await made.clock.elapse(50 * (sent.length + 1));
          await stopped;
          expect(made.responder.answers).toHaveLength(sent.length);
          expect(new Set(made.responder.answers.map(({ request }) => request))).toEqual(new Set(sent));
          const started = made.started().map(Number);
          expect(started).toEqual(started.toSorted((a, b) => a - b));
          expect([made.scheduler.queued, made.scheduler.executing]).toEqual([0, 0]);
        },
      ),
      { numRuns: 60 },
    );
  });
});
