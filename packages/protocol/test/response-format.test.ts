import { encodeBytes, type InferenceResponse, type Tensor } from '@nereid/core';
import { describe, expect, it } from 'vitest';
import { decodeInferResponse, ResponseFormat } from '../src/index.ts';

const fp32 = (name: string, shape: number[], ...values: number[]): Tensor => ({
  name,
  datatype: 'FP32',
  shape,
  data: new Uint8Array(Float32Array.from(values).buffer),
});
const response = (...outputs: Tensor[]): InferenceResponse => ({ modelName: 'm', modelVersion: '1', outputs });
const json = new ResponseFormat({ listed: new Map(), binaryByDefault: false });

describe('ResponseFormat', () => {
  it('encodes the example of the reference', () => {
    const { header, headerLength, byteLength, blobs } = ResponseFormat.binary.encode(
      response(fp32('Y', [1, 3], 1, 2, 3)),
      '7',
    );
    expect(header).toBe(
      '{"id":"7","model_name":"m","model_version":"1","outputs":[{"name":"Y","datatype":"FP32","shape":[1,3],' +
        '"parameters":{"binary_data_size":12}}]}',
    );
    expect([headerLength, byteLength, blobs.length]).toEqual([header.length, header.length + 12, 1]);
  });

  it('prints outputs as flat JSON arrays and has no header length then', () => {
    const header =
      '{"model_name":"m","model_version":"1","outputs":[{"name":"a","datatype":"FP32","shape":[2,2],' +
      '"data":[1.0,2.5,0.10000000149011612,-0.0]}]}';
    const encoded = json.encode(response(fp32('a', [2, 2], 1, 2.5, 0.1, -0)), '');
    expect(encoded).toEqual({ header, blobs: [], byteLength: header.length, headerLength: undefined });
  });

  it('tells an output in shared memory by name, datatype and shape alone', () => {
    const format = new ResponseFormat({ listed: new Map([['a', 'memory']]), binaryByDefault: false });
    const output = { ...fp32('a', [2], 1, 2), data: Buffer.alloc(0) };
    expect(format.encode(response(output), '')).toMatchObject({
      header: expect.stringContaining('"outputs":[{"name":"a","datatype":"FP32","shape":[2]}]}'),
      blobs: [],
      headerLength: undefined,
    });
  });

  it('mixes both forms by output, blobs in the order of the outputs, as views', () => {
    const format = new ResponseFormat({
      listed: new Map([
        ['a', 'binary'],
        ['b', 'json'],
        ['c', 'binary'],
      ]),
      binaryByDefault: false,
    });
    const [a, b, c] = [fp32('a', [1], 1), fp32('b', [1], 2), fp32('c', [1], 3)] as const;
    const { header, blobs } = format.encode(response(c, b, a), '');
    expect(JSON.parse(header).outputs.map((output: { name: string }) => output.name)).toEqual(['c', 'b', 'a']);
    expect(JSON.parse(header).outputs[1]).toEqual({ name: 'b', datatype: 'FP32', shape: [1], data: [2] });
    expect(blobs[0]).toBe(c.data);
    expect(blobs[1]).toBe(a.data);
  });

  it.each([
    ['JSON', json, '"data":[]'],
    ['binary', ResponseFormat.binary, '"parameters":{"binary_data_size":0}'],
  ])('sends an empty output as %s without a header length', (_, format, text) => {
    const encoded = format.encode(response(fp32('a', [0])), '');
    expect(encoded.header).toContain(text);
    expect([encoded.blobs, encoded.headerLength]).toEqual([[], undefined]);
  });

  it('prints parameters of the model with their types', () => {
    const parameters = new Map<string, string | number | bigint | boolean>([
      ['s', 'a"b'],
      ['i', 3],
      ['f', 1.5],
      ['b', false],
      ['big', 9007199254740993n],
    ]);
    const { header } = json.encode({ ...response(), parameters }, '');
    expect(header).toBe(
      '{"model_name":"m","model_version":"1","parameters":{"s":"a\\"b","i":3,"f":1.5,"b":false,"big":9007199254740993},"outputs":[]}',
    );
  });

  it('counts bytes, not characters, of ids and names beyond ASCII', () => {
    const { header, byteLength, headerLength } = ResponseFormat.binary.encode(response(fp32('é😀', [1], 1)), 'ü"\n');
    const bytes = Buffer.from(header, 'latin1');
    expect(JSON.parse(bytes.toString('utf8'))).toMatchObject({ id: 'ü"\n', outputs: [{ name: 'é😀' }] });
    expect([byteLength, headerLength]).toEqual([bytes.length + 4, bytes.length]);
  });

  it('encodes from memory what it encodes anew: other shapes, sizes, versions, names, ids', () => {
    const answers = [
      response(fp32('a', [1, 2], 1, 2)),
      response(fp32('a', [2, 1], 1, 2)),
      response(fp32('a', [1, 3], 1, 2, 3)),
      response(fp32('b', [1, 2], 1, 2)),
      response({ ...fp32('a', [1, 2], 1, 2), datatype: 'INT32' }),
      { ...response(fp32('a', [1, 2], 1, 2)), modelVersion: '2' },
      { ...response(fp32('a', [1, 2], 1, 2)), modelName: 'n' },
      { ...response(fp32('a', [1, 2], 1, 2)), parameters: new Map([['p', 1]]) },
      response(fp32('a', [1, 2], 1, 2), fp32('b', [1], 3)),
      response(),
    ];
    const warm = new ResponseFormat({ listed: new Map(), binaryByDefault: true });
    for (let round = 0; round < 3; round++) {
      for (const answer of answers) {
        for (const id of ['', 'x']) {
          const cold = new ResponseFormat({ listed: new Map(), binaryByDefault: true });
          expect(warm.encode(answer, id)).toEqual(cold.encode(answer, id));
          expect(warm.encode(answer, id)).toEqual(cold.encode(answer, id));
        }
      }
    }
  });

  it('refuses FP16 and BF16 outputs as JSON', () => {
    for (const datatype of ['FP16', 'BF16'] as const) {
      const answer = response({ name: 'h', datatype, shape: [1], data: new Uint8Array(2) });
      expect(() => json.encode(answer, '')).toThrow('via JSON is not supported');
      expect(ResponseFormat.binary.encode(answer, '').blobs).toHaveLength(1);
    }
  });
});

