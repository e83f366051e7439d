import { describe, expect, it } from 'vitest';
import { planBatch } from '../src/completion/plan-batch.ts';

describe('the batch', () => {
  const rows = (min: number, max: number | null, symbol = 's0') => ({ min, max, symbol });
  const tensor = (...shape: (number | ReturnType<typeof rows>)[]) => ({ ordinalName: 'INPUT__0', shape });

  it.each([
    ['is the range that all share', [tensor(rows(1, 8), 4), tensor(rows(1, 8))], 8],
    ['is 4 where the file states no bound', [tensor(rows(1, null), 4)], 4],
    ['is no more than a configuration can hold', [tensor(rows(1, 2 ** 40))], 2 ** 31 - 1],
    ['is none for two different symbols', [tensor(rows(1, 8)), tensor(rows(1, 8, 's1'))], 0],
    [
      'is none for a range without a symbol',
      [tensor(rows(1, 8)), { ordinalName: 'OUTPUT__0', shape: [{ min: 1, max: 8 }] }],
      0,
    ],
    ['is none when one row is too few', [tensor(rows(2, 8))], 0],
    ['is none for a fixed size', [tensor(rows(1, 8)), tensor(8)], 0],
    ['is none for a tensor without dimensions', [tensor(rows(1, 8)), tensor()], 0],
    ['is none for an unknown shape', [tensor(rows(1, 8)), { ordinalName: 'OUTPUT__0' }], 0],
    ['is none without tensors', [], 0],
  ])('%s', (_, tensors, expected) => {
    expect(planBatch(tensors).maxBatchSize).toBe(expected);
  });

  it('is as large as asked for where the file states no bound', () => {
    expect(planBatch([tensor(rows(1, null))], 16).maxBatchSize).toBe(16);
  });
});
