import type { ModelVersionPolicy } from '@nereid/model-config';
import { describe, expect, it } from 'vitest';
import { selectVersions } from '../src/index.ts';

const versions = (...numbers: number[]) =>
  numbers.map((number) => ({ version: `${number}`, directory: `/repository/m/${number}` }));

describe('a version policy selects', () => {
  it.each<[string, ModelVersionPolicy | undefined, number[], string[], string[]]>([
    ['the greatest without a policy', undefined, [1, 2, 3], ['3'], []],
    ['the greatest for an empty policy', {}, [1, 2, 3], ['3'], []],
    ['by number, not by spelling', { latest: { numVersions: 1 } }, [2, 9, 10], ['10'], []],
    ['the two latest', { latest: { numVersions: 2 } }, [1, 2, 3], ['2', '3'], []],
    ['fewer when fewer exist', { latest: { numVersions: 5 } }, [1, 2], ['1', '2'], []],
    ['none of the latest 0', { latest: { numVersions: 0 } }, [1, 2], [], []],
    ['all', { all: {} }, [0, 1, 2], ['0', '1', '2'], []],
    ['the specific ones', { specific: { versions: [1, 3] } }, [1, 2, 3], ['1', '3'], []],
    ['and reports an absent one', { specific: { versions: [1, 9] } }, [1, 2, 3], ['1'], ['9']],
    ['nothing when every one is absent', { specific: { versions: [9] } }, [1], [], ['9']],
    ['a version listed twice once', { specific: { versions: [3, 1, 3] } }, [1, 3], ['1', '3'], []],
    ['nothing of nothing', { all: {} }, [], [], []],
  ])('%s', (_, policy, available, selected, absent) => {
    const result = selectVersions(versions(...available), policy);
    expect(result.selected.map((version) => version.version)).toEqual(selected);
    expect(result.absent).toEqual(absent);
  });
});
