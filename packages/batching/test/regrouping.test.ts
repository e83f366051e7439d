import { describe, expect, it } from 'vitest';
import { type DynamicFixtureOptions, dynamicFixture } from './dynamic-fixture.ts';

/** An instance that takes 100 us, and turns of the event loop that end when the test says so. */
async function fixture(options: DynamicFixtureOptions = {}) {
  const asked: (() => void)[] = [];
  const made = await dynamicFixture({
    serviceMicros: 100,
    regroupTurns: 3,
    afterTurn: (callback) => asked.push(callback),
    ...options,
  });
  const endTurn = async (): Promise<void> => {
    for (const callback of asked.splice(0)) callback();
    await made.clock.elapse(0);
  };
  /** Runs so many requests in one batch until just before its end, while `behind` more wait. */
  const run = async (count: number, behind: number): Promise<void> => {
    for (let i = 0; i < count; i++) made.send(`a${i}`);
    await endTurn();
    for (let i = 0; i < behind; i++) made.send(`b${i}`);
    await made.clock.elapse(100);
  };
  return { ...made, asked, endTurn, run };
}

/** Sizes of the batches so far. */
const sizes = (made: { batches(): string[] }) => made.batches().map((batch) => batch.split('@')[0]?.split(',').length);

describe('after a batch, fewer than it had', () => {
  it('wait for those that come within a few turns of the event loop', async () => {
    const made = await fixture();
    await made.run(4, 1);
    await made.endTurn();
    made.send('a0 again');
    await made.endTurn();
    made.send('a1 again');
    expect(sizes(made)).toEqual([4]);
    await made.endTurn();
    expect(sizes(made)).toEqual([4, 3]);
  });

  it('go when as many are there as it had', async () => {
    const made = await fixture();
    await made.run(4, 1);
    for (const id of ['a0', 'a1', 'a2']) made.send(id);
    await made.endTurn();
    expect(sizes(made)).toEqual([4, 4]);
  });

  it('go at once when the batch is full', async () => {
    const made = await fixture({ maxBatchSize: 4 });
    await made.run(4, 1);
    for (const id of ['a0', 'a1', 'a2']) made.send(id);
    expect(sizes(made)).toEqual([4, 4]);
  });

  it('wait no longer than it took, however long a turn is', async () => {
    const made = await fixture();
    await made.run(4, 1);
    await made.clock.elapse(99);
    await made.endTurn();
    expect(sizes(made)).toEqual([4]);
    await made.clock.elapse(1);
    await made.endTurn();
    expect(sizes(made)).toEqual([4, 1]);
  });

  it('wait as well when the first of them comes after its end', async () => {
    const made = await fixture();
    await made.run(4, 0);
    made.send('a0 again');
    await made.endTurn();
    made.send('a1 again');
    expect(sizes(made)).toEqual([4]);
    await made.endTurn();
    await made.endTurn();
    expect(sizes(made)).toEqual([4, 2]);
  });

  it('go on time when one would time out', async () => {
    const made = await fixture({ dynamicBatching: { defaultQueuePolicy: { defaultTimeoutMicroseconds: 150 } } });
    await made.run(4, 1);
    expect(sizes(made)).toEqual([4]);
    await made.clock.elapse(50);
    expect(sizes(made)).toEqual([4, 1]);
    expect(made.answered()).not.toContain('b0 UNAVAILABLE');
  });

  it('go when the scheduler is stopped', async () => {
    const made = await fixture();
    await made.run(4, 1);
    const stopped = made.scheduler.stop();
    expect(sizes(made)).toEqual([4, 1]);
    await made.clock.elapse(100);
    await stopped;
  });
});

it.each<[string, DynamicFixtureOptions]>([
  ['without turns to wait', { regroupTurns: 0 }],
  ['with a queue delay, which is over', { dynamicBatching: { maxQueueDelayMicroseconds: 50 } }],
  ['with a strategy', { strategy: { startBatch: () => ({ include: () => true }) } }],
])('%s the next batch goes at once', async (_, options) => {
  const made = await fixture(options);
  for (let i = 0; i < 8; i++) made.send(`a${i}`);
  await made.endTurn();
  made.send('b0');
  await made.clock.elapse(100);
  expect(sizes(made)).toEqual([8, 1]);
});

it('nobody waits for one that ran alone, however many rows it had', async () => {
  const made = await fixture();
  made.send('a', { rows: 4 });
  await made.endTurn();
  await made.clock.elapse(100);
  expect(made.asked).toEqual([]);
  made.send('b');
  await made.endTurn();
  expect(sizes(made)).toEqual([1, 1]);
});

it('as many as the batch had do not wait', async () => {
  const made = await fixture();
  await made.run(2, 2);
  expect(sizes(made)).toEqual([2, 2]);
});

it('no turn is asked for when the wait is over', async () => {
  const made = await fixture();
  await made.run(4, 0);
  for (let turn = 0; turn < 3; turn++) await made.endTurn();
  expect(made.asked).toEqual([]);
});
