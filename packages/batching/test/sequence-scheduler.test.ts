import { InferenceServerError } from '@nereid/core';
import { RecordingResponder, requestFor, tensor } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { SequenceScheduler, type SequenceSchedulerOptions } from '../src/index.ts';
import {
  allControls,
  controlsOf,
  HeldSum,
  SECOND,
  type SendOptions,
  STRATEGIES,
  sequenceFixture,
} from './sequence-fixture.ts';

describe.each(STRATEGIES)('admission, %s', (_, strategy) => {
  it.each<[string, number | string, SendOptions, string, string]>([
    ['more than one row', 1, { start: true, rows: 2 }, 'INVALID_ARG', 'must specify batch-size 1, got 2'],
    ['the correlation ID 0', 0, { start: true }, 'INVALID_ARG', 'must specify a non-zero or non-empty correlation ID'],
    ["the correlation ID ''", '', { start: true }, 'INVALID_ARG', 'a non-zero or non-empty correlation ID'],
    ['an unknown correlation ID and no START', 1, {}, 'INVALID_ARG', 'sequence 1 for model'],
    ['an unknown correlation ID and END only', 1, { end: true }, 'INVALID_ARG', 'must specify the START flag'],
    [
      'a string for a number',
      'one',
      { start: true },
      'INVALID_ARG',
      "sequence batching control 'CORRID' data-type is 'BYTES', but model 'm' expects 'UINT64'",
    ],
  ])('refuses %s', async (_title, id, options, code, message) => {
    const { send, responder } = await sequenceFixture({ sequenceBatching: strategy });
    send(id, 1, options);
    expect(responder.answers.map(({ error }) => error?.code)).toEqual([code]);
    expect(responder.answers[0]?.error?.message).toContain(message);
  });

  it('refuses a number for a string', async () => {
    const controlInput = allControls('TYPE_STRING');
    const { send, responder } = await sequenceFixture({ sequenceBatching: { ...strategy, controlInput } });
    send(1, 1, { start: true });
    expect(responder.answers[0]?.error?.message).toContain("data-type is 'UINT64', but model 'm' expects 'BYTES'");
  });

  it('refuses what continues a sequence after its END', async () => {
    const { sequence, send, clock, answered } = await sequenceFixture({ sequenceBatching: strategy });
    sequence(1, [1, 2]);
    send(1, 4);
    await clock.elapse(SECOND);
    send(1, 8);
    expect(answered()).toEqual(['1 INVALID_ARG', '1=1', '1=3', '1 INVALID_ARG']);
  });

  it('takes numbers and strings apart, and every spelling of a number together', async () => {
    const { send, clock, answered } = await sequenceFixture({
      sequenceBatching: { ...strategy, controlInput: allControls().slice(0, 3) },
    });
    send(7, 1, { start: true });
    send('7', 10, { start: true });
    send(7n, 2, { end: true });
    send('7', 20, { end: true });
    await clock.elapse(SECOND);
    expect(answered().sort()).toEqual(['7=1', '7=10', '7=3', '7=30']);
  });

  it('refuses more requests than may wait, and takes them again later', async () => {
    const { send, clock, responder } = await sequenceFixture({ sequenceBatching: strategy, maxQueueSize: 2 });
    send(1, 1, { start: true });
    send(1, 2);
    send(1, 4);
    await clock.elapse(SECOND / 2);
    send(1, 8);
    await clock.elapse(SECOND / 2);
    expect(responder.answers.map(({ error }) => error?.code)).toEqual(['UNAVAILABLE', undefined, undefined, undefined]);
    expect(responder.answers[0]?.error?.message).toContain('Exceeds maximum queue size');
  });

  it('warns of a sequence that START of another cut short', async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (_fields: object, text: string) => warnings.push(text) };
    const { send, clock } = await sequenceFixture({ sequenceBatching: strategy, logger });
    send(1, 1, { start: true });
    send(1, 1, { start: true });
    await clock.elapse(SECOND);
    expect(warnings).toEqual(['sequence 1 was ended by the START of another before it had an END']);
  });
});

