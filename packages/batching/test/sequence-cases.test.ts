/**
 * The cases that the original's own quality suite holds its sequence batcher to, on a clock moved by hand. Where it holds the scheduler back until so many
 * requests wait, they come in one turn of the event loop here.
 */
import { describe, expect, it } from 'vitest';
import { SECOND, type SequenceFixture, type SequenceFixtureOptions, sequenceFixture } from './sequence-fixture.ts';

const oldest = { oldest: {} };
type Play = (fixture: SequenceFixture) => void | Promise<void>;

const count = (n: number, from: number) => Array.from({ length: n }, (_, i) => from + i);

async function played(options: SequenceFixtureOptions, play: Play): Promise<SequenceFixture> {
  const fixture = await sequenceFixture(options);
  await play(fixture);
  await fixture.clock.elapse(SECOND / 2);
  return fixture;
}

describe('four slots over one, two and four instances', () => {
  const four: Play = ({ sequence }) => {
    for (const id of count(4, 1)) sequence(id, [1, 2, 3]);
  };
  it.each<[string, Play, Record<number, Record<number, number>>]>([
    ['one sequence of nine', ({ sequence }) => sequence(1, count(9, 1)), { 1: { 1: 9 } }],
    ['four equal sequences', four, { 1: { 4: 3 }, 2: { 2: 6 }, 4: { 1: 12 } }],
  ])('%s', async (_, play, expected) => {
    for (const [instances, sizes] of Object.entries(expected)) {
      const maxBatchSize = 4 / Number(instances);
      const fixture = await played({ instances: Number(instances), maxBatchSize }, play);
      expect(fixture.sizes()).toEqual(sizes);
    }
  });
  it('oldest', async () => {
    const fixture = await played({ sequenceBatching: oldest }, four);
    expect(fixture.sizes()).toEqual({ 4: 3 });
    expect(fixture.answered()).toEqual([1, 3, 6].flatMap((sum) => count(4, 1).map((id) => `${id}=${sum}`)));
  });
});
