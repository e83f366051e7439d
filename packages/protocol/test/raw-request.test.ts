import type { Datatype } from '@nereid/core';
import { describe, expect, it } from 'vitest';
import { decodeRawRequest } from '../src/index.ts';

const target = { modelName: 'm', modelVersion: '' };

function decode(
  shape: readonly number[],
  bytes: number,
  { datatype = 'FP32', isBatching = false }: { datatype?: Datatype; isBatching?: boolean } = {},
) {
  const inputs = [{ name: 'x', datatype, shape }];
  return decodeRawRequest({ target, body: new Uint8Array(bytes), inputs, isBatching });
}

describe('decodeRawRequest', () => {
  it.each<[readonly number[], number, Parameters<typeof decode>[2], readonly number[]]>([
    [[3], 12, {}, [3]],
    [[-1], 12, {}, [3]],
    [[2, -1], 24, {}, [2, 3]],
    [[2], 8, { isBatching: true }, [1, 2]],
    [[-1, 2], 16, { isBatching: true }, [1, 2, 2]],
    [[-1], 0, {}, [0]],
    [[-1], 6, { datatype: 'FP16' }, [3]],
    [[0, -1], 0, {}, [0, 0]],
    [[3], 8, {}, [3]],
  ])('shape %j and %i bytes with %j give %j', (shape, bytes, options, expected) => {
    const decoded = decode(shape, bytes, options);
    expect(decoded.inputs[0]?.shape).toEqual(expected);
    expect(decoded.inputs[0]?.data.byteLength).toBe(bytes);
    expect(decoded.format.isBinary('anything')).toBe(true);
    expect(decoded).toMatchObject({ id: '', requestedOutputs: [], signature: undefined });
  });

  it('puts the length in front of a BYTES element', () => {
    const inputs = [{ name: 'w', datatype: 'BYTES', shape: [1] }] as const;
    const decoded = decodeRawRequest({ target, body: Buffer.from('ab'), inputs, isBatching: true });
    expect(decoded.inputs[0]).toEqual({
      name: 'w',
      datatype: 'BYTES',
      shape: [1, 1],
      data: Buffer.from('\x02\0\0\0ab', 'latin1'),
    });
  });

  it('views the body', () => {
    const body = new Uint8Array(4);
    const inputs = [{ name: 'x', datatype: 'FP32', shape: [1] }] as const;
    expect(decodeRawRequest({ target, body, inputs, isBatching: false }).inputs[0]?.data).toBe(body);
  });

  it.each<[string, () => unknown, string]>([
    [
      'two inputs',
      () =>
        decodeRawRequest({
          target,
          body: new Uint8Array(4),
          inputs: Array(2).fill({ name: 'x', datatype: 'FP32', shape: [1] }),
          isBatching: false,
        }),
      'Raw request must only have 1 input (found 2)',
    ],
    [
      'no input',
      () => decodeRawRequest({ target, body: new Uint8Array(4), inputs: [], isBatching: false }),
      'Raw request must only have 1 input (found 0)',
    ],
    ['two variable dimensions', () => decode([-1, -1], 4), 'there are more than one variable-sized dimension'],
    ['bytes that give no whole dimension', () => decode([2, -1], 12), '12 bytes are no multiple of 8'],
    ['BYTES of another shape', () => decode([2], 4, { datatype: 'BYTES' }), 'the model must have input shape [1]'],
    ['BYTES of variable shape', () => decode([-1], 4, { datatype: 'BYTES' }), 'the model must have input shape [1]'],
  ])('refuses %s', (_, run, message) => {
    expect(run).toThrow(message);
  });

  it('refuses a body beyond the limit', () => {
    const inputs = [{ name: 'x', datatype: 'FP32', shape: [-1] }] as const;
    const limits = { maxRawBytes: 4, advice: 'Raise it.' };
    expect(() => decodeRawRequest({ target, body: new Uint8Array(8), inputs, isBatching: false, limits })).toThrow(
      'the body of the raw request has 8 bytes, more than the limit of 4. Raise it.',
    );
  });
});
