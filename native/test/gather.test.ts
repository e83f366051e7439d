import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytes, numbers, Session, stringBytes, strings, TYPE_STRING } from './support.ts';

const FEATURES = 64;

test('rows of several requests are joined in order', async () => {
  await using session = await Session.torchScript('double', { batching: true });
  const { outputs } = await session.run({
    buffers: [bytes(1, 2), bytes(3, 4, 5, 6), bytes()],
    rows: [1, 2, 0],
    shapes: [2, 1, 2],
  });
  expect(outputs[0]).toMatchObject({ shape: [3, 2] });
  expect(numbers(outputs[0])).toEqual([2, 4, 6, 8, 10, 12]);
});

test('several inputs of several requests are input-major', async () => {
  await using session = await Session.torchScript('keyed', {
    batching: true,
    inputs: ['a', 'b'].map((key) => ({ datatype: 11, key })),
    outputs: ['difference', 'sum'].map((key) => ({ index: -1, key })),
  });
  const { outputs } = await session.run({
    buffers: [bytes(10), bytes(20), bytes(1), bytes(2)],
    rows: [1, 1],
    shapes: [1, 1, 1, 1],
  });
  expect(outputs.map(numbers)).toEqual([
    [9, 18],
    [11, 22],
  ]);
});

test('an input may begin at any byte', async () => {
  await using session = await Session.torchScript('double');
  for (let offset = 0; offset < 4; offset++) {
    const shifted = new Uint8Array(8 + offset).subarray(offset);
    shifted.set(bytes(1, 2));
    const { outputs } = await session.run({ buffers: [shifted], rows: [1], shapes: [1, 2] });
    expect(numbers(outputs[0])).toEqual([2, 4]);
  }
});

test('requests that are slices of one buffer are read where they lie', async () => {
  await using session = await Session.torchScript('in_place', { batching: true });
  const body = bytes(1, 2, 3);
  const { outputs } = await session.run({
    buffers: [body.subarray(0, 4), body.subarray(4)],
    rows: [1, 2],
    shapes: [1, 1],
  });
  expect(numbers(outputs[0])).toEqual([2, 3, 4]);
  expect(body).toEqual(bytes(2, 3, 4));
});

test('requests that lie apart are copied: a model that works in place does not reach them', async () => {
  await using session = await Session.torchScript('in_place', { batching: true });
  const buffers = [bytes(1), bytes(2)];
  await session.run({ buffers, rows: [1, 1], shapes: [1, 1] });
  expect(buffers).toEqual([bytes(1), bytes(2)]);
});

test('strings of several requests are appended in order', async () => {
  await using session = await Session.torchScript('strings', {
    batching: true,
    inputs: [{ datatype: TYPE_STRING, key: '' }],
  });
  const { outputs } = await session.run({
    buffers: [stringBytes('a'), stringBytes('b', 'c')],
    rows: [1, 2],
    shapes: [1, 1],
  });
  expect(strings(outputs[0])).toEqual(['a!', 'b!', 'c!']);
});

test('a batch gives what its requests give alone', async () => {
  await using session = await Session.aoti('mlp', { batching: true });
  const one = (rows: number, seed: number) =>
    bytes(...Array.from({ length: rows * FEATURES }, (_, i) => Math.sin(i * (seed + 1))));
  const requests = fc.array(fc.record({ rows: fc.integer({ min: 1, max: 5 }), seed: fc.nat(20) }), {
    minLength: 1,
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(requests, async (batch) => {
      const together = await session.run({
        buffers: batch.map(({ rows, seed }) => one(rows, seed)),
        rows: batch.map(({ rows }) => rows),
        shapes: [2, 1, FEATURES],
      });
      const alone: number[] = [];
      for (const { rows, seed } of batch) {
        const { outputs } = await session.run({ buffers: [one(rows, seed)], rows: [rows], shapes: [2, 1, FEATURES] });
        alone.push(...numbers(outputs[0]));
      }
      const joined = numbers(together.outputs[0]);
      expect(joined).toHaveLength(alone.length);
      for (const [i, value] of joined.entries()) expect(value).toBeCloseTo(alone[i] ?? Number.NaN, 5);
    }),
    { seed: 7, numRuns: 30 },
  );
});

const MISFITS = [
  { rule: 'too few bytes', buffers: [bytes(1)], shapes: [1, 2], text: 'input 0 of request 0 needs 8 bytes, got 4' },
  { rule: 'too many bytes', buffers: [bytes(1, 2)], shapes: [1, 1], text: 'input 0 of request 0 needs 4 bytes, got 8' },
  {
    rule: 'a missing buffer',
    buffers: [],
    shapes: [1, 1],
    text: 'a batch of 1 requests with 1 inputs each has 1 buffers',
  },
  { rule: 'a shape that is cut off', buffers: [bytes(1)], shapes: [2, 1], text: 'shapes holds no complete shape' },
  { rule: 'a negative dimension', buffers: [bytes(1)], shapes: [1, -1], text: 'input 0 has a negative dimension' },
];

test.each(MISFITS)(
  '$rule fails the batch with INVALID_ARG, and the next one runs',
  async ({ buffers, shapes, text }) => {
    await using session = await Session.torchScript('double');
    await expect(session.run({ buffers, rows: [1], shapes })).rejects.toMatchObject({
      code: 'INVALID_ARG',
      message: expect.stringContaining(text),
    });
    const { outputs } = await session.run({ buffers: [bytes(1)], rows: [1], shapes: [1, 1] });
    expect(numbers(outputs[0])).toEqual([2]);
  },
);

test('strings whose lengths lie fail the batch', async () => {
  await using session = await Session.torchScript('strings', { inputs: [{ datatype: TYPE_STRING, key: '' }] });
  const cut = stringBytes('abc').subarray(0, 5);
  await expect(session.run({ buffers: [cut], rows: [1], shapes: [1, 1] })).rejects.toMatchObject({
    code: 'INVALID_ARG',
    message: 'input 0 of request 0 ends inside element 0',
  });
});
