import type { SharedMemoryPart, Tensor } from '@nereid/core';
import { ShmObject } from '@nereid/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RequestMemory, SharedMemoryRegions } from '../src/index.ts';

const tensor = (name: string, bytes: readonly number[] = []): Tensor => ({
  name,
  datatype: 'UINT8',
  shape: [bytes.length],
  data: Buffer.from(bytes),
});

const response = (...outputs: Tensor[]) => ({ modelName: 'm', modelVersion: '1', outputs });

const at = (offset: number, byteSize: number): SharedMemoryPart => ({ region: 'r', offset, byteSize });

describe.each([
  ['at once', 65_536],
  ['beside the event loop', 0],
  ['partly beside the event loop', 2],
])('the memory of a request, copied %s', (_, syncBytes) => {
  let object: ShmObject;
  let regions: SharedMemoryRegions;
  beforeEach(() => {
    object = new ShmObject(Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]));
    regions = new SharedMemoryRegions({ syncBytes });
    regions.register({ name: 'r', key: object.key, offset: 0, byteSize: 8 });
  });
  afterEach(() => {
    regions.unregister();
    object[Symbol.dispose]();
  });

  const open = (inputs: Record<string, SharedMemoryPart>, outputs: Record<string, SharedMemoryPart> = {}) =>
    new RequestMemory(regions, { inputs: new Map(Object.entries(inputs)), outputs: new Map(Object.entries(outputs)) });

  it('gives inputs in regions their bytes and leaves the others, in their order', async () => {
    const memory = open({ a: at(0, 2), c: at(5, 3) });
    const read = await memory.readInputs([tensor('a'), tensor('b', [9]), tensor('c')]);
    expect(read.map(({ name, data }) => [name, ...data])).toEqual([
      ['a', 1, 2],
      ['b', 9],
      ['c', 6, 7, 8],
    ]);
  });

  it('writes outputs into their regions and keeps their shapes alone', async () => {
    const memory = open({}, { y: at(1, 4), z: at(6, 2) });
    const rest = await memory.writeOutputs(response(tensor('x', [7]), tensor('y', [9, 9, 9]), tensor('z', [0, 0])));
    expect(rest.outputs.map(({ name, shape, data }) => [name, ...shape, data.length])).toEqual([
      ['x', 1, 1],
      ['y', 3, 0],
      ['z', 2, 0],
    ]);
    expect([...object.bytes]).toEqual([1, 9, 9, 9, 5, 6, 0, 0]);
    memory.close();
  });

  it('writes nothing when one output is too large, and says both sizes', () => {
    const memory = open({}, { y: at(0, 4), z: at(6, 2) });
    expect(() => memory.writeOutputs(response(tensor('y', [9]), tensor('z', [1, 2, 3])))).toThrow(
      "shared memory size specified with the request for output 'z' (2 bytes) should be at least 3 bytes to hold the results",
    );
    expect([...object.bytes]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    memory.close();
  });

  it('fails as a whole when the object was shortened', async () => {
    const memory = open({ a: at(0, 2), b: at(2, 6) }, { y: at(0, 3), z: at(6, 2) });
    object.truncate(4);
    await expect(async () => memory.readInputs([tensor('a'), tensor('b')])).rejects.toThrow('has become too short');
    await expect(async () =>
      memory.writeOutputs(response(tensor('y', [1, 1, 1]), tensor('z', [2, 2]))),
    ).rejects.toThrow('has become too short');
    memory.close();
    expect(memory.isClosed).toBe(true);
  });

  it('takes nothing into use when one part is wrong', () => {
    expect(() => open({ a: at(0, 2) }, { y: at(0, 9) })).toThrow('Invalid offset + byte size');
  });
});
