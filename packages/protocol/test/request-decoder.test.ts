import { InferenceRequest, InferenceServerError } from '@nereid/core';
import { describe, expect, it } from 'vitest';
import { ProtocolError, RequestDecoder } from '../src/index.ts';

const target = { modelName: 'addsub', modelVersion: '' };
const decoder = new RequestDecoder();

/** Joins a header and blobs; `length` replaces the true header length. */
function message(header: object | string, blobs: readonly Uint8Array[] = [], length?: number) {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  return { target, body: Buffer.concat([text, ...blobs]), headerLength: length ?? text.length };
}

/** A message that is JSON only. */
function json(header: object | string) {
  return { ...message(header), headerLength: undefined };
}

function blob(...values: number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer);
}

const binaryTensor = (name: string, bytes: number, shape = [1, 3]) => ({
  name,
  datatype: 'FP32',
  shape,
  parameters: { binary_data_size: bytes },
});
const jsonTensor = (name: string, data: readonly unknown[], shape = [1, 3]) => ({
  name,
  datatype: 'FP32',
  shape,
  data,
});
const memoryTensor = (more: object, name = 'a') => ({
  name,
  datatype: 'FP32',
  shape: [1, 3],
  parameters: { shared_memory_region: 'r', shared_memory_byte_size: 12, ...more },
});
const A = jsonTensor('a', [1, 2, 3]);

