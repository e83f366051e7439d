/**
 * The cases that the original's own quality suite holds its dynamic batcher to, on a clock moved by hand: "fast" there is at once here, "slow" is when
 * the delay of 10 s ends. Where it holds the scheduler back until so many requests wait, the instance is busy here until they do.
 */
import { requestFor } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { type DynamicBatching, joinRagged } from '../src/index.ts';
import { type DynamicFixture, dynamicFixture, SECOND } from './dynamic-fixture.ts';

/** `3A` is a request of three rows of shape A, named so; a number waits for so many seconds. */
type Step = string | number;

async function play(fixture: DynamicFixture, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (typeof step === 'number') await fixture.clock.elapse(step * SECOND);
    else fixture.send(step, { rows: Number.parseInt(step, 10), shape: step.includes('B') ? 'B' : 'A' });
  }
  await fixture.clock.elapse(100 * SECOND);
}

describe('preferred sizes 2 and 6 of at most 8, delay 10 s', () => {
  const dynamicBatching = { preferredBatchSize: [2, 6], maxQueueDelayMicroseconds: 10 * SECOND };
  it.each<[string, readonly Step[], readonly string[]]>([
    ['preferred sizes go at once', ['2A', 1, '6A'], ['2A@0s preferred-size', '6A@1s preferred-size']],
    ['one below any preferred waits', ['1A'], ['1A@10s delay']],
    ['one between preferred sizes waits', ['3A'], ['3A@10s delay']],
    ['one above every preferred size goes at once', ['7A'], ['7A@0s full']],
    ['two whose sum lies between wait for the delay of the first', ['1A', 1, '3A'], ['1A,3A@10s delay']],
    ['another shape ends the batch before it', ['1A', 0, '1B'], ['1A@0s shape-change', '1B@10s delay']],
    ['a third of another shape too', ['1A', '3A', 0, '1B'], ['1A,3A@0s shape-change', '1B@10s delay']],
    [
      'a fourth completes a preferred size',
      ['1A', '3A', 0, '1B', 0, '5B'],
      ['1A,3A@0s shape-change', '1B,5B@0s preferred-size'],
    ],
    ['the second alone exceeds the preferred sizes', ['3A', 0, '7A'], ['3A@0s full', '7A@0s full']],
    ['the sum exceeds the preferred sizes', ['3A', 0, '4A'], ['3A@0s full', '4A@10s delay']],
  ])('%s', async (_, steps, batches) => {
    const fixture = await dynamicFixture({ dynamicBatching });
    await play(fixture, steps);
    expect(fixture.batches()).toEqual(batches);
  });

  it.each<[string, number, readonly Step[], readonly string[]]>([
    ['the sum exceeds the preferred sizes', 0.5, ['3A', '4A'], ['3A@0.5s full', '4A@10s delay']],
    ['after the delay the largest batch wins', 11, ['3A', '4A', 10.9, '1A'], ['3A,4A,1A@11s full']],
    [
      'each shape gets its batch',
      0.5,
      ['1A', '3A', '1B', '5B'],
      ['1A,3A@0.5s shape-change', '1B,5B@0.5s preferred-size'],
    ],
    ['the largest preferred size wins', 0.5, Array(6).fill('1A'), ['1A,1A,1A,1A,1A,1A@0.5s preferred-size']],
    ['the best preferred size wins', 0.5, ['1A', '1A', '1A'], ['1A,1A@0.5s preferred-size', '1A@10s delay']],
  ])('when they waited for a busy instance: %s', async (_, busy, steps, batches) => {
    const fixture = await dynamicFixture({ dynamicBatching });
    fixture.occupy(busy * SECOND);
    await play(fixture, steps);
    expect(fixture.batches()).toEqual(batches);
  });

  it('requests of different shapes run together where the input is ragged', async () => {
    const fixture = await dynamicFixture({ dynamicBatching, canJoin: joinRagged(new Set(['x'])) });
    await play(fixture, ['1A', '1B']);
    expect(fixture.batches()).toEqual(['1A,1B@0s preferred-size']);
  });

  it('requests that ask for different outputs run together', async () => {
    const { scheduler, clock, backend } = await dynamicFixture({ dynamicBatching });
    for (const requestedOutputs of [['y', 'z'], ['z']]) scheduler.enqueue(requestFor({ requestedOutputs }));
    await clock.elapse(0);
    expect(backend.batches.map(({ requests }) => requests.length)).toEqual([2]);
  });
});

