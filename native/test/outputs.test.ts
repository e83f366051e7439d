import { expect, test } from 'vitest';
import {
  bytes,
  numbers,
  only,
  Session,
  shaped,
  stringBytes,
  strings,
  TYPE_FP32,
  TYPE_STRING,
  vectors,
} from './support.ts';

const at = (...indices: readonly number[]) => indices.map((index) => ({ index, key: '' }));

test.each(['named', 'tensors'])('the results of %s are addressed by position, in any order', async (name) => {
  await using session = await Session.torchScript(name, { outputs: at(1, 0) });
  const { outputs } = await session.run(vectors(bytes(1)));
  expect(outputs.map(numbers)).toEqual([[3], [2]]);
});

test('a tuple may mix tensors and strings', async () => {
  await using session = await Session.torchScript('mixed', {
    inputs: [
      { datatype: TYPE_FP32, key: '' },
      { datatype: TYPE_STRING, key: '' },
    ],
    outputs: at(0, 1),
  });
  const { outputs } = await session.run({ buffers: [bytes(1), stringBytes('a')], rows: [1], shapes: [1, 1, 1, 1] });
  expect(numbers(outputs[0])).toEqual([2]);
  expect(strings(outputs[1])).toEqual(['a']);
});

test.each([
  { name: 'transposed', what: 'a view that is not contiguous is made so', shape: [3, 2], values: [0, 3, 1, 4, 2, 5] },
  { name: 'narrowed', what: 'a result may have no elements', shape: [0, 3], values: [] },
  { name: 'sum', what: 'a result may be a scalar', shape: [], values: [15] },
  { name: 'imaginary', what: 'a lazy negation is done', shape: [2, 3], values: [-0, -1, -2, -3, -4, -5] },
  { name: 'corner', what: 'a part of something larger is cut out', shape: [2, 3], values: [0, 1, 2, 3, 4, 5] },
])('$what', async ({ name, shape, values }) => {
  await using session = await Session.torchScript(name);
  const { outputs } = await session.run(shaped([2, 3], [0, 1, 2, 3, 4, 5]));
  expect(outputs[0]).toMatchObject({ shape });
  expect(numbers(outputs[0])).toEqual(values);
});

test('arguments with defaults may be left out', async () => {
  await using one = await Session.torchScript('defaults');
  expect(numbers((await one.run(vectors(bytes(3)))).outputs[0])).toEqual([6]);
  const input = { datatype: TYPE_FP32, key: '' };
  await using two = await Session.torchScript('defaults', { inputs: [input, input] });
  expect(numbers((await two.run(vectors(bytes(3), bytes(4)))).outputs[0])).toEqual([7]);
});

test.each([
  { name: 'identity', why: 'it is the input' },
  { name: 'weight', why: 'it belongs to the model' },
])('a large result of $name is a copy, for $why', async ({ name }) => {
  await using session = await Session.torchScript(name, {});
  const input = new Uint8Array(64 * 64 * 4);
  const run = async () =>
    new Uint8Array(only((await session.run({ buffers: [input], rows: [1], shapes: [2, 64, 64] })).outputs[0]).data);
  const first = await run();
  first.fill(255);
  expect(input).toEqual(new Uint8Array(64 * 64 * 4));
  expect(await run()).toEqual(new Uint8Array(64 * 64 * 4));
});

test('one tensor in two places is handed out as two', async () => {
  await using session = await Session.torchScript('twice', { outputs: at(0, 1, 0) });
  const { outputs } = await session.run(shaped([4096], new Array(4096).fill(1)));
  new Uint8Array(only(outputs[0]).data).fill(0);
  expect(numbers(outputs[1])[0]).toBe(2);
  expect(numbers(outputs[2])[0]).toBe(2);
});

test('an AOTInductor package may return its input, a constant and nothing', async () => {
  const datatypes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14];
  const sizes = [1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 2];
  await using session = await Session.aoti('dtypes', {
    inputs: datatypes.map((datatype) => ({ datatype, key: '' })),
    outputs: at(13, 14, 15),
  });
  const batch = {
    buffers: sizes.map((size) => new Uint8Array(4 * size)),
    rows: [1],
    shapes: sizes.flatMap(() => [1, 4]),
  };
  const first = (await session.run(batch)).outputs;
  expect(first.map(({ shape }) => shape)).toEqual([[4], [2048], [0]]);
  new Uint8Array(only(first[1]).data).fill(255);
  expect(numbers((await session.run(batch)).outputs[1]).slice(0, 3)).toEqual([0, 1, 2]);
});

test.each([
  { name: 'number', text: 'forward returned int;' },
  { name: 'nothing', text: 'forward returned NoneType;' },
  { name: 'nested', index: 1, text: 'forward returned List[int] at index 1;' },
  { name: 'sparse', text: 'a tensor that has no dense memory' },
])('a result of $name is an error that names its type', async ({ name, index = 0, text }) => {
  await using session = await Session.torchScript(name, { outputs: at(index) });
  await expect(session.run(vectors(bytes(1, 2)))).rejects.toMatchObject({
    code: 'INTERNAL',
    message: expect.stringContaining(text),
  });
});

test('an index beyond the results is INVALID_ARG with both numbers', async () => {
  await using session = await Session.torchScript('tensors', { outputs: at(0, 3) });
  await expect(session.run(vectors(bytes(1)))).rejects.toMatchObject({
    code: 'INVALID_ARG',
    message:
      "The output at index 3 in the model configuration refers to an output index which doesn't exist. This model has 3 outputs",
  });
});

test('a key that the result lacks is INVALID_ARG with those it has', async () => {
  await using session = await Session.torchScript('keyed', {
    inputs: ['a', 'b'].map((key) => ({ datatype: TYPE_FP32, key })),
    outputs: [{ index: -1, key: 'product' }],
  });
  await expect(session.run(vectors(bytes(1), bytes(2)))).rejects.toMatchObject({
    code: 'INVALID_ARG',
    message: "forward returned no value under the key 'product'; it returned 'sum', 'difference'",
  });
});
