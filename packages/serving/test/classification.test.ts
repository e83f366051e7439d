import { DATATYPES, type Datatype, isDatatype, type Tensor } from '@nereid/core';
import { tensor, valuesOf } from '@nereid/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loaded, type Tree } from './fixture.ts';

const CONFIG = (datatype: Datatype, head: string) => `backend: "fake"
${head}input [ { name: "x" data_type: TYPE_FP32 dims: [ -1 ] } ]
output [
  { name: "y" data_type: ${DATATYPES[datatype].configName} dims: [ -1 ] label_filename: "labels.txt" },
  { name: "z" data_type: TYPE_FP32 dims: [ -1 ] }
]
`;

const tree = (datatype: Datatype, labels: string, head: string): Tree => ({
  'm/config.pbtxt': CONFIG(datatype, head),
  'm/1/model.fake': '',
  'm/labels.txt': labels,
});

interface Classified {
  readonly count?: number;
  readonly labels?: string;
  readonly isBatching?: boolean;
}

/** The output `y` with its classes in place of it, beside an output `z` that is wanted itself. */
async function classify(y: Tensor, { count = 2, labels = '', isBatching = false }: Classified = {}) {
  await using served = await loaded(tree(y.datatype, labels, isBatching ? 'max_batch_size: 4\n' : ''));
  const classification = served.engine.classification({ modelName: 'm', modelVersion: '' }, new Map([['y', count]]));
  const z = tensor({ name: 'z', values: [1, 2] });
  const { outputs } = classification.apply({ modelName: 'm', modelVersion: '1', outputs: [y, z] });
  expect(outputs[1]).toBe(z);
  const [first] = outputs;
  if (first === undefined) throw new Error('no output');
  expect(first).toMatchObject({ name: 'y', datatype: 'BYTES' });
  return { shape: first.shape, classes: valuesOf(first) };
}

const y = (values: readonly number[], shape: readonly number[] = [values.length]) =>
  tensor({ name: 'y', values, shape });

describe('classification', () => {
  it.each([
    ['a model that batches gives classes per row', y([1, 3, 2, 9, 7, 8], [2, 3]), true, [2, 2]],
    ['dimensions beyond the batch are one row', y([1, 3, 2, 9, 7, 8], [1, 2, 3]), true, [1, 2]],
    ['a model without batches gives one row of all', y([1, 3, 2, 9, 7, 8], [2, 3]), false, [2]],
    ['a scalar has one class', y([5], []), false, [1]],
    ['rows of nothing have no classes', y([], [3, 0]), true, [3, 0]],
    ['no rows have none', y([], [0, 3]), true, [0, 2]],
  ])('%s', async (_, output, isBatching, shape) => {
    expect((await classify(output, { isBatching })).shape).toEqual(shape);
  });

  it.each([
    ['sorted by value, largest first', [1, 3, 2], {}, ['3.000000:1', '2.000000:2']],
    [
      'with labels where there are some',
      [1, 3, 2],
      { count: 3, labels: 'a\nb\n' },
      ['3.000000:1:b', '2.000000:2', '1.000000:0:a'],
    ],
    ['without a colon for a blank label', [1], { labels: '\n' }, ['1.000000:0']],
    ['as many as there are at most', [1, 3], { count: 9 }, ['3.000000:1', '1.000000:0']],
    ['equal ones by index', [2, 2, 2, 2], { count: 3 }, ['2.000000:0', '2.000000:1', '2.000000:2']],
    ['what is not a number last', [Number.NaN, -1, Number.NaN], { count: 3 }, ['-1.000000:1', 'nan:0', 'nan:2']],
    ['infinities as C prints them', [-Infinity, Infinity, -0], { count: 3 }, ['inf:1', '-0.000000:2', '-inf:0']],
    ['halves to even', [0.0078125, 0.0234375], {}, ['0.023438:1', '0.007812:0']],
    ['small negative values with their sign', [-1e-9], {}, ['-0.000000:0']],
  ])('%s', async (_, values, options, classes) => {
    expect((await classify(y(values), options)).classes).toEqual(classes);
  });

  it('prints large doubles in full', async () => {
    const values = [1e22, -1.5e300];
    const output = tensor({ name: 'y', datatype: 'FP64', values });
    expect((await classify(output)).classes).toEqual([`${10n ** 22n}.000000:0`, `${BigInt(-1.5e300)}.000000:1`]);
  });

  it.each(Object.keys(DATATYPES).filter(isDatatype))(
    '%s: integers without decimals, floats with six, else refused',
    async (datatype) => {
      const output = tensor({ name: 'y', datatype, values: [1, 5] });
      if (['BOOL', 'BYTES', 'FP16', 'BF16'].includes(datatype)) {
        await expect(classify(output)).rejects.toMatchObject({
          code: 'INVALID_ARG',
          message: `class result not available for output 'y' due to unsupported type '${datatype}'; integers, FP32 and FP64 have one`,
        });
        return;
      }
      const isReal = datatype.startsWith('FP');
      expect((await classify(output)).classes).toEqual(isReal ? ['5.000000:1', '1.000000:0'] : ['5:1', '1:0']);
    },
  );

  it('keeps integers of 64 bits apart', async () => {
    const values = [2n ** 64n - 2n, 2n ** 64n - 1n];
    const output = tensor({ name: 'y', datatype: 'UINT64', values });
    expect((await classify(output)).classes).toEqual([`${2n ** 64n - 1n}:1`, `${2n ** 64n - 2n}:0`]);
  });

  it('finds the same classes for few and for many of a row', async () => {
    await using served = await loaded(tree('FP32', '', ''));
    const classesOf = (output: Tensor, count: number) => {
      const classification = served.engine.classification(
        { modelName: 'm', modelVersion: '1' },
        new Map([['y', count]]),
      );
      const [first] = classification.apply({ modelName: 'm', modelVersion: '1', outputs: [output] }).outputs;
      return first === undefined ? [] : valuesOf(first);
    };
    const rows = fc.array(fc.oneof(fc.integer({ min: -4, max: 4 }), fc.constant(Number.NaN)), { maxLength: 100 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 100 }), (values, count) => {
        const all = values.map((value, index) => ({ value, index }));
        const rank = (value: number) => (Number.isNaN(value) ? -Infinity : value);
        const expected = all.sort((a, b) => rank(b.value) - rank(a.value) || a.index - b.index).slice(0, count);
        expect(classesOf(y(values), count)).toEqual(
          expected.map(({ value, index }) => `${Number.isNaN(value) ? 'nan' : value.toFixed(6)}:${index}`),
        );
      }),
      { seed: 5, numRuns: 200 },
    );
  });

  it('refuses more than a million results', async () => {
    const output = y(new Array(1_000_001).fill(0));
    await expect(classify(output, { count: 1_000_001 })).rejects.toMatchObject({
      code: 'INVALID_ARG',
      message: expect.stringContaining('has 1000001 results, at most 1000000 are sent'),
    });
  });

  it('leaves an output that the model does not have to the check of the request', async () => {
    await using served = await loaded(tree('FP32', '', ''));
    const wanted = new Map([['nothing', 1]]);
    expect(() => served.engine.classification({ modelName: 'm', modelVersion: '' }, wanted)).not.toThrow();
  });

  it.each([
    ['cat\ndog\n', ['1.000000:0:cat']],
    ['cat\r\ndog\r\n', ['1.000000:0:cat']],
    ['', ['1.000000:0']],
  ])('takes labels from %j, one per line', async (labels, classes) => {
    expect((await classify(y([1]), { labels })).classes).toEqual(classes);
  });
});