describe('without a delay', () => {
  it.each([
    [4, ['4 preferred-size']],
    [5, ['4 preferred-size', '1 instance-idle']],
    [7, ['6 preferred-size', '1 instance-idle']],
    [3, ['3 instance-idle']],
  ])('and preferred sizes 4 and 6, %i that wait make batches of %j', async (count, expected) => {
    const { clock, occupy, send, backend } = await dynamicFixture({
      maxBatchSize: 8,
      dynamicBatching: { preferredBatchSize: [4, 6] },
    });
    occupy(SECOND);
    for (let id = 0; id < count; id++) send(id);
    await clock.elapse(2 * SECOND);
    const batches = backend.batches.slice(1);
    expect(batches.map(({ requests }) => `${requests.length} ${requests[0]?.batch?.reason}`)).toEqual(expected);
  });

  it('those that queue behind the first on a slow model run together', async () => {
    const { clock, send, batches } = await dynamicFixture({ maxBatchSize: 16, serviceMicros: SECOND });
    send('first');
    await clock.elapse(0);
    for (let id = 1; id < 12; id++) send(id);
    await clock.elapse(10 * SECOND);
    expect(batches()).toEqual(['first@0s instance-idle', '1,2,3,4,5,6,7,8,9,10,11@1s instance-idle']);
  });
});

it('with a delay of 20 ms only, twelve single ones need two executions', async () => {
  const { clock, send, batches } = await dynamicFixture({ dynamicBatching: { maxQueueDelayMicroseconds: 20_000 } });
  for (let id = 0; id < 12; id++) send(id);
  await clock.elapse(SECOND);
  expect(batches()).toEqual(['0,1,2,3,4,5,6,7@0s full', '8,9,10,11@0.02s delay']);
});

