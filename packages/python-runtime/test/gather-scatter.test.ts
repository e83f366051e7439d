/** Which requests become which tensors for forward, and which rows of its results each request gets. */
import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { inputsAndOutputs, ServedModel } from './served-model.ts';

interface Case {
  readonly title: string;
  /** Of the tensors of each request: its rows, and the dimensions behind them. */
  readonly rows: readonly number[];
  readonly dims: readonly number[];
}

const CASES: readonly Case[] = [
  { title: 'one request of one row of one', rows: [1], dims: [1] },
  { title: 'one request of one row of two', rows: [1], dims: [2] },
  { title: 'one request of one row of two by four', rows: [1], dims: [2, 4] },
  { title: 'one request of three rows', rows: [3], dims: [2] },
  { title: 'two requests of one row', rows: [1, 1], dims: [2] },
  { title: 'three requests of one row', rows: [1, 1, 1], dims: [2] },
  { title: 'one row and two', rows: [1, 2], dims: [2] },
  { title: 'three rows, one and two', rows: [3, 1, 2], dims: [4] },
  { title: 'three rows and two, of two by four', rows: [3, 2], dims: [2, 4] },
];

describe.each([1, 2])('requests whose rows have %i dimensions', (rank) => {
  it('are joined along the first one, and each gets its own rows of both results', async () => {
    const dims = Array(rank).fill('-1').join(' ');
    const specs = (...names: readonly string[]) => names.map((name) => `${name} FP32 ${dims}`);
    const config = { maxBatchSize: 8, ...inputsAndOutputs(specs('a', 'b'), specs('sum', 'diff')) };
    await using model = await ServedModel.load({ file: 'addsub.py', config });
    const cases = CASES.filter((each) => each.dims.length === rank);
    for (const each of cases) {
      const results = await model.run(...each.rows.map((_, i) => model.request(inputsOf(each, i))));
      for (const [i, outputs] of results.entries()) {
        const [a, b] = inputsOf(each, i).map((input) => valuesOf(input).map(Number));
        const found = ['sum', 'diff'].map((name) => outputs.get(name));
        expect(
          found.map((output) => output?.shape),
          each.title,
        ).toEqual(Array(2).fill([each.rows[i], ...each.dims]));
        expect(
          found.map((output) => output && valuesOf(output)),
          each.title,
        ).toEqual([a?.map((value, k) => value + (b?.[k] ?? 0)), a?.map((value, k) => value - (b?.[k] ?? 0))]);
      }
    }
    // Each case was one call of forward with all rows.
    expect(model.reports.map(({ batchSize }) => batchSize)).toEqual(
      cases.map(({ rows }) => rows.reduce((sum, count) => sum + count)),
    );
  });
});

/** Two tensors in which every element of every request differs. */
function inputsOf({ rows, dims }: Case, request: number) {
  const shape = [rows[request] ?? 0, ...dims];
  const count = shape.reduce((product, dim) => product * dim, 1);
  return ['a', 'b'].map((name, i) => {
    const values = Array.from({ length: count }, (_, k) => request * 1000 + i * 100 + k * (i + 1));
    return tensor({ name, shape, values });
  });
}