describe.each(STRATEGIES)('a sequence, %s', (_, strategy) => {
  it('tells the model START, END, READY and the correlation ID', async () => {
    const { sequence, clock, backend } = await sequenceFixture({ sequenceBatching: strategy });
    sequence(9, [1, 2, 3]);
    await clock.elapse(SECOND);
    const id = { READY: 1, CORRID: 9n };
    expect(backend.batches.map(({ requests: [request] }) => request && controlsOf(request))).toEqual([
      { START: 1, END: 0, ...id },
      { START: 0, END: 0, ...id },
      { START: 0, END: 1, ...id },
    ]);
  });

  it('stays on one instance, and sequences spread over the instances', async () => {
    const { sequence, clock, backend } = await sequenceFixture({ instances: 2, sequenceBatching: strategy });
    for (const id of [1, 2, 3, 4]) sequence(id, [1, 1, 1]);
    await clock.elapse(SECOND);
    const places = backend.batches.flatMap(({ instance, requests }) => requests.map(({ id }) => `${instance} ${id}`));
    expect([...new Set(places)].sort()).toEqual(['m_0 1', 'm_0 3', 'm_1 2', 'm_1 4']);
  });

  it('keeps one state for all of its requests, which is released once, when it is over', async () => {
    const { sequence, clock, backend } = await sequenceFixture({ sequenceBatching: strategy });
    const released = HeldSum.released;
    sequence(1, [1, 2, 4]);
    await clock.elapse(2500);
    const states = backend.batches.map(({ requests: [request] }) => request?.turn?.state);
    expect(new Set(states).size).toBe(1);
    expect(HeldSum.released).toBe(released);
    await clock.elapse(SECOND / 2);
    expect(HeldSum.released).toBe(released + 1);
    expect(states[0]?.held).toBeUndefined();
  });

  it('has no state for a model without one', async () => {
    const { sequence, clock, backend } = await sequenceFixture({ sequenceBatching: { ...strategy, state: [] } });
    sequence(1, [1]);
    await clock.elapse(SECOND);
    expect(backend.batches[0]?.requests[0]?.turn?.state).toBeUndefined();
  });

  it('goes on when a batch of it failed', async () => {
    const { sequence, clock, backend, answered } = await sequenceFixture({ sequenceBatching: strategy });
    backend.failNextBatch(new InferenceServerError('INTERNAL', 'out of memory'));
    sequence(1, [1, 2]);
    await clock.elapse(SECOND);
    expect(answered()).toEqual(['1 INTERNAL', '1=2']);
  });

  it('waits for an earlier one of its correlation ID, also when there is a free slot elsewhere', async () => {
    const sequenceBatching = { ...strategy, state: [] };
    const made = await sequenceFixture({ instances: 2, sequenceBatching, afterTurn: queueMicrotask });
    made.sequence(1, [1, 2]);
    made.sequence(1, [4, 8]);
    await made.clock.elapse(SECOND);
    expect(made.answered()).toEqual(['1=1', '1=3', '1=4', '1=12']);
    expect(made.backend.batches.map(({ requests: [request] }) => request?.dispatchedMicros)).toEqual([
      0, 1000, 2000, 3000,
    ]);
  });

  it('that breaks the instance fails with it, and the next goes on', async () => {
    const responder = new RecordingResponder();
    const execute = async () => {
      throw new Error('broken pipe');
    };
    const scheduler = schedulerOf(
      { instances: [{ name: 'm_0', capacity: 1, close: async () => {}, execute }] },
      strategy,
    );
    for (const start of [true, false]) scheduler.enqueue(requestOf({ start, end: !start, responder }));
    await scheduler.stop();
    expect(responder.answers.map(({ error }) => error?.code)).toEqual(['INTERNAL', 'INTERNAL']);
  });
});

