import type { HeldState, InferenceRequest, ModelInstance } from '@nereid/core';
import { ManualClock, RecordingResponder, requestFor, tensor, valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { DefaultScheduler, DynamicScheduler, type SequenceBatching, SequenceScheduler } from '../src/index.ts';
import { allControls, controlsOf, STRATEGIES } from './sequence-fixture.ts';

const STEP = 1000;
const [[, DIRECT]] = STRATEGIES;

class Count implements HeldState {
  left = 0;

  release(): void {}
}

/** Counts down from each request's input, one response per run of a millisecond, and keeps the count in the sequence's state. */
class CountDown implements ModelInstance {
  readonly name = 'm_0';
  readonly capacity = 1;
  readonly batches: (readonly string[])[] = [];
  readonly controls: ReturnType<typeof controlsOf>[] = [];
  /** What requests wait for before they run again, by id. */
  readonly holds = new Map<string, Promise<void>>();
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  async execute(batch: readonly InferenceRequest[]): Promise<void> {
    this.batches.push(batch.map(({ id, turn }) => (turn?.isPadding ? '-' : id)).sort());
    for (const request of batch) if (request.turn?.isPadding === false) this.controls.push(controlsOf(request));
    await new Promise<void>((resolve) => this.#clock.at(this.#clock.nowMicros() + STEP, resolve));
    for (const request of batch) step(request, this.holds.get(request.id));
  }

  async close(): Promise<void> {}
}

/** Requests that have run before. */
const begun = new WeakSet<InferenceRequest>();

function step(request: InferenceRequest, ready: Promise<void> | undefined): void {
  const [x] = request.inputs;
  const { turn } = request;
  if (turn === undefined || turn.state === undefined || turn.isPadding || x === undefined) return;
  const count = turn.state.held instanceof Count ? turn.state.held : new Count();
  turn.state.held = count;
  if (!begun.has(request)) count.left += Number(valuesOf(x)[0]);
  begun.add(request);
  count.left--;
  const response = { modelName: 'm', modelVersion: '1', outputs: [tensor({ name: 'left', values: [count.left] })] };
  request.respond(response, count.left === 0);
  if (count.left > 0) request.reschedule?.(ready);
}

function iterative(strategy: SequenceBatching) {
  const clock = new ManualClock();
  const instance = new CountDown(clock);
  const controlInput = allControls();
  const scheduler = new SequenceScheduler({
    instances: [instance],
    clock,
    maxBatchSize: 4,
    sequenceBatching: { ...strategy, controlInput, state: [{}], iterativeSequence: true },
  });
  const responder = new RecordingResponder();
  const send = (id: string, steps: number, sequence: Partial<Parameters<typeof requestFor>[0]> = {}) => {
    const inputs = [tensor({ name: 'x', shape: [1, 1], values: [steps] })];
    const request = requestFor({ modelName: 'm', id, inputs, responder, ...sequence });
    scheduler.enqueue(request);
    return request;
  };
  const answered = () =>
    responder.answers.map(({ request, response, error }) => {
      const [left] = response?.outputs ?? [];
      return `${request.id} ${error?.code ?? (left && valuesOf(left)[0])}`;
    });
  return { clock, instance, scheduler, responder, send, answered };
}

describe.each(STRATEGIES)('an iterative sequence, %s', (_, strategy) => {
  it('runs as often as its request asks to, with one answer each', async () => {
    const { send, clock, instance, answered, scheduler } = iterative(strategy);
    send('a', 3);
    await clock.elapse(10 * STEP);
    expect(answered()).toEqual(['a 2', 'a 1', 'a 0']);
    expect(instance.batches).toEqual([['a'], ['a'], ['a']]);
    expect([scheduler.queued, scheduler.executing, clock.pending]).toEqual([0, 0, 0]);
  });

  it('has START in its first run only, and an ID that no client could have given as a signed number', async () => {
    const { send, clock, instance } = iterative(strategy);
    send('a', 2);
    await clock.elapse(10 * STEP);
    const id = { END: 0, READY: 1, CORRID: 2n ** 63n };
    expect(instance.controls).toEqual([
      { START: 1, ...id },
      { START: 0, ...id },
    ]);
  });

  it('is joined by new requests between its runs', async () => {
    const { send, clock, instance, answered } = iterative(strategy);
    send('a', 4);
    await clock.elapse(1.5 * STEP);
    send('b', 2);
    await clock.elapse(10 * STEP);
    expect(instance.batches).toEqual([['a'], ['a'], ['a', 'b'], ['a', 'b']]);
    expect(answered().sort()).toEqual(['a 0', 'a 1', 'a 2', 'a 3', 'b 0', 'b 1']);
  });

  it('waits in the backlog while every slot is taken', async () => {
    const { send, clock, instance } = iterative(strategy);
    for (const id of ['a', 'b', 'c', 'd', 'e']) send(id, id === 'a' ? 1 : 2);
    await clock.elapse(10 * STEP);
    expect(instance.batches).toEqual([['a', 'b', 'c', 'd'], ['b', 'c', 'd', 'e'], ['e']]);
  });

  it('stops when its client cancels, and frees its slot', async () => {
    const { send, clock, instance, answered, scheduler } = iterative(strategy);
    const request = send('a', 1000);
    await clock.elapse(2.5 * STEP);
    request.cancel();
    await clock.elapse(10 * STEP);
    expect(answered()).toEqual(['a 999', 'a 998', 'a 997', 'a CANCELLED']);
    expect(instance.batches).toHaveLength(3);
    await scheduler.stop();
  });

  it('that is cancelled while it waits for its next run stops at once', async () => {
    const { send, clock, answered, scheduler } = iterative({ oldest: { maxQueueDelayMicroseconds: 5 * STEP } });
    const request = send('a', 3);
    await clock.elapse(6.5 * STEP);
    request.cancel();
    expect(answered()).toEqual(['a 2', 'a CANCELLED']);
    await scheduler.stop();
  });

  it('that is not ready for its next run waits in its slot, while others go on', async () => {
    const { send, clock, instance, answered, scheduler } = iterative({
      ...strategy,
      maxSequenceIdleMicroseconds: STEP / 2,
    });
    let resume = () => {};
    instance.holds.set('a', new Promise((resolve) => (resume = resolve)));
    send('a', 3);
    send('b', 3);
    await clock.elapse(10 * STEP);
    expect(instance.batches).toEqual([
      ['a', 'b'],
      strategy === DIRECT ? ['-', 'b'] : ['b'],
      strategy === DIRECT ? ['-', 'b'] : ['b'],
    ]);
    expect([scheduler.queued, scheduler.executing]).toEqual([1, 0]);
    resume();
    await clock.elapse(10 * STEP);
    expect(answered()).toEqual(['a 2', 'b 2', 'b 1', 'b 0', 'a 1', 'a 0']);
    await scheduler.stop();
  });

  it('that is cancelled before it is ready stops at once', async () => {
    const { send, clock, instance, answered, scheduler } = iterative(strategy);
    let resume = () => {};
    instance.holds.set('a', new Promise((resolve) => (resume = resolve)));
    const request = send('a', 3);
    await clock.elapse(2 * STEP);
    request.cancel();
    expect(answered()).toEqual(['a 2', 'a CANCELLED']);
    resume();
    await clock.elapse(2 * STEP);
    expect(instance.batches).toHaveLength(1);
    await scheduler.stop();
  });

  it('runs beyond the idle time', async () => {
    const { send, clock, answered } = iterative({ ...strategy, maxSequenceIdleMicroseconds: STEP / 2 });
    send('a', 5);
    await clock.elapse(10 * STEP);
    expect(answered()).toHaveLength(5);
  });

  it('keeps a correlation ID of the client, and takes requests of it until it is over', async () => {
    const { send, clock, instance, answered } = iterative(strategy);
    send('a', 2, { correlationId: 5, sequenceStart: true });
    send('b', 1, { correlationId: 5 });
    await clock.elapse(10 * STEP);
    send('c', 1, { correlationId: 5 });
    expect(instance.controls.map(({ START, CORRID }) => [START, CORRID])).toEqual([
      [1, 5n],
      [0, 5n],
      [0, 5n],
    ]);
    expect(answered()).toEqual(['a 1', 'a 0', 'b 0', 'c INVALID_ARG']);
  });

  it('is refused after stop(), and what runs goes on', async () => {
    const { send, clock, scheduler, answered } = iterative(strategy);
    send('a', 2);
    await clock.elapse(STEP / 2);
    const stopped = scheduler.stop();
    send('b', 1);
    await clock.elapse(10 * STEP);
    await stopped;
    expect(answered()).toEqual(['b UNAVAILABLE', 'a 1', 'a 0']);
  });

  it('counts its wait until the first run only', async () => {
    const { send, clock } = iterative(strategy);
    await clock.elapse(10);
    const request = send('a', 3);
    await clock.elapse(10 * STEP);
    expect(request.dispatchedMicros).toBe(10);
  });
});

describe('request.reschedule', () => {
  it.each([
    ['the default scheduler', (instances: readonly ModelInstance[]) => new DefaultScheduler({ instances })],
    [
      'the dynamic batcher',
      (instances: readonly ModelInstance[]) => new DynamicScheduler({ instances, maxBatchSize: 4 }),
    ],
    [
      'a sequence scheduler that is not iterative',
      (instances: readonly ModelInstance[]) =>
        new SequenceScheduler({ instances, maxBatchSize: 4, sequenceBatching: {} }),
    ],
  ])('is absent under %s', async (_, make) => {
    let seen: unknown = 'nothing';
    const execute = async ([request]: readonly InferenceRequest[]) => {
      seen = request?.reschedule;
      request?.respond(undefined);
    };
    const scheduler = make([{ name: 'm_0', capacity: 1, close: async () => {}, execute }]);
    scheduler.enqueue(requestFor({ correlationId: 1, sequenceStart: true, sequenceEnd: true }));
    await scheduler.stop();
    expect(seen).toBeUndefined();
  });

  it('has no effect beside a final answer, nor when the instance breaks', async () => {
    const responder = new RecordingResponder();
    let runs = 0;
    const execute = async ([request]: readonly InferenceRequest[]) => {
      runs++;
      request?.reschedule?.();
      if (request?.id === 'breaks') throw new Error('broken pipe');
      request?.respond(undefined);
    };
    const scheduler = new SequenceScheduler({
      instances: [{ name: 'm_0', capacity: 1, close: async () => {}, execute }],
      maxBatchSize: 1,
      sequenceBatching: { iterativeSequence: true },
    });
    for (const id of ['answers', 'breaks']) scheduler.enqueue(requestFor({ id, responder }));
    await scheduler.stop();
    expect(runs).toBe(2);
    expect(responder.answers.map(({ request, error }) => [request.id, error?.code])).toEqual([
      ['answers', undefined],
      ['breaks', 'INTERNAL'],
    ]);
  });
});
