import { join } from 'node:path';
import { elements } from '@nereid/core';
import { testModel } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { readWeights, type WeightTensor } from '../src/index.ts';
import { temporary } from './temporary.ts';

const file = (name: string) => join(testModel('weights'), name);

/** Values of a tensor, read from a copy that is aligned. */
function valuesOf(weight: WeightTensor): readonly unknown[] {
  const { datatype } = weight;
  if (datatype === 'BYTES') throw new RangeError('no weight is text');
  return [...elements({ ...weight, datatype, data: new Uint8Array(weight.data) })];
}

describe('readWeights', () => {
  it.each([
    ['a dict of torch.save', 'ones.pt', 1],
    ['an OrderedDict of torch.save', 'twos.pt', 2],
    ['safetensors', 'threes.safetensors', 3],
  ])('reads names, datatypes, shapes and bytes of %s', async (_, name, value) => {
    const weights = await readWeights(file(name));
    expect(weights.map(({ name, datatype, shape }) => [name, datatype, shape])).toEqual([
      ['weight', 'FP32', [16, 512]],
      ['bias', 'FP32', [16]],
      ['scale', 'FP32', [16]],
    ]);
    expect(weights.map(valuesOf)).toEqual([Array(8192).fill(value), Array(16).fill(value), Array(16).fill(1)]);
  });

  it('makes views contiguous, and takes parameters and every datatype', async () => {
    const weights = new Map((await readWeights(file('odd.pt'))).map((weight) => [weight.name, weight]));
    const values = (name: string) => {
      const weight = weights.get(name);
      return weight && [weight.datatype, weight.shape, valuesOf(weight)];
    };
    const transposed = Array.from({ length: 24 }, (_, i) => (i % 4) * 6 + Math.floor(i / 4));
    expect(values('transposed')).toEqual(['FP32', [6, 4], transposed]);
    expect(values('rows')).toEqual(['FP32', [2, 6], Array.from({ length: 12 }, (_, i) => i + 6)]);
    expect(values('column')).toEqual(['FP32', [4], [2, 8, 14, 20]]);
    expect(values('parameter')).toEqual(['BF16', [2], [0x3f80, 0x3f80]]);
    expect(values('numbers')).toEqual(['INT64', [2], [1n, -2n]]);
    expect(values('wide')).toEqual(['UINT16', [2], [1, 65535]]);
    expect(values('nothing')).toEqual(['FP32', [0, 3], []]);
    expect(values('scalar')).toEqual(['FP32', [], [7]]);
  });

  it.each([
    ['mixed.pt', "'epoch' is no dense tensor"],
    ['complex.pt', "'weight' is no dense tensor of a datatype that is known here"],
    ['scaled.pt2', 'holds no weights: expected a state dict'],
  ])('refuses %s and says what to write', async (name, message) => {
    await expect(readWeights(file(name))).rejects.toMatchObject({
      reason: 'wrong-kind',
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ['a header that is no JSON', '{]', 0, 'its header is no JSON object'],
    ['a dtype that is unknown', '{"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}', 1, 'has dtype F8_E4M3'],
    ['bytes beyond the file', '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 2, 'ends beyond the file'],
    ['too few bytes', '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}', 4, 'of 2 elements with as many bytes'],
    ['a shape that is none', '{"a":{"dtype":"F32","shape":"x","data_offsets":[0,4]}}', 4, 'has no shape'],
  ])('refuses safetensors with %s', async (_, header, bytes, message) => {
    using directory = temporary();
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    const path = directory.file('bad.safetensors', Buffer.concat([length, Buffer.from(header), Buffer.alloc(bytes)]));
    await expect(readWeights(path)).rejects.toThrow(message);
  });
});
