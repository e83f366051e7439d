/** Two instances of different speed, as the original's quality suite has them: one takes 100 ms per batch, the other 400 ms. */
import { describe, expect, it } from 'vitest';
import { dynamicFixture, SECOND } from './dynamic-fixture.ts';

const SLOW = 'm_0';

/** Sends forty requests, a few per turn, and gives the ids in the order of their answers. */
async function answersOf(
  preserveOrdering: boolean,
  { maxBatchSize = 4, isCancelled = (_id: number): boolean => false } = {},
) {
  const made = await dynamicFixture({
    instances: 2,
    maxBatchSize,
    dynamicBatching: { preserveOrdering, maxQueueDelayMicroseconds: 20_000 },
    serviceMicros: ([first]) => (first?.batch?.instance === SLOW ? 400_000 : 100_000),
  });
  for (let id = 0; id < 40; id++) {
    const request = made.send(id);
    if (isCancelled(id)) request.cancel();
    if (id % 3 === 2) await made.clock.elapse(15_000);
  }
  await made.clock.elapse(20 * SECOND);
  const instances = new Set(made.backend.batches.map(({ instance }) => instance));
  expect(instances.size).toBe(2);
  return made.answered();
}

const ALL = Array.from({ length: 40 }, (_, id) => String(id));

describe('two instances of different speed', () => {
  it.each([1, 4, 8])(
    'answer in the order of arrival with preserve_ordering, batches of at most %i',
    async (maxBatchSize) => {
      expect(await answersOf(true, { maxBatchSize })).toEqual(ALL);
    },
  );

  it('let the quick one overtake without it, and lose nothing', async () => {
    const answers = await answersOf(false);
    expect(answers).not.toEqual(ALL);
    expect(answers.toSorted((a, b) => Number(a) - Number(b))).toEqual(ALL);
  });

  it('do not wait for requests that left the queue without running', async () => {
    const answers = await answersOf(true, { isCancelled: (id) => id % 5 === 0 });
    const ran = answers.filter((answer) => !answer.includes(' '));
    expect(ran).toEqual(ALL.filter((id) => Number(id) % 5 !== 0));
    expect(answers.filter((answer) => answer.endsWith(' CANCELLED'))).toHaveLength(8);
  });
});
