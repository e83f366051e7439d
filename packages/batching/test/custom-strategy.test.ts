import type { BatchStrategy, FormingBatch, InferenceRequest, Logger } from '@nereid/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { singleStrategy, volumeStrategy } from '../src/index.ts';
import { dynamicFixture, SECOND } from './dynamic-fixture.ts';

const ids = (count: number) => Array.from({ length: count }, (_, id) => String(id));

/** A row of shape A. */
const ROW_BYTES = 64;

/** Writes down what it is asked; a request joins unless its id begins with 'no'. */
class RecordingStrategy implements BatchStrategy {
  readonly calls: string[] = [];

  startBatch(): FormingBatch {
    this.calls.push('start');
    return {
      include: ({ id }) => {
        this.calls.push(id);
        return !id.startsWith('no');
      },
      end: () => this.calls.push('end'),
    };
  }
}

class Errors implements Logger {
  readonly lines: string[] = [];
  debug(): void {}
  info(): void {}
  warn(): void {}
  error(_: object, message: string): void {
    this.lines.push(message);
  }
}

describe('a custom strategy', () => {
  it('is asked about each request in order, and its no closes the batch', async () => {
    const strategy = new RecordingStrategy();
    const { send, clock, batches, scheduler } = await dynamicFixture({ strategy });
    for (const id of ['a', 'b', 'no c', 'd']) send(id);
    await clock.elapse(0);
    expect(batches()).toEqual(['a,b@0s custom-strategy', 'no c,d@0s instance-idle']);
    expect(strategy.calls).toEqual(['start', 'a', 'b', 'no c', 'end', 'start', 'no c', 'd', 'end']);
    expect(scheduler.batching.closed).toMatchObject({ 'custom-strategy': 1, 'instance-idle': 1 });
  });

  it('is shown the first request of a batch, which joins whatever the answer', async () => {
    const { send, clock, batches } = await dynamicFixture({ strategy: new RecordingStrategy() });
    for (const id of ['no a', 'no b']) send(id);
    await clock.elapse(0);
    expect(batches()).toEqual(['no a@0s custom-strategy', 'no b@0s instance-idle']);
  });

  it('closes a batch at once that a delay would hold back', async () => {
    const { send, clock, batches } = await dynamicFixture({
      strategy: new RecordingStrategy(),
      dynamicBatching: { maxQueueDelayMicroseconds: SECOND },
    });
    for (const id of ['a', 'no b']) send(id);
    await clock.elapse(0);
    expect(batches()).toEqual(['a@0s custom-strategy']);
    await clock.elapse(2 * SECOND);
    expect(batches().slice(1)).toEqual(['no b@1s delay']);
  });

  it('is not asked about a request that size or shape keep out', async () => {
    const strategy = new RecordingStrategy();
    const { send, clock, batches } = await dynamicFixture({ strategy });
    send('a', { rows: 5 });
    send('b', { rows: 4 });
    send('c', { shape: 'B' });
    await clock.elapse(0);
    expect(batches()).toEqual(['a@0s full', 'b@0s shape-change', 'c@0s instance-idle']);
    expect(strategy.calls).toEqual(['start', 'a', 'end', 'start', 'b', 'end', 'start', 'c', 'end']);
  });

  it('yields to a preferred size that was reached before its no', async () => {
    const { send, clock, batches } = await dynamicFixture({
      strategy: new RecordingStrategy(),
      dynamicBatching: { preferredBatchSize: [2] },
    });
    for (const id of ['a', 'b', 'no c']) send(id);
    await clock.elapse(0);
    expect(batches()[0]).toBe('a,b@0s preferred-size');
  });

  it('is asked about a held batch as it grows, and anew when a request leaves it', async () => {
    const strategy = new RecordingStrategy();
    const { send, clock, batches } = await dynamicFixture({
      strategy,
      dynamicBatching: { maxQueueDelayMicroseconds: SECOND },
    });
    for (const id of ['a', 'b', 'c']) {
      const request = send(id);
      await clock.elapse(0);
      if (id === 'b') request.cancel();
    }
    await clock.elapse(SECOND);
    expect(batches()).toEqual(['a,c@1s delay']);
    expect(strategy.calls).toEqual(['start', 'a', 'b', 'end', 'start', 'a', 'c', 'end']);
  });

  it('keeps requests from running inline, as it is to see each', async () => {
    const strategy = new RecordingStrategy();
    const { send, clock, backend } = await dynamicFixture({ strategy, lane: {}, inline: true });
    for (const id of ids(40)) {
      send(id);
      await clock.elapse(SECOND);
    }
    expect(strategy.calls).toHaveLength(3 * 40);
    expect(backend.batches.some(({ inline }) => inline)).toBe(false);
  });

  it.each<[string, Partial<FormingBatch> | undefined, readonly string[], RegExp]>([
    [
      'that cannot start a batch leaves it with one request',
      undefined,
      ['0@0s custom-strategy', '1@0s custom-strategy', '2@0s instance-idle'],
      /^the batching strategy of model 'm' could not start a batch, which gets one request: broken$/,
    ],
    [
      'that fails on a request closes the batch before it',
      {
        include: ({ id }) => {
          if (id === '1') throw new Error('broken');
          return true;
        },
      },
      ['0@0s custom-strategy', '1,2@0s instance-idle'],
      /^the batching strategy of model 'm' could not tell whether a request joins its batch, which is closed before it: broken$/,
    ],
    [
      'that answers with a promise closes the batch',
      // Like a strategy in JavaScript that is declared async.
      { include: (async () => true) as unknown as FormingBatch['include'] },
      ['0@0s custom-strategy', '1@0s custom-strategy', '2@0s instance-idle'],
      /include\(\) must return true or false at once, got a promise$/,
    ],
    [
      'that fails at the end of a batch hinders nobody',
      {
        end: () => {
          throw new Error('broken');
        },
      },
      ['0,1,2@0s instance-idle'],
      /^the batching strategy of model 'm' could not end a batch: broken$/,
    ],
  ])('%s, and is told of in the log', async (_, behaviour, expected, message) => {
    const logger = new Errors();
    const strategy = {
      startBatch: () => {
        if (behaviour === undefined) throw new Error('broken');
        return { include: () => true, ...behaviour };
      },
    };
    const { send, clock, batches, answered } = await dynamicFixture({ strategy, logger, modelName: 'm' });
    for (const id of ids(3)) send(id);
    await clock.elapse(0);
    expect(batches()).toEqual(expected);
    expect(answered()).toEqual(ids(3));
    expect(logger.lines.length).toBeGreaterThan(0);
    for (const line of logger.lines) expect(line).toMatch(message);
  });
});

