/**
 * The cases that the original's own quality suite holds its sequence batcher to, on a clock moved by hand: four slots in all, so many rows by size of batch.
 * Where it holds the scheduler back until so many requests wait, they come in one turn of the event loop here.
 */
import { describe, expect, it } from 'vitest';
import { SECOND, type SequenceFixture, type SequenceFixtureOptions, sequenceFixture } from './sequence-fixture.ts';

type Play = (fixture: SequenceFixture) => void;
type Sizes = Readonly<Record<number, number>>;

async function played(options: SequenceFixtureOptions, play: Play): Promise<SequenceFixture> {
  const fixture = await sequenceFixture(options);
  play(fixture);
  await fixture.clock.elapse(SECOND / 2);
  return fixture;
}

/** Sequences of these lengths, with the ids 1, 2 …; each adds 1, 10, 100 … so that a foreign summand shows. */
const sequences =
  (...lengths: readonly number[]): Play =>
  ({ sequence }) => {
    for (const [i, length] of lengths.entries()) sequence(i + 1, summands(i, length));
  };
const summands = (i: number, length: number): number[] => new Array(length).fill(10 ** (i % 6));

interface Case {
  readonly title: string;
  readonly play: Play;
  /** By instances, which share the four slots. */
  readonly direct?: Readonly<Record<number, Sizes>>;
  readonly oldest?: Sizes;
}

const cases: readonly Case[] = [
  { title: 'one sequence of nine', play: sequences(9), direct: { 1: { 1: 9 }, 2: { 1: 9 } }, oldest: { 1: 9 } },
  { title: 'one sequence of one', play: sequences(1), direct: { 1: { 1: 1 } }, oldest: { 1: 1 } },
  { title: 'two sequences of four', play: sequences(4, 4), direct: { 1: { 2: 4 }, 2: { 1: 8 } }, oldest: { 2: 4 } },
  {
    title: 'four equal sequences',
    play: sequences(3, 3, 3, 3),
    direct: { 1: { 4: 3 }, 2: { 2: 6 }, 4: { 1: 12 } },
    oldest: { 4: 3 },
  },
  {
    title: 'two long sequences that started first, two short ones',
    play: sequences(4, 4, 2, 2),
    direct: { 1: { 4: 2, 2: 2 }, 2: { 2: 4, 1: 4 }, 4: { 1: 12 } },
    oldest: { 4: 2, 2: 2 },
  },
  {
    title: 'two short sequences first: padding up to the long ones',
    play: sequences(2, 2, 4, 4),
    direct: { 1: { 4: 4 } },
    oldest: { 4: 2, 2: 2 },
  },
  {
    title: 'a fifth sequence, which waits in the backlog',
    play: sequences(3, 3, 3, 3, 3),
    direct: { 1: { 4: 3, 1: 3 }, 2: { 2: 6, 1: 3 } },
    oldest: { 4: 3, 1: 3 },
  },
  {
    title: 'two in the backlog fill the slots of two short ones',
    play: sequences(3, 1, 1, 3, 2, 2),
    direct: { 1: { 4: 3 } },
    oldest: { 4: 3 },
  },
  {
    title: 'a fifth with the id of an earlier one waits for its END',
    play: (fixture) => {
      sequences(3, 3, 3, 3)(fixture);
      fixture.sequence(1, [1, 1]);
    },
    direct: { 1: { 4: 3, 1: 2 }, 2: { 2: 6, 1: 2 } },
    oldest: { 4: 3, 1: 2 },
  },
  {
    title: 'START without END before it cuts the sequence short',
    play: ({ send, sequence }) => {
      send(1, 1, { start: true });
      send(1, 1);
      sequence(1, [1, 1]);
    },
    direct: { 1: { 1: 4 } },
    oldest: { 1: 4 },
  },
  {
    title: 'START without END before it, among others',
    play: (fixture) => {
      fixture.send(1, 1, { start: true });
      fixture.send(1, 1);
      fixture.sequence(1, [1, 1]);
      for (const id of [2, 3, 4]) fixture.sequence(id, summands(id, 4));
    },
    direct: { 1: { 4: 4 } },
    oldest: { 4: 4 },
  },
];

const direct = cases.flatMap(({ title, play, direct: expected = {} }) =>
  Object.entries(expected).map(([instances, sizes]) => ({ title, play, instances: Number(instances), sizes })),
);

