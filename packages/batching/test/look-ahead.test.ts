import { describe, expect, it } from 'vitest';
import { LookAhead } from '../src/look-ahead.ts';

function depthAfter(
  runs: readonly number[],
  { micros = 500, most = Number.POSITIVE_INFINITY, capacity = 64 } = {},
): number {
  const ahead = new LookAhead({ micros, most });
  for (const run of runs) ahead.measured(run);
  return ahead.depth(capacity);
}

describe('how many batches an instance is given at a time', () => {
  it.each([
    ['one waits before the first measure', [], {}, 2],
    ['as many wait as make up the time', [50], {}, 11],
    ['one always may wait, however long a batch takes', [200_000], {}, 2],
    ['never more than the instance takes', [1], { capacity: 4 }, 4],
    ['an instance that takes one is given one', [1], { capacity: 1 }, 1],
    ['never more than the scheduler allows', [1], { most: 2 }, 2],
    ['none but one waits when no work may', [1], { micros: 0 }, 2],
    ['any number when any work may, before the first measure too', [], { micros: Number.POSITIVE_INFINITY }, 64],
    ['any number when any work may, however long it takes', [200_000], { micros: Number.POSITIVE_INFINITY }, 64],
    ['a run of no measurable time counts as a microsecond', [0], { micros: 10 }, 11],
  ])('%s', (_, runs, options, depth) => {
    expect(depthAfter(runs, options)).toBe(depth);
  });

  it('follows the model as its cost changes', () => {
    expect(depthAfter([...Array(40).fill(20_000), ...Array(80).fill(50)])).toBeGreaterThan(9);
    expect(depthAfter([...Array(40).fill(50), ...Array(80).fill(20_000)])).toBe(2);
  });
});