describe('padding', () => {
  it('has false controls, the correlation ID 0, the inputs of another row and a state of its own', async () => {
    const { sequence, send, clock, backend, scheduler } = await sequenceFixture();
    sequence(1, [1]);
    send(2, 5, { start: true });
    send(2, 6);
    await clock.elapse(1500);
    const [pad, row] = backend.batches[1]?.requests ?? [];
    expect(pad && controlsOf(pad)).toEqual({ START: 0, END: 0, READY: 0, CORRID: 0n });
    expect(pad?.inputs).toBe(row?.inputs);
    expect(pad?.turn?.state).toBeDefined();
    expect(pad?.turn?.state).not.toBe(row?.turn?.state);
    expect(row?.batch).toMatchObject({ requestCount: 1, batchSize: 2 });
    expect(scheduler.executing).toBe(1);
    await clock.elapse(1000);
    expect(pad?.turn?.state?.held).toBeUndefined();
  });

  it('never carries what is not a number from one sequence into another', async () => {
    const { sequence, clock, answered } = await sequenceFixture();
    sequence(1, [Number.NaN]);
    sequence(2, [1, Number.NaN, 1]);
    sequence(3, [1, 2, 4, 8]);
    sequence(4, [1, 2]);
    for (const id of [5, 6, 7]) sequence(id, [3, 3]);
    await clock.elapse(SECOND);
    const isOdd = (answer: string) => answer.endsWith('=NaN');
    expect(answered().filter(isOdd)).toEqual(['1=NaN', '2=NaN', '2=NaN']);
    expect(answered()).toHaveLength(16);
  });
});

describe('direct', () => {
  it('sends a batch of all slots without waiting for the end of the turn', async () => {
    const { sequence, batches } = await sequenceFixture({ maxBatchSize: 2 });
    sequence(1, [1]);
    sequence(2, [2]);
    expect(batches()).toEqual(['m_0 1:1 2:2']);
  });

  it('lets sequences of different shapes take turns', async () => {
    const { sequence, clock, batches } = await sequenceFixture({ maxBatchSize: 2 });
    sequence(1, [1, 2], { columns: 1 });
    sequence(2, [1, 2], { columns: 2 });
    await clock.elapse(SECOND);
    expect(batches()).toEqual(['m_0 1:1 -', 'm_0 - 2:1', 'm_0 1:2 -', 'm_0 - 2:2']);
  });

  it('waits for a partner until the utilization is reached', async () => {
    const direct = { maxQueueDelayMicroseconds: 500, minimumSlotUtilization: 1 };
    const { send, clock, timedBatches } = await sequenceFixture({ maxBatchSize: 2, sequenceBatching: { direct } });
    send(1, 1, { start: true });
    await clock.elapse(200);
    send(2, 1, { start: true });
    expect(timedBatches()).toEqual(['1:1 2:1@0.0002s full']);
  });

  it('one by one for a model without a batch dimension, whose controls have one dimension', async () => {
    const { sequence, clock, sizes, backend } = await sequenceFixture({ maxBatchSize: 0 });
    for (const id of [1, 2]) sequence(id, [1, 1]);
    await clock.elapse(SECOND);
    expect(sizes()).toEqual({ 1: 4 });
    expect(backend.batches[0]?.requests[0]?.turn?.controls[0]?.shape).toEqual([1]);
  });
});