function failureOf(run: () => unknown): ProtocolError {
  try {
    run();
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
  throw new Error('expected a ProtocolError');
}

describe('RequestDecoder', () => {
  it('splits the binary part in the order of the inputs, as views of the body', () => {
    const { body, headerLength } = message({ inputs: [binaryTensor('a', 12), binaryTensor('b', 8, [1, 2])] }, [
      blob(1, 2, 3),
      blob(4, 5),
    ]);
    const { inputs } = decoder.decode({ target, body, headerLength });
    expect(
      inputs.map(({ name, shape, data }) => [name, shape, data.byteOffset - body.byteOffset, data.byteLength]),
    ).toEqual([
      ['a', [1, 3], headerLength, 12],
      ['b', [1, 2], headerLength + 12, 8],
    ]);
    expect(inputs.every((input) => input.data.buffer === body.buffer)).toBe(true);
  });

  it('tells of tensors in shared memory, which take nothing of the binary part', () => {
    const header = {
      inputs: [memoryTensor({ shared_memory_offset: 24 }), binaryTensor('b', 12), memoryTensor({}, 'c')],
      outputs: [memoryTensor({ shared_memory_region: 's' }, 'y'), { name: 'z' }],
    };
    for (let i = 0; i < 2; i++) {
      const { inputs, requestedOutputs, sharedMemory, signature } = decoder.decode(message(header, [blob(1, 2, 3)]));
      expect(inputs.map(({ name, data }) => [name, data.byteLength])).toEqual([
        ['a', 0],
        ['b', 12],
        ['c', 0],
      ]);
      expect(sharedMemory).toEqual({
        inputs: new Map([
          ['a', { region: 'r', offset: 24, byteSize: 12 }],
          ['c', { region: 'r', offset: 0, byteSize: 12 }],
        ]),
        outputs: new Map([['y', { region: 's', offset: 0, byteSize: 12 }]]),
      });
      expect(requestedOutputs).toEqual(['y', 'z']);
      expect(signature).toBeDefined();
    }
    expect(decoder.decode(json({ inputs: [A] })).sharedMemory).toBeUndefined();
  });

  it('reads the example of the reference: one binary input, one JSON input, a binary output', () => {
    const header =
      '{"id":"7","inputs":[{"name":"A","datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":8}},' +
      '{"name":"B","datatype":"BYTES","shape":[1],"data":["x"]}],"outputs":[{"name":"Y","parameters":{"binary_data":true}}]}';
    const decoded = decoder.decode(message(header, [blob(1, 2)], 218));
    expect(decoded).toMatchObject({ modelName: 'addsub', id: '7', requestedOutputs: ['Y'] });
    expect(decoded.inputs[1]?.data).toEqual(Buffer.from([1, 0, 0, 0, 0x78]));
    expect(decoded.format.isBinary('Y')).toBe(true);
  });

  it('becomes an InferenceRequest as it is', () => {
    const decoded = decoder.decode(json({ id: 'r', parameters: { priority: 2 }, inputs: [A] }));
    const request = new InferenceRequest(decoded, { respond() {}, fail() {} });
    expect(request).toMatchObject({ id: 'r', priority: 2, modelVersion: '', requestedOutputs: [] });
  });

  it('ignores members it does not know, at every level', () => {
    const header = {
      extra: [{ deep: {} }],
      inputs: [{ ...A, extra: { data: [] } }],
      outputs: [{ name: 'y', extra: 1 }],
    };
    expect(decoder.decode(json(header)).requestedOutputs).toEqual(['y']);
  });

  it('reads members in any order', () => {
    const header = '{"outputs":[],"inputs":[{"data":[1],"shape":[1],"datatype":"INT64","name":"a"}],"id":"z"}';
    expect(decoder.decode(json(header))).toMatchObject({ id: 'z', inputs: [{ name: 'a', datatype: 'INT64' }] });
  });

  it('takes the first of a repeated member', () => {
    const header =
      '{"id":"first","id":7,"inputs":[{"name":"a","name":"b","datatype":"INT8","shape":[1],"data":[1],"data":[2,3]}]}';
    const { id, inputs } = decoder.decode(json(header));
    expect([id, inputs[0]?.name, inputs[0]?.data[0]]).toEqual(['first', 'a', 1]);
  });

  it('takes an empty binary input and one of no size', () => {
    expect(decoder.decode(message({ inputs: [binaryTensor('a', 0, [0])] })).inputs[0]?.data.byteLength).toBe(0);
  });

  it('leaves an empty list of inputs to the engine', () => {
    expect(decoder.decode(json({ inputs: [] })).inputs).toEqual([]);
  });

  describe('parameters', () => {
    const parametersOf = (parameters: string) => decoder.decode(json(`{"parameters":${parameters},"inputs":[]}`));

    it.each<[string, object]>([
      [
        '{"sequence_id":5,"sequence_start":true,"sequence_end":false}',
        { correlationId: 5, sequenceStart: true, sequenceEnd: false },
      ],
      ['{"sequence_id":18446744073709551615}', { correlationId: 18446744073709551615n }],
      ['{"sequence_id":"abc"}', { correlationId: 'abc' }],
      ['{"priority":3,"timeout":1000000}', { priority: 3, timeoutMicroseconds: 1000000 }],
      ['{}', { correlationId: 0, priority: 0, timeoutMicroseconds: 0, sequenceStart: false, sequenceEnd: false }],
    ])('%s', (text, expected) => {
      expect(parametersOf(text)).toMatchObject(expected);
      expect(parametersOf(text).parameters.size).toBe(0);
    });

    it('passes everything else on, typed', () => {
      const text = '{"s":"x","i":3,"f":1.5,"b":true,"big":9007199254740993,"one":1.0}';
      expect([...parametersOf(text).parameters]).toEqual([
        ['s', 'x'],
        ['i', 3],
        ['f', 1.5],
        ['b', true],
        ['big', 9007199254740993n],
        ['one', 1],
      ]);
    });

    it.each([
      ['{"triton_x":1}', "parameter 'triton_x': the prefix 'triton_' is reserved"],
      ['{"sequence_id":-1}', "parameter 'sequence_id' of the request must be an unsigned integer, found -1"],
      ['{"sequence_id":1.5}', 'must be an unsigned integer, found the number 1.5'],
      ['{"sequence_start":1}', "parameter 'sequence_start' of the request must be a boolean, found 1"],
      ['{"sequence_end":"true"}', "parameter 'sequence_end' of the request must be a boolean, found a string"],
      ['{"priority":"1"}', "parameter 'priority' of the request must be an unsigned integer, found a string"],
      ['{"timeout":-5}', "parameter 'timeout' of the request must be an unsigned integer"],
      ['{"binary_data_output":0}', "parameter 'binary_data_output' of the request must be a boolean"],
      ['{"x":{}}', 'found an object'],
      ['{"x":[]}', '(invalid type), found an array'],
      ['{"x":null}', '(invalid type), found null'],
      ['[]', "Unable to parse 'parameters' of the request: expected an object, found an array"],
    ])('refuses %s', (text, message) => {
      expect(failureOf(() => parametersOf(text)).message).toContain(message);
    });
  });

  describe('output format', () => {
    const formatOf = (request: object) => decoder.decode(json({ inputs: [], ...request })).format;

    it.each<[string, object, boolean]>([
      ['no outputs: JSON', {}, false],
      ['no outputs, binary_data_output: binary', { parameters: { binary_data_output: true } }, true],
      ['empty outputs, binary_data_output: binary', { outputs: [], parameters: { binary_data_output: true } }, true],
      ['listed with binary_data: binary', { outputs: [{ name: 'y', parameters: { binary_data: true } }] }, true],
      ['listed without binary_data: JSON', { outputs: [{ name: 'y' }] }, false],
      [
        'listed without binary_data, binary_data_output: JSON all the same',
        { outputs: [{ name: 'y' }], parameters: { binary_data_output: true } },
        false,
      ],
      [
        'classification 0 is off',
        { outputs: [{ name: 'y', parameters: { classification: 0, binary_data: true } }] },
        true,
      ],
    ])('%s', (_, request, expected) => {
      expect(formatOf(request).isBinary('y')).toBe(expected);
    });

    it('classes are wanted of the outputs that say so', () => {
      const classesOf = (...outputs: readonly object[]) => decoder.decode(json({ inputs: [A], outputs })).classes;
      const asks = (name: string, classification: unknown) => ({ name, parameters: { classification } });
      expect(classesOf(asks('y', 3), asks('z', 0), { name: 'w' })).toEqual(new Map([['y', 3]]));
      expect(classesOf(asks('y', 2 ** 40))).toEqual(new Map([['y', 2 ** 40]]));
      expect(classesOf(asks('z', 0))).toBeUndefined();
    });

    it.each<[object, string, string]>([
      [
        { name: 'y', parameters: { classification: -1 } },
        'INVALID_ARG',
        "'classification' of output 'y' must be an unsigned integer",
      ],
      [{ name: 'y', parameters: { binary_data: 1 } }, 'INVALID_ARG', "'binary_data' of output 'y' must be a boolean"],
      [
        { name: 'y', parameters: { shared_memory_region: 'r' } },
        'INVALID_ARG',
        "output 'y' names a 'shared_memory_region' without 'shared_memory_byte_size'",
      ],
      [{ name: 'y', parameters: { shared_memory_region: 'r', binary_data: true } }, 'INVALID_ARG', 'cannot combine'],
      [{ name: 'y', parameters: { shared_memory_region: 'r', classification: 1 } }, 'INVALID_ARG', 'cannot combine'],
      [{ parameters: {} }, 'INVALID_ARG', "Unable to parse 'name' of output 0"],
      [{ name: 'y', parameters: 1 }, 'INVALID_ARG', "Unable to parse 'parameters' of output 'y'"],
    ])('refuses %j', (output, code, message) => {
      const error = failureOf(() => formatOf({ outputs: [output] }));
      expect([error.code, error.message]).toEqual([code, expect.stringContaining(message)]);
    });
  });

  it.each<[string, object | string, string, string]>([
    ['empty body', '', 'bad-json', 'expected an object, found the end at offset 0'],
    ['no JSON', 'hello', 'bad-json', "expected an object, found 'h'"],
    ['truncated JSON', '{"inputs":[', 'bad-json', 'found the end at offset 11'],
    ['an array', '[]', 'bad-json', 'expected an object'],
    ['no inputs', {}, 'bad-member', "Unable to parse 'inputs' of the message: expected an array, found nothing"],
    ['inputs null', { inputs: null }, 'bad-member', "Unable to parse 'inputs'"],
    ['an input that is no object', { inputs: [1] }, 'bad-member', 'expected an array of objects, found 1'],
    [
      'input without name',
      { inputs: [{ shape: [1], datatype: 'FP32', data: [1] }] },
      'bad-member',
      "Unable to parse 'name' of input 0",
    ],
    [
      'name is a number',
      { inputs: [{ ...A, name: 1 }] },
      'bad-member',
      "Unable to parse 'name' of input 0: expected a string, found 1",
    ],
    [
      'input without shape',
      { inputs: [{ name: 'a', datatype: 'FP32', data: [1] }] },
      'bad-member',
      "Unable to parse 'shape' of input 'a'",
    ],
    [
      'shape of strings',
      { inputs: [{ ...A, shape: ['1', '3'] }] },
      'bad-member',
      "Unable to parse 'shape' of input 'a'",
    ],
    [
      'shape with a fraction',
      '{"inputs":[{"name":"a","shape":[1.0],"datatype":"FP32","data":[1]}]}',
      'bad-member',
      "Unable to parse 'shape'",
    ],
    [
      'negative dimension',
      { inputs: [{ ...A, shape: [-1, 3] }] },
      'bad-member',
      "Unable to parse 'shape' of input 'a': expected dimensions of 0 or more, found -1",
    ],
    [
      'huge dimension',
      '{"inputs":[{"name":"a","shape":[9223372036854775807,3],"datatype":"FP32","data":[1]}]}',
      'limit',
      'overflows',
    ],
    ['huge product', { inputs: [{ ...A, shape: [2 ** 40, 2 ** 40] }] }, 'limit', 'overflows'],
    [
      'no datatype',
      { inputs: [{ name: 'a', shape: [1], data: [1] }] },
      'bad-member',
      "Unable to parse 'datatype' of input 'a'",
    ],
    [
      'unknown datatype',
      { inputs: [{ ...A, datatype: 'FLOAT' }] },
      'bad-member',
      "data-type 'FLOAT' of input 'a' is unknown",
    ],
    ['input twice', { inputs: [A, A] }, 'duplicate', "input 'a' already exists in request"],
    [
      'output twice',
      { inputs: [A], outputs: [{ name: 'y' }, { name: 'y' }] },
      'duplicate',
      "output 'y' already exists in request",
    ],
    [
      'id is a number',
      { id: 7, inputs: [A] },
      'bad-member',
      "Unable to parse 'id' of the request: expected a string, found 7",
    ],
    [
      'no data',
      { inputs: [{ name: 'a', datatype: 'FP32', shape: [1, 3] }] },
      'bad-size',
      "input 'a' must bring its data in exactly one way, found 0",
    ],
    [
      'data and binary size',
      { inputs: [{ ...A, parameters: { binary_data_size: 12 } }] },
      'bad-size',
      'exactly one way, found 2',
    ],
    [
      'data and shared memory',
      { inputs: [{ ...A, parameters: { shared_memory_region: 'r' } }] },
      'bad-size',
      'found 2',
    ],
    [
      'negative binary size',
      { inputs: [binaryTensor('a', -1)] },
      'bad-parameter',
      "parameter 'binary_data_size' of input 'a' must be a number of bytes, found -1",
    ],
    [
      'binary size as text',
      { inputs: [{ ...A, data: undefined, parameters: { binary_data_size: '12' } }] },
      'bad-parameter',
      "'binary_data_size' of input 'a'",
    ],
    [
      'shared memory without a size',
      { inputs: [{ name: 'a', datatype: 'FP32', shape: [1], parameters: { shared_memory_region: 'r' } }] },
      'bad-parameter',
      "input 'a' names a 'shared_memory_region' without 'shared_memory_byte_size'",
    ],
    [
      'shared memory at a negative offset',
      { inputs: [memoryTensor({ shared_memory_offset: -4 })] },
      'bad-parameter',
      "parameter 'shared_memory_offset' of input 'a' must be an unsigned integer",
    ],
    [
      'shared memory whose region is a number',
      { inputs: [memoryTensor({ shared_memory_region: 1 })] },
      'bad-parameter',
      "parameter 'shared_memory_region' of input 'a' must be a string",
    ],
    [
      'binary input without binary part',
      { inputs: [binaryTensor('a', 12)] },
      'bad-size',
      "unexpected size for input 'a': its 'binary_data_size' is 12, the body ends 12 bytes earlier",
    ],
    ['FP16 as JSON', { inputs: [{ ...A, datatype: 'FP16' }] }, 'not-json', 'via JSON is not supported'],
    ['outputs is no array', { inputs: [A], outputs: {} }, 'bad-member', "Unable to parse 'outputs'"],
  ])('refuses a body with: %s', (_, header, reason, text) => {
    const error = failureOf(() => decoder.decode(json(header)));
    expect([error.reason, error.message]).toEqual([reason, expect.stringContaining(text)]);
    expect(error).toBeInstanceOf(InferenceServerError);
    expect(error.code).toBe('INVALID_ARG');
  });

  it('names the first failure in the order id, parameters, inputs, outputs, binary part', () => {
    const parts = [
      ['"id":7', "'id'"],
      ['"parameters":{"triton_a":1}', 'triton_a'],
      ['"inputs":[{"name":"a","shape":[1],"datatype":"X","parameters":{"binary_data_size":4}}]', "data-type 'X'"],
      ['"outputs":[{}]', 'output 0'],
    ] as const;
    for (let first = 0; first < parts.length; first++) {
      const members: string[] = parts.slice(first).map(([text]) => text);
      if (first > 2)
        members.push('"inputs":[{"name":"a","shape":[1],"datatype":"FP32","parameters":{"binary_data_size":4}}]');
      const error = failureOf(() => decoder.decode(json(`{${members.reverse().join(',')}}`)));
      expect(error.message).toContain(parts[first]?.[1]);
    }
  });

  describe('framing', () => {
    const header = { inputs: [binaryTensor('a', 12), binaryTensor('b', 12)] };
    const [first, second] = [blob(1, 2, 3), blob(1, 1, 1)];

    it.each<[string, ReturnType<typeof message>, string]>([
      [
        'body short',
        message(header, [first, second.subarray(0, 8)]),
        "unexpected size for input 'b': its 'binary_data_size' is 12, the body ends 4 bytes earlier",
      ],
      [
        'body long',
        message(header, [first, second, Buffer.from('xx')]),
        "unexpected additional input data for model 'addsub': 2 bytes",
      ],
      ['header length too big', message(header, [first, second], 100_000), 'inference header size should be in range'],
      ['header length negative', message(header, [first, second], -1), 'inference header size should be in range'],
      [
        'header length not a number',
        message(header, [first, second], Number.NaN),
        'inference header size should be in range',
      ],
      ['header length too small', message(header, [first, second], 10), 'failed to parse the request JSON buffer'],
      [
        'header length into the binary part',
        message(header, [first, second], JSON.stringify(header).length + 1),
        'failed to parse the request JSON buffer: expected the end',
      ],
      [
        'sizes beyond any body',
        message({ inputs: [binaryTensor('a', Number.MAX_SAFE_INTEGER)] }, [first]),
        "unexpected size for input 'a'",
      ],
      [
        'sizes that overflow together',
        message({ inputs: [binaryTensor('a', 2 ** 53 - 1), binaryTensor('b', 2 ** 53 - 1)] }, [first]),
        "unexpected size for input 'a'",
      ],
    ])('refuses: %s', (_, request, text) => {
      expect(failureOf(() => decoder.decode(request)).message).toContain(text);
    });
  });

  describe('limits', () => {
    const limited = new RequestDecoder({
      limits: { maxHeaderBytes: 300, maxTensors: 2, maxJsonValues: 40, advice: 'Raise it.' },
    });

    it.each<[string, object, string]>([
      [
        'header bytes',
        { id: 'x'.repeat(400), inputs: [] },
        'the JSON header has 421 bytes, more than the limit of 300. Raise it.',
      ],
      ['tensors', { inputs: [{}, {}, {}] }, "'inputs' has 3 entries, more than the limit of 2"],
      ['values', { inputs: [], parameters: { a: Array(40).fill(0) } }, 'the JSON header holds too many values'],
    ])('refuses too many %s', (_, header, text) => {
      expect(failureOf(() => limited.decode(json(header)))).toMatchObject({ reason: 'limit', message: text });
    });

    it('does not count the binary part', () => {
      const request = message({ inputs: [binaryTensor('a', 4000, [1000])] }, [new Uint8Array(4000)]);
      expect(limited.decode(request).inputs[0]?.data.byteLength).toBe(4000);
    });

    it('refuses JSON 10 000 levels deep anywhere', () => {
      const deep = '['.repeat(10_000) + ']'.repeat(10_000);
      for (const text of [`{"x":${deep}}`, `{"inputs":[{"data":${deep}}]}`, `{"parameters":{"p":${deep}}}`, deep]) {
        expect(failureOf(() => decoder.decode(json(text))).reason).toBe('bad-json');
      }
    });
  });
});