describe('decodeInferResponse', () => {
  it('reads back both forms', () => {
    const format = new ResponseFormat({
      listed: new Map([
        ['a', 'binary'],
        ['w', 'json'],
      ]),
      binaryByDefault: false,
    });
    const words: Tensor = { name: 'w', datatype: 'BYTES', shape: [2], data: encodeBytes(['é', '']) };
    const answer = { ...response(fp32('a', [1, 2], 1, 2), words), parameters: new Map([['p', 1.5]]) };
    const { header, blobs, headerLength } = format.encode(answer, 'id-1');
    const body = Buffer.concat([Buffer.from(header, 'latin1'), ...blobs]);
    const decoded = decodeInferResponse({ body, headerLength });
    expect(decoded).toMatchObject({ id: 'id-1', modelName: 'm', modelVersion: '1', parameters: new Map([['p', 1.5]]) });
    expect(decoded.outputs.map((output) => ({ ...output, data: Uint8Array.from(output.data) }))).toEqual(
      answer.outputs.map((output) => ({ ...output, data: Uint8Array.from(output.data) })),
    );
  });

  it.each([
    ['{"model_name":"m"}', "Unable to parse 'outputs'"],
    ['{"outputs":[]}', "Unable to parse 'model_name' of the response"],
    [
      '{"model_name":"m","outputs":[{"name":"a","datatype":"FP32","shape":[1],"parameters":{"binary_data_size":4}}]}',
      'the body ends 4 bytes earlier',
    ],
    ['{"model_name":"m","outputs":[{"name":"a","datatype":"FP99","shape":[1],"data":[1]}]}', "data-type 'FP99'"],
    ['{"model_name":"m","outputs":[],"parameters":1}', "Unable to parse 'parameters' of the response"],
  ])('refuses %s', (text, message) => {
    expect(() => decodeInferResponse({ body: Buffer.from(text), headerLength: undefined })).toThrow(message);
  });

  it('refuses bytes behind the last output', () => {
    const body = Buffer.from('{"model_name":"m","outputs":[]}xx');
    expect(() => decodeInferResponse({ body, headerLength: body.length - 2 })).toThrow(
      '2 bytes follow the last binary output',
    );
  });
});
