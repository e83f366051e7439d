import { DATATYPES, type Datatype } from '@nereid/core';
import type { Batch } from '@nereid/native';
import { expect, test } from 'vitest';
import { only, Session, stringBytes, strings, TYPE_STRING } from './support.ts';

const NUMERIC = (Object.keys(DATATYPES) as Datatype[]).filter((datatype) => DATATYPES[datatype].byteSize > 0);

/** Four elements with distinct bytes; booleans are 0 and 1. */
function sample(datatype: Datatype): Uint8Array {
  if (datatype === 'BOOL') return Uint8Array.of(1, 0, 0, 1);
  return Uint8Array.from({ length: 4 * DATATYPES[datatype].byteSize }, (_, i) => i + 1);
}

function four(buffers: readonly Uint8Array[]): Batch {
  return { buffers, rows: [1], shapes: buffers.flatMap(() => [1, 4]) };
}

function reversed(datatype: Datatype): Uint8Array {
  const size = DATATYPES[datatype].byteSize;
  const source = sample(datatype);
  return Uint8Array.from(source, (_, i) => source[(3 - Math.floor(i / size)) * size + (i % size)] ?? 0);
}

test.each(NUMERIC)(
  '%s goes through TorchScript bit for bit, under the number of the configuration',
  async (datatype) => {
    const { configNumber } = DATATYPES[datatype];
    await using session = await Session.torchScript('identity', { inputs: [{ datatype: configNumber, key: '' }] });
    const output = only((await session.run(four([sample(datatype)]))).outputs[0]);
    expect(output).toEqual({ datatype: configNumber, shape: [4], data: sample(datatype).buffer });
  },
);

test('every datatype goes through AOTInductor bit for bit', async () => {
  await using session = await Session.aoti('dtypes', {
    inputs: NUMERIC.map((datatype) => ({ datatype: DATATYPES[datatype].configNumber, key: '' })),
    outputs: NUMERIC.map((_, index) => ({ index, key: '' })),
  });
  const { outputs } = await session.run(four(NUMERIC.map(sample)));
  expect(outputs.map(({ datatype, data }) => [datatype, new Uint8Array(data)])).toEqual(
    NUMERIC.map((datatype) => [DATATYPES[datatype].configNumber, reversed(datatype)]),
  );
});

test('TYPE_STRING goes through List[str]', async () => {
  expect(DATATYPES.BYTES.configNumber).toBe(TYPE_STRING);
  await using session = await Session.torchScript('strings', { inputs: [{ datatype: TYPE_STRING, key: '' }] });
  const { outputs } = await session.run({ buffers: [stringBytes('a', 'b\0ü', '')], rows: [1], shapes: [1, 3] });
  expect(outputs[0]).toMatchObject({ datatype: TYPE_STRING, shape: [3] });
  expect(strings(outputs[0])).toEqual(['a!', 'b\0ü!', '!']);
});

test('a torch dtype without a number has number 0', async () => {
  await using session = await Session.torchScript('complex');
  const { outputs } = await session.run(four([new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer)]));
  expect(outputs[0]).toMatchObject({ datatype: 0, shape: [4] });
});

test('a boolean other than 0 and 1 becomes 1, and the request keeps its bytes', async () => {
  await using session = await Session.torchScript('identity', {
    inputs: [{ datatype: DATATYPES.BOOL.configNumber, key: '' }],
  });
  const input = Uint8Array.of(0, 1, 2, 255);
  const { outputs } = await session.run(four([input]));
  expect(new Uint8Array(only(outputs[0]).data)).toEqual(Uint8Array.of(0, 1, 1, 1));
  expect(input).toEqual(Uint8Array.of(0, 1, 2, 255));
});
