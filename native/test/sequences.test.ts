import type { Batch, StateSlot } from '@nereid/native';
import { openSequence, releaseSequence } from '@nereid/native';
import { describe, expect, test } from 'vitest';
import { bytes, DEFAULTS, numbers, openTorchScript, Session, type Setup, TYPE_FP32 } from './support.ts';

const STATE: StateSlot = {
  name: 's',
  datatype: TYPE_FP32,
  index: 0,
  key: '',
  shape: [1, 2],
  initial: bytes(1, 2),
  isLent: false,
};

/** A model that doubles its state and returns it. */
const DOUBLING: Setup = {
  batching: true,
  inputs: [{ datatype: TYPE_FP32, key: '', source: 'state' }],
  states: [STATE],
};

const states = (sides: readonly number[], sequences: Batch['sequences']): Batch => ({
  buffers: [],
  rows: sides.map(() => 1),
  shapes: [],
  sequences,
  sides,
});

describe('a state', () => {
  test('goes from one side of its sequence to the other, and what was read is still there', async () => {
    await using session = await Session.torchScript('double', DOUBLING);
    const [a, b] = [openSequence(), openSequence()];
    const steps = [
      [
        [-1, -1],
        [2, 4, 2, 4],
      ],
      [
        [0, 0],
        [4, 8, 4, 8],
      ],
      [
        [1, 0],
        [8, 16, 4, 8],
      ],
      [
        [0, -1],
        [16, 32, 2, 4],
      ],
    ] as const;
    for (const [sides, expected] of steps) {
      const { outputs } = await session.run(states(sides, [a, b]));
      expect(numbers(outputs[0])).toEqual(expected);
      expect(outputs[1]).toMatchObject({ datatype: TYPE_FP32, shape: [2, 2] });
      expect(outputs[1]?.data.byteLength).toBe(0);
    }
  });

  test('has its initial value where nothing is kept: none is given, the sequence is released, or there is no sequence', async () => {
    await using session = await Session.torchScript('double', DOUBLING);
    const sequence = openSequence();
    await session.run(states([-1], [sequence]));
    releaseSequence(sequence);
    for (const sequences of [[sequence], [undefined], undefined]) {
      const batch = sequences === undefined ? { buffers: [], rows: [1], shapes: [] } : states([0], sequences);
      expect(numbers((await session.run(batch)).outputs[0])).toEqual([2, 4]);
    }
  });

  test('is zeros without an initial value, and one per row', async () => {
    await using session = await Session.torchScript('double', {
      ...DOUBLING,
      states: [{ ...STATE, initial: new Uint8Array(0) }],
    });
    const { outputs } = await session.run({ buffers: [], rows: [2, 1], shapes: [] });
    expect(outputs[0]?.shape).toEqual([3, 2]);
    expect(numbers(outputs[0])).toEqual([0, 0, 0, 0, 0, 0]);
  });

  test('that does not have the rows of its request fails the batch', async () => {
    await using session = await Session.torchScript('double', DOUBLING);
    const sequence = openSequence();
    await session.run(states([-1], [sequence]));
    await expect(session.run({ ...states([0], [sequence]), rows: [2] })).rejects.toMatchObject({
      code: 'INVALID_ARG',
      message: "state 's' of request 0 of 1 has 1 rows, the request has 2",
    });
  });

  test('that is a weight of the model is a copy of it', async () => {
    const setup = { ...DOUBLING, states: [{ ...STATE, isLent: true }] };
    await using session = await Session.torchScript('weight', setup);
    const sequence = openSequence();
    const first = await session.run({ ...states([-1], [sequence]), rows: [1] });
    const second = await session.run({ ...states([-1], [undefined]), rows: [1] });
    expect(numbers(second.outputs[0])).toEqual(numbers(first.outputs[0]));
  });
});

test.each([
  ['what is no sequence', { sequences: [{}], sides: [-1] }, 'a sequence must be what openSequence returned'],
  ['no sides', { sequences: [undefined] }, 'sides must be an array of numbers'],
])('%s is a TypeError', async (_, odd, message) => {
  await using session = await Session.torchScript('double', DOUBLING);
  // @ts-expect-error what a caller without types may do
  const batch: Batch = { buffers: [], rows: [1], shapes: [], ...odd };
  expect(() => session.instance.execute(batch)).toThrow(new TypeError(message));
});

test('one state per request, or none', async () => {
  await using session = await Session.torchScript('double', DOUBLING);
  const batch = { buffers: [], rows: [1, 1], shapes: [], sequences: [undefined], sides: [-1] };
  await expect(session.run(batch)).rejects.toMatchObject({
    code: 'INVALID_ARG',
    message: 'a batch has one state and one side per request, or none',
  });
});

test.each<[string, Setup, string]>([
  ['a state that is not described', { ...DOUBLING, states: [] }, '1 inputs are states, but 0 states are described'],
  [
    'an initial value of another size',
    { ...DOUBLING, states: [{ ...STATE, initial: bytes(1) }] },
    "the initial value of state 's' takes 8 bytes, got 4",
  ],
  [
    'a state without rows',
    { ...DOUBLING, states: [{ ...STATE, shape: [], initial: bytes(1) }] },
    "state 's' has no batch dimension",
  ],
])('%s is refused by createInstance', async (_, setup, message) => {
  const model = await openTorchScript('double');
  const create = () => model.createInstance({ ...DEFAULTS, ...setup, onComplete() {} });
  expect(create).toThrow(message);
  await model.close();
});

describe('an input that is not joined by rows', () => {
  test('is what the requests have, one after the other', async () => {
    const inputs = [{ datatype: TYPE_FP32, key: '', source: 'joined' as const }];
    await using session = await Session.torchScript('double', { batching: true, inputs });
    const buffers = [bytes(1, 2), bytes(), bytes(3)];
    const { outputs } = await session.run({ buffers, rows: [1, 0, 1], shapes: [1, 3] });
    expect(numbers(outputs[0])).toEqual([2, 4, 6]);
    await expect(session.run({ buffers, rows: [1, 0, 1], shapes: [1, 4] })).rejects.toMatchObject({
      code: 'INVALID_ARG',
      message: 'input 0 needs 16 bytes, got 12',
    });
  });

  test('is one buffer for the whole batch', async () => {
    const inputs = [{ datatype: TYPE_FP32, key: '', source: 'whole' as const }];
    await using session = await Session.torchScript('double', { batching: true, inputs });
    const { outputs } = await session.run({ buffers: [bytes(1, 2, 3)], rows: [1, 1], shapes: [1, 3] });
    expect(numbers(outputs[0])).toEqual([2, 4, 6]);
  });
});