describe('preserve_ordering', () => {
  it('with preferred size 4, twelve that wait make three batches and are answered in order', async () => {
    const { clock, occupy, send, answered, batches } = await dynamicFixture({
      dynamicBatching: { preferredBatchSize: [4], maxQueueDelayMicroseconds: 10 * SECOND, preserveOrdering: true },
    });
    occupy(SECOND);
    for (let id = 0; id < 12; id++) send(id);
    await clock.elapse(2 * SECOND);
    expect(batches()).toHaveLength(3);
    expect(answered()).toEqual(Array.from({ length: 12 }, (_, id) => String(id)));
  });

  /** Two instances; the first batch of one takes longer than three of the other. */
  async function unequal(preserveOrdering: boolean) {
    const made = await dynamicFixture({
      instances: 2,
      maxBatchSize: 2,
      dynamicBatching: { preserveOrdering },
      serviceMicros: ([first]) => (first?.id === '0' ? 400_000 : 100_000),
    });
    for (let id = 0; id < 8; id++) made.send(id);
    await made.clock.elapse(2 * SECOND);
    return made.answered();
  }

  it('keeps the order over instances of different speed', async () => {
    expect(await unequal(true)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
  });

  it('is not kept when it is not asked for', async () => {
    expect(await unequal(false)).toEqual(['2', '3', '4', '5', '6', '7', '0', '1']);
  });
});

/** Executions of 5 s; what is sent first occupies the instance. */
const slow = (dynamicBatching: DynamicBatching) => dynamicFixture({ serviceMicros: 5 * SECOND, dynamicBatching });

describe('queue policies', () => {
  it('max_queue_size 8: of ten behind a batch that runs, exactly two are refused', async () => {
    const { occupy, send, clock, answered } = await slow({ defaultQueuePolicy: { maxQueueSize: 8 } });
    occupy(5 * SECOND);
    await clock.elapse(0);
    for (let id = 0; id < 10; id++) send(id);
    expect(answered()).toEqual(['8 UNAVAILABLE', '9 UNAVAILABLE']);
  });

  it('REJECT fails a request when its time is up, also while the instance is busy', async () => {
    const defaultQueuePolicy = { defaultTimeoutMicroseconds: 2 * SECOND };
    const { occupy, send, clock, answered, responder } = await slow({ defaultQueuePolicy });
    occupy(5 * SECOND);
    send('late');
    await clock.elapse(2 * SECOND - 1);
    expect(answered()).toEqual([]);
    await clock.elapse(1);
    expect(answered()).toEqual(['late UNAVAILABLE']);
    expect(responder.answers[0]?.error?.message).toContain('Request timeout expired');
  });

  it('DELAY lets those whose time is up run after the fresh ones', async () => {
    const { occupy, send, clock, batches } = await slow({
      preferredBatchSize: [2],
      defaultQueuePolicy: { timeoutAction: 'DELAY', defaultTimeoutMicroseconds: 2 * SECOND },
    });
    occupy(5 * SECOND);
    for (const id of ['old 1', 'old 2']) send(id);
    await clock.elapse(4 * SECOND);
    for (const id of ['new 1', 'new 2']) send(id);
    await clock.elapse(20 * SECOND);
    expect(batches()).toEqual(['new 1,new 2@5s preferred-size', 'old 1,old 2@10s preferred-size']);
  });

  it.each([
    ['a shorter timeout counts when the policy allows it', 2, true, 1, 1],
    ['a longer one is ignored', 2, true, 3, 2],
    ['one of 0 is none', 2, true, 0, 2],
    ['any is ignored when the policy does not allow it', 2, false, 1, 2],
    ['without a default any counts when the policy allows it', 0, true, 3, 3],
  ])('%s', async (_, byDefault, allowTimeoutOverride, own, expected) => {
    const policy = { defaultTimeoutMicroseconds: byDefault * SECOND, allowTimeoutOverride };
    const { occupy, send, clock, answered } = await slow({ defaultQueuePolicy: policy });
    occupy(5 * SECOND);
    send('r', { timeoutMicroseconds: own * SECOND });
    await clock.elapse(expected * SECOND - 1);
    expect(answered()).toEqual([]);
    await clock.elapse(1);
    expect(answered()).toEqual(['r UNAVAILABLE']);
  });

  it('two priority levels: a later request of the first overtakes', async () => {
    const { occupy, send, clock, batches } = await slow({
      preferredBatchSize: [1],
      priorityLevels: 2,
      defaultPriorityLevel: 2,
    });
    occupy(SECOND);
    for (const id of ['low 1', 'low 2']) send(id, { priority: 2 });
    for (const id of ['high 1', 'high 2']) send(id, { priority: 1 });
    await clock.elapse(30 * SECOND);
    expect(batches().map((batch) => batch.split('@')[0])).toEqual(['high 1', 'high 2', 'low 1', 'low 2']);
  });

  it('levels of different policies: each is honoured, and the levels share a batch', async () => {
    const { occupy, send, clock, answered, batches } = await slow({
      priorityLevels: 2,
      defaultPriorityLevel: 1,
      priorityQueuePolicy: new Map([
        [1, { timeoutAction: 'REJECT' as const, defaultTimeoutMicroseconds: 3 * SECOND }],
        [2, { timeoutAction: 'DELAY' as const, defaultTimeoutMicroseconds: SECOND }],
      ]),
    });
    occupy(5 * SECOND);
    send('rejected', { priority: 1 });
    send('delayed', { priority: 2 });
    await clock.elapse(4 * SECOND);
    expect(answered()).toEqual(['rejected UNAVAILABLE']);
    send('fresh 2', { priority: 2 });
    send('fresh 1', { priority: 1 });
    await clock.elapse(20 * SECOND);
    expect(batches()).toEqual(['fresh 1,fresh 2,delayed@5s instance-idle']);
  });

  it('2^64 − 1 levels are accepted, and the last is served last', async () => {
    const most = 2n ** 64n - 1n;
    const { occupy, send, clock, batches } = await slow({ priorityLevels: most, defaultPriorityLevel: 2n ** 63n });
    occupy(SECOND);
    send('last', { priority: most });
    send('last but one', { priority: most - 1n });
    send('default', { priority: 0 });
    send('1000', { priority: 1000 });
    send('1', { priority: 1n });
    await clock.elapse(10 * SECOND);
    expect(batches()).toEqual(['1,1000,default,last but one,last@1s instance-idle']);
  });

  it.each([0, 4, 5n, -1, 1.5])('priority %s of three levels is the default level', async (priority) => {
    const { occupy, send, clock, batches } = await slow({ priorityLevels: 3, defaultPriorityLevel: 2 });
    occupy(SECOND);
    send('third', { priority: 3 });
    send('odd', { priority });
    send('first', { priority: 1 });
    await clock.elapse(10 * SECOND);
    expect(batches()).toEqual(['first,odd,third@1s instance-idle']);
  });
});
