import { type AotiPackage, loadAoti, type Weight } from '@nereid/native';
import { testModel } from '@nereid/testing';
import { expect, test } from 'vitest';
import { bytes, CPU, numbers, Runner, TYPE_FP32 } from './support.ts';

const open = (): Promise<AotiPackage> =>
  loadAoti({ path: `${testModel('weights')}/scaled.pt2`, modelName: 'model', numRunners: 2, device: CPU });

function weight(name: string, shape: readonly number[], value: number): Weight {
  const count = shape.reduce((product, size) => product * size, 1);
  return { name, datatype: TYPE_FP32, shape, data: bytes(...Array(count).fill(value)) };
}

const set = (value: number) => [weight('weight', [16, 512], value), weight('bias', [16], value)];

async function result(model: AotiPackage): Promise<number | undefined> {
  await using runner = new Runner(model, { batching: true });
  const { outputs } = await runner.run({ buffers: [bytes(...Array(512).fill(1))], rows: [1], shapes: [2, 1, 512] });
  return numbers(outputs[0])[0];
}

test('a package lists what can be exchanged', async () => {
  const model = await open();
  expect(model.weights).toEqual([
    { name: 'bias', datatype: TYPE_FP32, shape: [16], isParameter: true },
    { name: 'scale', datatype: TYPE_FP32, shape: [16], isParameter: false },
    { name: 'weight', datatype: TYPE_FP32, shape: [16, 512], isParameter: true },
  ]);
  await model.close();
});

test('staged weights take effect with the swap, once; others keep their value', async () => {
  const model = await open();
  await model.stageWeights([...set(1), weight('scale', [16], 3)]);
  const before = await result(model);
  await model.swapWeights();
  expect(await result(model)).toBe(4);
  expect(before).not.toBe(4);
  await model.stageWeights(set(2));
  await model.swapWeights();
  expect(await result(model)).toBe(2 * 3 + 2);
  await expect(model.swapWeights()).rejects.toMatchObject({ code: 'INVALID_ARG', message: 'no weights are staged' });
  await model.close();
});

test.each([
  ['an unknown name', [weight('other', [1], 1)], "the package has no weight 'other'"],
  ['another shape', [weight('bias', [17], 1)], "weight 'bias' has another shape or datatype than in the package"],
  ['too few bytes', [{ ...weight('bias', [16], 1), data: new Uint8Array(4) }], 'the shape takes 64 bytes, got 4'],
])('%s is refused, and nothing is staged', async (_, weights, message) => {
  const model = await open();
  await expect(model.stageWeights(weights)).rejects.toMatchObject({ code: 'INVALID_ARG', message });
  await expect(model.swapWeights()).rejects.toThrow('no weights are staged');
  await model.close();
});

test('a model that is closed is not changed; one that is being changed is closed afterwards', async () => {
  const model = await open();
  const staging = model.stageWeights(set(1));
  const closing = model.close();
  await Promise.all([staging, closing]);
  expect(() => model.stageWeights(set(1))).toThrow('the model is closed');
});

test('the arguments are checked', async () => {
  const model = await open();
  expect(() => Reflect.apply(model.stageWeights, model, ['x'])).toThrow(/weights must be an array/);
  expect(() => Reflect.apply(model.stageWeights, model, [[{ ...weight('bias', [16], 1), data: 'x' }]])).toThrow(
    /data must be a Uint8Array/,
  );
  await model.close();
});