describe('direct', () => {
  it.each(direct)('$title on $instances instances: $sizes', async ({ play, instances, sizes }) => {
    const fixture = await played({ instances, maxBatchSize: 4 / instances }, play);
    expect(fixture.sizes()).toEqual(sizes);
    expect(faultsOf(fixture)).toEqual([]);
  });

  it.each([
    ['not allowed: every round is padded to four', undefined, { 4: 9 }],
    ['allowed', () => true, { 4: 3 }],
  ])('two shapes beside two others, joining %s', async (_, canJoin, sizes) => {
    const fixture = await played({ canJoin }, ({ sequence }) => {
      for (const [i, columns] of [1, 1, 2, 3].entries()) sequence(i + 1, summands(i, 3), { columns });
    });
    expect(fixture.sizes()).toEqual(sizes);
    expect(fixture.answered()).toHaveLength(12);
    expect(faultsOf(fixture)).toEqual([]);
  });

  it('one in the backlog goes on later than the others: its slot keeps its row', async () => {
    const fixture = await played({}, (made) => {
      sequences(3, 1, 1, 3, 2)(made);
      made.send(6, 7, { start: true });
      made.send(6, 7);
    });
    fixture.send(6, 7);
    fixture.send(6, 7, { end: true });
    await fixture.clock.elapse(SECOND / 2);
    expect(fixture.sizes()).toEqual({ 4: 3, 3: 2 });
    expect(fixture.batches().slice(3)).toEqual(['m_0 - - 6:7', 'm_0 - - 6:7']);
  });

  it.each([
    [0, ['1:1 2:1@0s instance-idle', '- 2:1@0.001s instance-idle']],
    [0.5, ['1:1 2:1@0s preferred-size', '- 2:1@0.1s delay']],
    [1, ['1:1 2:1@0.1s delay', '- 2:1@0.101s delay']],
  ])('two of four slots, a delay and a utilization of %d', async (minimumSlotUtilization, expected) => {
    const direct = { maxQueueDelayMicroseconds: SECOND / 10, minimumSlotUtilization };
    const fixture = await played({ sequenceBatching: { direct } }, ({ sequence }) => {
      sequence(1, [1]);
      sequence(2, [1, 1]);
    });
    expect(fixture.timedBatches()).toEqual(expected);
    expect(fixture.sizes()).toEqual({ 2: 2 });
  });
});

describe('oldest', () => {
  it.each(cases.flatMap(({ title, play, oldest }) => (oldest ? [{ title, play, sizes: oldest }] : [])))(
    '$title: $sizes',
    async ({ play, sizes }) => {
      const fixture = await played({ sequenceBatching: { oldest: { maxCandidateSequences: 4 } } }, play);
      expect(fixture.sizes()).toEqual(sizes);
      expect(faultsOf(fixture)).toEqual([]);
    },
  );

  it.each([
    ['not allowed', undefined, { 1: 6, 2: 3 }],
    ['allowed', () => true, { 4: 3 }],
  ])('two shapes beside two others, joining %s', async (_, canJoin, sizes) => {
    const fixture = await played({ canJoin, sequenceBatching: { oldest: {} } }, ({ sequence }) => {
      for (const [i, columns] of [1, 1, 2, 3].entries()) sequence(i + 1, summands(i, 3), { columns });
    });
    expect(fixture.sizes()).toEqual(sizes);
  });

  it('one in the backlog goes on later than the others, alone', async () => {
    const fixture = await played({ sequenceBatching: { oldest: {} } }, (made) => {
      sequences(3, 1, 1, 3, 2)(made);
      made.send(6, 7, { start: true });
      made.send(6, 7);
    });
    fixture.send(6, 7);
    fixture.send(6, 7, { end: true });
    await fixture.clock.elapse(SECOND / 2);
    expect(fixture.sizes()).toEqual({ 4: 3, 1: 2 });
  });

  it('sends preferred sizes at once and holds others back for the delay', async () => {
    const oldest = { preferredBatchSize: [2], maxQueueDelayMicroseconds: SECOND / 10 };
    const fixture = await played({ sequenceBatching: { oldest } }, sequences(2, 1));
    expect(fixture.timedBatches()).toEqual(['1:1 2:10@0s preferred-size', '1:1@0.101s delay']);
  });
});

/** Answers that are no sum of the sequence's own summands. */
function faultsOf({ responder, answered }: SequenceFixture): string[] {
  const seen = new Map<string, number>();
  return answered().filter((answer, i) => {
    const request = responder.answers[i]?.request;
    const [id = '', sum] = answer.split('=');
    const before = request?.sequenceStart ? 0 : (seen.get(id) ?? Number.NaN);
    seen.set(id, Number(sum));
    const own = Number(request?.inputs[0] && Buffer.from(request.inputs[0].data).readFloatLE(0));
    return Number(sum) !== before + own;
  });
}