describe('the strategies that come along', () => {
  it('single: every request is a batch of its own', async () => {
    const { send, clock, batches } = await dynamicFixture({ strategy: singleStrategy() });
    for (const id of ids(3)) send(id);
    await clock.elapse(0);
    expect(batches()).toEqual(['0@0s custom-strategy', '1@0s custom-strategy', '2@0s instance-idle']);
  });

  it.each<[number, readonly string[]]>([
    [3 * ROW_BYTES, ['0,1@0s custom-strategy', '2@0s custom-strategy', '3,4@0s instance-idle']],
    [4 * ROW_BYTES - 1, ['0,1@0s custom-strategy', '2@0s custom-strategy', '3,4@0s instance-idle']],
    [4 * ROW_BYTES, ['0,1@0s custom-strategy', '2,3@0s custom-strategy', '4@0s instance-idle']],
    [0, [...ids(4).map((id) => `${id}@0s custom-strategy`), '4@0s instance-idle']],
  ])('volume: a batch has at most %i bytes, or one request', async (maxBatchBytes, expected) => {
    const { send, clock, batches } = await dynamicFixture({ strategy: volumeStrategy({ maxBatchBytes }) });
    for (const [id, rows] of [1, 1, 3, 1, 1].entries()) send(id, { rows });
    await clock.elapse(0);
    expect(batches()).toEqual(expected);
  });

  it.each([-1, Number.NaN])('volume refuses a limit of %d bytes', (maxBatchBytes) => {
    expect(() => volumeStrategy({ maxBatchBytes })).toThrow(
      new RangeError(`maxBatchBytes must be a number from 0 on, got ${maxBatchBytes}`),
    );
  });
});

/** Checks that every batch that it starts is ended once and asked nothing after that. */
class CheckedStrategy implements BatchStrategy {
  readonly #inner: BatchStrategy;
  open = 0;

  constructor(inner: BatchStrategy) {
    this.#inner = inner;
  }

  startBatch(): FormingBatch {
    const batch = this.#inner.startBatch();
    let isOver = false;
    this.open++;
    return {
      include: (request) => {
        expect(isOver).toBe(false);
        return batch.include(request);
      },
      end: () => {
        expect(isOver).toBe(false);
        isOver = true;
        this.open--;
      },
    };
  }
}

it('whatever comes, no batch is above the volume, none stays open, and everyone is answered', async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ rows: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 2, arbitrary: fc.record({ elapse: fc.integer({ min: 0, max: 300 }) }) },
    { weight: 1, arbitrary: fc.record({ cancel: fc.nat({ max: 50 }) }) },
  );
  const setup = fc.record({
    steps: fc.array(step, { minLength: 5, maxLength: 60 }),
    limit: fc.integer({ min: 1, max: 8 }),
    maxQueueDelayMicroseconds: fc.constantFrom(0, 100),
    instances: fc.integer({ min: 1, max: 2 }),
    capacity: fc.integer({ min: 1, max: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(setup, async ({ steps, limit, maxQueueDelayMicroseconds, ...rest }) => {
      const strategy = new CheckedStrategy(volumeStrategy({ maxBatchBytes: limit * ROW_BYTES }));
      const dynamicBatching = { maxQueueDelayMicroseconds };
      const fixture = await dynamicFixture({ strategy, dynamicBatching, serviceMicros: 150, ...rest });
      const sent: InferenceRequest[] = [];
      for (const move of steps) {
        if ('rows' in move) sent.push(fixture.send(sent.length, move));
        else if ('elapse' in move) await fixture.clock.elapse(move.elapse);
        else sent[move.cancel % Math.max(1, sent.length)]?.cancel();
      }
      await fixture.clock.elapse(SECOND);
      expect([strategy.open, fixture.scheduler.queued, fixture.answered().length]).toEqual([0, 0, sent.length]);
      for (const { requests } of fixture.backend.batches) {
        const rows = requests.reduce((sum, { batchSize }) => sum + batchSize, 0);
        expect(requests.length === 1 || rows <= limit).toBe(true);
      }
    }),
    { seed: 7, numRuns: 100 },
  );
});
