import { decodeBytes, elements, type InferenceResponse, type ParameterValue, tensorFrom } from '@nereid/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeGenerateRequest, encodeGenerateResponse, ProtocolError, type ProtocolLimits } from '../src/index.ts';

const target = { modelName: 'm', modelVersion: '' };

const INPUTS = [
  { name: 'text', datatype: 'BYTES', shape: [-1] },
  { name: 'n', datatype: 'INT32', shape: [1] },
  { name: 'grid', datatype: 'FP32', shape: [-1, 2, -1] },
  { name: 'half', datatype: 'FP16', shape: [-1] },
];

function decode(body: string | object, inputs = INPUTS, limits: Partial<ProtocolLimits> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return decodeGenerateRequest({ target, body: Buffer.from(text), inputs, limits });
}

function refusal(body: string | object, limits: Partial<ProtocolLimits> = {}) {
  try {
    decode(body, INPUTS, limits);
  } catch (thrown) {
    if (!(thrown instanceof ProtocolError)) throw thrown;
    return [thrown.code, thrown.reason, thrown.message];
  }
  return 'accepted';
}

describe('decodeGenerateRequest', () => {
  it('makes tensors of inputs and parameters of everything else', () => {
    const { inputs, parameters, ...rest } = decode({
      id: 'r1',
      text: 'hé',
      n: [2],
      stop: true,
      top: 3,
      temperature: 0.5,
      parameters: { format: 'json', n2: 2 },
    });
    const [text, n] = inputs;
    expect(inputs.map(({ name, datatype, shape }) => [name, datatype, shape])).toEqual([
      ['text', 'BYTES', [1]],
      ['n', 'INT32', [1]],
    ]);
    expect(text && decodeBytes(text.data).map((bytes) => Buffer.from(bytes).toString())).toEqual(['hé']);
    expect(n && elements({ ...n, datatype: 'INT32' })).toEqual(Int32Array.of(2));
    expect([...(parameters ?? [])]).toEqual([
      ['id', 'r1'],
      ['stop', true],
      ['top', 3],
      ['temperature', 0.5],
      ['format', 'json'],
      ['n2', 2],
    ]);
    expect(rest).toEqual({ ...target, id: 'r1', requestedOutputs: [] });
  });

  it.each<[string, object, readonly number[]]>([
    ['a value', { n: 1 }, [1]],
    ['a value for a variable dimension', { text: 'a' }, [1]],
    ['an array', { text: ['a', 'b', 'c'] }, [3]],
    ['the innermost of two variable dimensions', { grid: [1, 2, 3, 4, 5, 6] }, [1, 2, 3]],
    ['an empty array', { text: [] }, []],
    ['an empty array for fixed dimensions', { n: [] }, []],
    ['an input inside parameters', { parameters: { text: ['a', 'b'] } }, [2]],
  ])('gives %s a shape', (_, body, shape) => {
    expect(decode(body).inputs.map((input) => input.shape)).toEqual([shape]);
  });

  it('takes inputs that are called id and parameters as inputs', () => {
    const inputs = ['id', 'parameters'].map((name) => ({ name, datatype: 'INT64', shape: [-1] }));
    const decoded = decode({ id: 7, parameters: [8, 9] }, inputs);
    expect(decoded).toMatchObject({ id: '', inputs: [{ shape: [1] }, { shape: [2] }] });
    expect(decoded.parameters?.size).toBe(0);
  });

  it('gives scheduling keys no meaning', () => {
    const { parameters, ...decoded } = decode({ sequence_id: 5, priority: 2, timeout: 3 });
    expect([...(parameters ?? [])]).toEqual([
      ['sequence_id', 5],
      ['priority', 2],
      ['timeout', 3],
    ]);
    expect(decoded).not.toHaveProperty('correlationId');
    expect(decoded).not.toHaveProperty('priority');
  });

  it('counts the first of a repeated parameter', () => {
    const decoded = decode('{"a":1,"a":2,"id":"x","id":"y","parameters":{"a":3}}');
    expect([decoded.id, decoded.parameters?.get('a')]).toEqual(['x', 1]);
  });

  it('keeps 64-bit integers exact', () => {
    const inputs = [{ name: 'i', datatype: 'INT64', shape: [1] }];
    const decoded = decode('{"i":9007199254740993,"p":9007199254740995}', inputs);
    const [i] = decoded.inputs;
    expect(i && elements({ ...i, datatype: 'INT64' })).toEqual(BigInt64Array.of(9007199254740993n));
    expect(decoded.parameters?.get('p')).toBe(9007199254740995n);
  });

  it.each<[string, string | object, string, RegExp]>([
    ['no JSON', '{', 'bad-json', /expected a member name, found the end/],
    ['no object', '[]', 'bad-json', /expected an object/],
    ['something behind the object', '{} x', 'bad-json', /expected the end/],
    ['an id that is no string', { id: 7 }, 'bad-member', /'id' of the request: expected a string, found 7/],
    [
      'parameters that are no object',
      { parameters: 1 },
      'bad-member',
      /'parameters' of the request: expected an object/,
    ],
    ['an object as parameter', { p: { q: 1 } }, 'bad-parameter', /'p' .*found an object/],
    ['an array as parameter', { p: [1] }, 'bad-parameter', /'p' .*found an array/],
    ['null as parameter', { p: null }, 'bad-parameter', /'p' .*found null/],
    ['parameters within parameters', { parameters: { parameters: {} } }, 'bad-parameter', /'parameters' .*an object/],
    ['an object as input', { n: { x: 1 } }, 'bad-data', /no INT32 value/],
    ['null as input', { text: null }, 'bad-data', /no BYTES value: null/],
    ['an array of objects', { text: [{ x: 1 }] }, 'bad-data', /element 0 is no BYTES value/],
    ['an array of arrays', { text: [['a']] }, 'bad-data', /nested deeper than 1 level/],
    ['a value of another type', { text: 1 }, 'bad-data', /no BYTES value: 1/],
    ['a fraction for an integer', { n: 1.5 }, 'bad-data', /no INT32 value: 1.5/],
    ['too many values', { n: [1, 2] }, 'bad-data', /Shape does not match true shape/],
    ['values that fill no shape', { grid: [1, 2, 3] }, 'bad-data', /3 values are no multiple of 2/],
    ['an input with a repeated key', '{"n":1,"n":1}', 'duplicate', /input 'n' already exists in request/],
    ['an input in both places', { n: 1, parameters: { n: 1 } }, 'duplicate', /already exists in request/],
    ['FP16', { half: 1 }, 'not-json', /receiving FP16 data via JSON is not supported/],
  ])('refuses %s', (_, body, reason, message) => {
    expect(refusal(body)).toEqual(['INVALID_ARG', reason, expect.stringMatching(message)]);
  });

  it('bounds the body, and all tensors together', () => {
    const body = { n: 1, text: ['abcd'] };
    expect(refusal(body, { maxHeaderBytes: 10 })).toEqual([
      'INVALID_ARG',
      'limit',
      expect.stringMatching(/the JSON body has 23 /),
    ]);
    expect(refusal(body, { maxJsonTensorBytes: 12 })).toBe('accepted');
    expect(refusal(body, { maxJsonTensorBytes: 11 })).toEqual([
      'INVALID_ARG',
      'limit',
      expect.stringMatching(/all inputs together has 12 /),
    ]);
  });
});

