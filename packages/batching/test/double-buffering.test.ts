import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClosedLoopOptions, closedLoop } from './closed-loop.ts';
import { dynamicFixture } from './dynamic-fixture.ts';

type Load = Omit<ClosedLoopOptions, 'doubleBuffering' | 'batches'>;

/** Long enough to compare both ways several times. */
const BATCHES = 10_000;

const both = (load: Load, batches = BATCHES) => ({
  halves: closedLoop({ ...load, batches, doubleBuffering: true }),
  whole: closedLoop({ ...load, batches, doubleBuffering: false }),
});

const gain = ({ halves, whole }: ReturnType<typeof both>): number => halves.speed / whole.speed;
const count = (reasons: readonly string[]): number => reasons.filter((reason) => reason === 'double-buffering').length;

/** The event loop takes three times as long as this model. */
const LIGHT: Load = { clients: 64, modelMicros: (rows) => 130 + 4 * rows, loopMicros: 9 };

describe('two halves by turns', () => {
  it('run while the event loop answers and reads, which takes longer than both', () => {
    const compared = both(LIGHT);
    expect(gain(compared)).toBeGreaterThan(1.2);
    expect(compared.halves.sizes.filter((size) => size === 32).length).toBeGreaterThan(0.9 * BATCHES);
    expect(count(compared.halves.reasons)).toBeGreaterThan(0.9 * BATCHES);
    expect(count(compared.whole.reasons)).toBe(0);
  });

  it('are one request each of two clients', () => {
    const compared = both({ clients: 2, modelMicros: () => 125, loopMicros: 40 });
    expect(gain(compared)).toBeGreaterThan(1.1);
    expect(new Set(compared.halves.sizes.slice(-100))).toEqual(new Set([1]));
  });

  it.each<[string, Load]>([
    ['take the model longer than they hide', { clients: 16, modelMicros: () => 1000, loopMicros: 25 }],
    [
      'are of clients that come together now and then',
      { ...LIGHT, clients: 8, modelMicros: () => 500, everyMicros: 50_000 },
    ],
  ])('are given up when they %s', (_, load) => {
    const compared = both(load);
    expect(count(compared.halves.reasons)).toBeLessThan(0.05 * BATCHES);
    expect(gain(compared)).toBeGreaterThan(0.98);
  });

  it('are not even tried when the instance is busy anyway', () => {
    const load = { clients: 16, modelMicros: () => 50_000, loopMicros: 25, batches: 1000, doubleBuffering: true };
    expect(count(closedLoop(load).reasons)).toBe(0);
  });

  it('are of those who are there: clients that leave make them smaller', () => {
    const leaving = { afterBatches: 3000, clients: 8 };
    const { sizes } = closedLoop({ ...LIGHT, leaving, batches: BATCHES, doubleBuffering: true });
    expect(sizes.slice(2900, 3000).filter((size) => size === 32).length).toBeGreaterThan(90);
    expect(Math.max(...sizes.slice(-3000))).toBeLessThanOrEqual(8);
    expect(sizes.slice(-3000).filter((size) => size === 4).length).toBeGreaterThan(2500);
  });

  it('end soon when the model takes longer than it did', () => {
    const modelMicros = (rows: number, batch: number) => (batch < 3000 ? 130 + 4 * rows : 20_000);
    const { reasons } = closedLoop({ ...LIGHT, modelMicros, batches: 6000, doubleBuffering: true });
    expect(count(reasons.slice(2900, 3000))).toBeGreaterThan(90);
    expect(count(reasons.slice(3100))).toBe(0);
  });

  it.each<[string, Partial<Load>]>([
    ['a queue delay', { dynamicBatching: { maxQueueDelayMicroseconds: 100 } }],
    ['a preferred size', { dynamicBatching: { preferredBatchSize: [48] } }],
    ['a timeout', { dynamicBatching: { defaultQueuePolicy: { defaultTimeoutMicroseconds: 1_000_000 } } }],
    ['priority levels', { dynamicBatching: { priorityLevels: 2, defaultPriorityLevel: 1 } }],
    ['several instances', { instances: 2 }],
  ])('are not tried with %s', (_, more) => {
    expect(count(closedLoop({ ...LIGHT, ...more, batches: 1000, doubleBuffering: true }).reasons)).toBe(0);
    expect(count(closedLoop({ ...LIGHT, batches: 1000, doubleBuffering: true }).reasons)).toBeGreaterThan(0);
  });
});

it('whatever the load, nobody is forgotten, no batch is too large, and little is lost', () => {
  const load = fc.record({
    clients: fc.integer({ min: 1, max: 40 }),
    loopMicros: fc.integer({ min: 1, max: 50 }),
    // Not in step with the model: such clients may stay together for ever where nobody parts them once.
    everyMicros: fc.constantFrom(1, 10_000),
    maxBatchSize: fc.constantFrom(4, 16, 64),
    perBatch: fc.integer({ min: 1, max: 2000 }),
    perRow: fc.integer({ min: 0, max: 20 }),
  });
  fc.assert(
    fc.property(load, ({ perBatch, perRow, ...more }) => {
      const compared = both({ ...more, modelMicros: (rows) => perBatch + perRow * rows }, 5000);
      expect(Math.max(...compared.halves.sizes)).toBeLessThanOrEqual(more.maxBatchSize);
      expect(gain(compared)).toBeGreaterThan(0.95);
    }),
    { numRuns: 30 },
  );
});

it.each([
  ['by default', {}, true],
  ['unless it is told not to', { doubleBuffering: false }, false],
])('the scheduler chooses between both %s', async (_, options, chooses) => {
  const [loopMicros, turnMicros] = [15, 4];
  const made = await dynamicFixture({
    ...options,
    capacity: 2,
    maxBatchSize: 16,
    serviceMicros: (batch) => 50 + batch.length,
    afterTurn: (callback) => void made.clock.at(made.clock.nowMicros() + turnMicros, callback),
    regroupTurns: 50,
  });
  let [sent, freeMicros] = [0, 0];
  const client = (): void => {
    const request = made.send(sent++);
    void made.responder.finalOf(request).then(() => {
      freeMicros = Math.max(freeMicros, made.clock.nowMicros()) + loopMicros;
      made.clock.at(freeMicros, client);
    });
  };
  for (let i = 0; i < 8; i++) client();
  await made.clock.elapse(100_000);
  expect(made.scheduler.batching.closed['double-buffering'] > 500).toBe(chooses);
});