describe('oldest', () => {
  it('has so many candidates, the others wait', async () => {
    const made = await sequenceFixture({ sequenceBatching: { oldest: { maxCandidateSequences: 2 } } });
    for (const id of [1, 2, 3]) made.send(id, 1, { start: true });
    await made.clock.elapse(0);
    expect(made.batches()).toEqual(['m_0 1:1 2:1']);
    expect([made.scheduler.queued, made.scheduler.executing]).toEqual([1, 2]);
  });

  it('keeps one request of a sequence in flight, also when the instance takes batches ahead', async () => {
    const { sequence, clock, sizes, answered } = await sequenceFixture({
      capacity: 2,
      maxBatchSize: 2,
      sequenceBatching: { oldest: { maxCandidateSequences: 4 } },
    });
    for (const id of [1, 2, 3, 4]) sequence(id, [1, 10]);
    expect(sizes()).toEqual({ 2: 2 });
    await clock.elapse(SECOND);
    expect(answered()).toEqual(['1=1', '2=1', '3=1', '4=1', '1=11', '2=11', '3=11', '4=11']);
  });

  it('fills its batches under the load of many clients, of which each sends its next request when it has an answer', async () => {
    const [clients, length] = [500, 6];
    class Clients extends RecordingResponder {
      override respond(...answer: Parameters<RecordingResponder['respond']>): void {
        super.respond(...answer);
        const [{ correlationId }] = answer;
        const sent = (progress.get(Number(correlationId)) ?? 0) + 1;
        progress.set(Number(correlationId), sent);
        if (sent < length) made.send(Number(correlationId), 1, { end: sent === length - 1 });
      }
    }
    const progress = new Map<number, number>();
    const responder = new Clients();
    const oldest = { maxCandidateSequences: 128 };
    const made = await sequenceFixture({ maxBatchSize: 64, responder, sequenceBatching: { oldest } });
    for (let id = 1; id <= clients; id++) made.send(id, 1, { start: true });
    await made.clock.elapse(SECOND);
    expect(responder.answers).toHaveLength(clients * length);
    const full = made.sizes()[64] ?? 0;
    expect(full * 64).toBeGreaterThan(0.9 * clients * length);
  });

  it.each([
    [true, ['1', '2', '3', '4']],
    [false, ['3', '4', '1', '2']],
  ])(
    'with preserveOrdering %s: two batches at once, of which the second is done first',
    async (preserveOrdering, order) => {
      const responder = new RecordingResponder();
      const pending: (() => void)[] = [];
      const instance = {
        name: 'm_0',
        capacity: 2,
        close: async () => {},
        execute: (batch: readonly ReturnType<typeof requestOf>[]) =>
          new Promise<void>((resolve) => {
            pending.push(() => {
              for (const request of batch) request.respond(undefined);
              resolve();
            });
          }),
      };
      const oldest = { preserveOrdering, maxCandidateSequences: 4 };
      const scheduler = schedulerOf({ instances: [instance], maxBatchSize: 2 }, { oldest });
      for (const id of [1, 2, 3, 4]) scheduler.enqueue(requestOf({ id, start: true, end: true, responder }));
      for (const finish of pending.reverse()) finish();
      await scheduler.stop();
      expect(responder.answers.map(({ request }) => request.id)).toEqual(order);
    },
  );
});

describe('options', () => {
  const instance = { name: 'm_0', capacity: 1, execute: async () => {}, close: async () => {} };
  it.each<[string, Partial<SequenceSchedulerOptions>, string]>([
    ['no instances', { instances: [] }, 'a scheduler needs one instance at least, got none'],
    ['half a batch', { maxBatchSize: 1.5 }, 'maxBatchSize must be a whole number from 0 on, got 1.5'],
    ['a negative limit', { maxQueueSize: -1 }, 'maxQueueSize must be a whole number from 0 on'],
    [
      'half a candidate',
      { sequenceBatching: { oldest: { maxCandidateSequences: 0.5 } } },
      'maxCandidateSequences must be a whole number, got 0.5',
    ],
    [
      'a preferred size beyond the largest',
      { sequenceBatching: { oldest: { preferredBatchSize: [9] } } },
      'a preferred batch size must be a whole number in 1 to 8, got 9',
    ],
    [
      'a negative idle time',
      { sequenceBatching: { maxSequenceIdleMicroseconds: -1 } },
      'maxSequenceIdleMicroseconds must be 0 or more, got -1',
    ],
    [
      'a negative delay',
      { sequenceBatching: { direct: { maxQueueDelayMicroseconds: -1 } } },
      'maxQueueDelayMicroseconds must be 0 or more, got -1',
    ],
    [
      'a utilization above 1',
      { sequenceBatching: { direct: { minimumSlotUtilization: 1.5 } } },
      'minimumSlotUtilization must be in 0 to 1, got 1.5',
    ],
  ])('refuse %s', (_, options, message) => {
    const good = { instances: [instance], maxBatchSize: 8, sequenceBatching: {} };
    expect(() => new SequenceScheduler({ ...good, ...options })).toThrow(message);
  });
});

function schedulerOf(
  options: Pick<SequenceSchedulerOptions, 'instances'> & Partial<SequenceSchedulerOptions>,
  sequenceBatching: SequenceSchedulerOptions['sequenceBatching'],
): SequenceScheduler {
  return new SequenceScheduler({ maxBatchSize: 4, ...options, sequenceBatching });
}

function requestOf(init: {
  readonly id?: number;
  readonly start?: boolean;
  readonly end?: boolean;
  readonly responder: RecordingResponder;
}) {
  const { id = 1, start = false, end = false, responder } = init;
  const sequence = { correlationId: id, sequenceStart: start, sequenceEnd: end };
  const inputs = [tensor({ name: 'x', shape: [1, 1], values: [1] })];
  return requestFor({ modelName: 'm', id: String(id), inputs, responder, ...sequence });
}
