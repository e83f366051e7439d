import { DATATYPES, isDatatype } from '@nereid/core';
import { describe, expect, it } from 'vitest';
import { RecordingResponder, requestFor, tensor, valuesOf } from '../src/index.ts';

const INTEGERS = Object.keys(DATATYPES)
  .filter(isDatatype)
  .filter((name) => name !== 'BYTES' && !name.endsWith('64'));

describe('tensor', () => {
  it('is one dimension of FP32 unless said otherwise', () => {
    expect(tensor({ name: 'x', values: [1, 2] })).toEqual({
      name: 'x',
      datatype: 'FP32',
      shape: [2],
      data: new Uint8Array(Float32Array.of(1, 2).buffer),
    });
  });

  it.each(INTEGERS)('gives back the values of %s', (datatype) => {
    expect(valuesOf(tensor({ name: 'x', datatype, shape: [3, 1], values: [0, 1, 100] }))).toEqual([0, 1, 100]);
  });

  it.each([
    ['INT64', [-(2n ** 63n), 5n]],
    ['UINT64', [2n ** 64n - 1n, 5n]],
    ['FP64', [Math.PI, -0]],
    ['BYTES', ['', 'é', 'abc']],
  ] as const)('gives back the values of %s exactly', (datatype, values) => {
    expect(valuesOf(tensor({ name: 'x', datatype, values }))).toEqual(values);
  });

  it('takes booleans, and safe integers for 64-bit ones', () => {
    expect(valuesOf(tensor({ name: 'x', datatype: 'BOOL', values: [true, false] }))).toEqual([1, 0]);
    expect(valuesOf(tensor({ name: 'x', datatype: 'INT64', values: [7] }))).toEqual([7n]);
  });
});

describe('requestFor', () => {
  it('asks for every output of the latest version of a model', () => {
    expect(requestFor()).toMatchObject({
      modelName: 'model',
      modelVersion: '',
      id: '',
      inputs: [],
      requestedOutputs: [],
      batchSize: 1,
    });
  });

  it('takes anything that a request has, its rows, and who gets the answers', () => {
    const responder = new RecordingResponder();
    const request = requestFor({ id: 'r', modelName: 'mlp', batchSize: 4, priority: 2, responder });
    expect(request).toMatchObject({ id: 'r', modelName: 'mlp', batchSize: 4, priority: 2 });
    request.respond(undefined);
    expect(responder.answers).toHaveLength(1);
  });
});