function response(
  outputs: InferenceResponse['outputs'],
  parameters?: Record<string, ParameterValue>,
): InferenceResponse {
  const told = parameters === undefined ? {} : { parameters: new Map(Object.entries(parameters)) };
  return { modelName: 'm', modelVersion: '1', outputs, ...told };
}

const int32 = (name: string, shape: readonly number[], values: readonly number[]) =>
  tensorFrom({ name, datatype: 'INT32', shape }, Int32Array.from(values));

describe('encodeGenerateResponse', () => {
  it.each<[string, InferenceResponse, string, string]>([
    [
      'sorts outputs, parameters and names',
      response([int32('z', [1], [1]), int32('a', [2], [1, 2])], { p: 'x', b: 2n ** 63n }),
      'i',
      '{"a":[1,2],"b":9223372036854775808,"id":"i","model_name":"m","model_version":"1","p":"x","z":1}',
    ],
    ['leaves an empty id out', response([]), '', '{"model_name":"m","model_version":"1"}'],
    [
      'gives one element as a value',
      response([int32('o', [1, 1], [7])]),
      '',
      '{"model_name":"m","model_version":"1","o":7}',
    ],
    [
      'gives no elements as an array',
      response([int32('o', [0], [])]),
      '',
      '{"model_name":"m","model_version":"1","o":[]}',
    ],
    [
      'lets an output stand before the rest',
      response([int32('id', [1], [7])], { id: 'p' }),
      'i',
      '{"id":7,"model_name":"m","model_version":"1"}',
    ],
  ])('%s', (_, answer, id, expected) => {
    expect(encodeGenerateResponse(answer, id)).toBe(expected);
  });

  it('refuses what has no JSON form', () => {
    const half = { name: 'h', datatype: 'FP16', shape: [1], data: new Uint8Array(2) } as const;
    expect(() => encodeGenerateResponse(response([half]), '')).toThrow(/FP16/);
  });
});

describe('a round trip', () => {
  it('gives texts, numbers and flat arrays back as they were', () => {
    const values = fc.record({
      text: fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 5 }),
      n: fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { minLength: 1, maxLength: 5 }),
    });
    const inputs = INPUTS.map((input) => ({ ...input, shape: [-1] }));
    fc.assert(
      fc.property(values, (sent) => {
        const decoded = decode(sent, inputs);
        const text = encodeGenerateResponse(response(decoded.inputs), '');
        const got = JSON.parse(Buffer.from(text, 'latin1').toString());
        const one = (list: readonly unknown[]) => (list.length === 1 ? list[0] : list);
        expect([got.text, got.n]).toEqual([one(sent.text), one(sent.n)]);
      }),
      { seed: 16, numRuns: 100 },
    );
  });

  it('never throws anything but a refusal, whatever the bytes', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"n"',
      '"text"',
      '"id"',
      '"parameters"',
      ':',
      ',',
      '1',
      '-',
      'null',
      '"\\u',
      ' ',
      '\u00ff',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 24 }), (parts) => {
        expect(() => refusal(parts.join(''))).not.toThrow();
      }),
      { seed: 17, numRuns: 500 },
    );
  });
});
