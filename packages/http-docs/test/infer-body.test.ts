import { RequestDecoder } from '@nereid/protocol';
import { describe, expect, it } from 'vitest';
import { type Body, headLength, inferBody } from '../src/page/infer-body.ts';

const input = { name: 'a"b', datatype: 'INT64', shape: [1], data: '[9007199254740993]' };
const half = { name: 'h', datatype: 'FP16', shape: [2, 1], data: '[[1.5], [-Infinity]]' };

/** What a server makes of it. */
function decoded(body: Body) {
  const bytes = Buffer.concat([Buffer.from(body.head), ...body.blobs]);
  const target = { modelName: 'm', modelVersion: '' };
  return new RequestDecoder().decode({ target, body: bytes, headerLength: headLength(body) });
}

describe('the body of an inference', () => {
  it('has the values as they were written', () => {
    const call = { inputs: [input], outputs: [], parameters: '{"priority": 1}' };
    expect(inferBody(call)).toEqual({
      head: '{"parameters":{"priority": 1},"inputs":[{"name":"a\\"b","datatype":"INT64","shape":[1],"data":[9007199254740993]}]}',
      blobs: [],
    });
    expect(inferBody({ inputs: [], outputs: [], parameters: ' ' }).head).toBe('{"inputs":[]}');
  });

  it('has bytes behind it for what JSON does not take, and asks for such outputs as bytes', () => {
    const outputs = [
      { name: 'x', datatype: 'BF16', shape: [-1] },
      { name: 'y', datatype: 'FP32', shape: [-1] },
    ];
    const body = inferBody({ inputs: [input, half], outputs, parameters: '' });
    const request = decoded(body);
    expect(request.inputs.map(({ name, shape, data }) => [name, shape, Buffer.from(data).toString('hex')])).toEqual([
      ['a"b', [1], '0100000000002000'],
      ['h', [2, 1], '003e00fc'],
    ]);
    expect(['x', 'y'].map((name) => request.format.isBinary(name))).toEqual([true, false]);
  });

  it('names the input whose values are no numbers', () => {
    const inputs = [{ ...half, data: '["1", 2]' }];
    expect(() => inferBody({ inputs, outputs: [], parameters: '' })).toThrow("values of 'h': expected numbers");
  });
});
