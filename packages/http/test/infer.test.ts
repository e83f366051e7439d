import { DATATYPES, type Datatype, encodeBytes, tensorFrom } from '@nereid/core';
import { decodeInferResponse } from '@nereid/protocol';
import { tensor } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADD_SUB_JSON, binaryBody, binaryInput, f32, type Served, serve } from './fixture.ts';

const ADD = '/v2/models/addsub/infer';

describe.each([
  ['through the server factory', true],
  ["through fastify's router", false],
])('infer %s', (_, factory) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve({ factory });
  });
  afterAll(() => served[Symbol.asyncDispose]());

  async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
    const bytes =
      body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const answer = await fetch(served.url + path, {
      method: 'POST',
      body: bytes.length === 0 ? null : Buffer.from(bytes),
      headers: { 'accept-encoding': 'identity', ...headers },
    });
    const content = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, headers: answer.headers, content, json: () => JSON.parse(content.toString()) };
  }

  it('answers JSON with JSON', async () => {
    const answer = await post(ADD, { id: 'r-1', ...ADD_SUB_JSON });
    expect(answer.content.toString()).toBe(
      '{"id":"r-1","model_name":"addsub","model_version":"3","outputs":[' +
        '{"name":"OUTPUT__0","datatype":"FP32","shape":[1,3],"data":[1.0,2.0,3.0]},' +
        '{"name":"OUTPUT__1","datatype":"FP32","shape":[1,3],"data":[-1.0,0.0,1.0]}]}',
    );
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(answer.headers.get('inference-header-content-length')).toBeNull();
    expect(answer.headers.get('content-length')).toBe(String(answer.content.length));
  });

  it('answers in the forms asked for, blobs behind the header', async () => {
    const header = {
      inputs: [binaryInput('a', 'FP32', [1, 3], 12), binaryInput('b', 'FP32', [1, 3], 12)],
      outputs: [{ name: 'OUTPUT__0', parameters: { binary_data: true } }, { name: 'OUTPUT__1' }],
    };
    const { body, headers } = binaryBody(header, f32(1, 2, 3), f32(1, 1, 1));
    const answer = await post(ADD, body, headers);
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    const length = Number(answer.headers.get('inference-header-content-length'));
    expect(JSON.parse(answer.content.toString('latin1', 0, length)).outputs).toEqual([
      { name: 'OUTPUT__0', datatype: 'FP32', shape: [1, 3], parameters: { binary_data_size: 12 } },
      { name: 'OUTPUT__1', datatype: 'FP32', shape: [1, 3], data: [0, 1, 2] },
    ]);
    expect(answer.content.subarray(length)).toEqual(f32(2, 3, 4));
  });

  const values: Record<Datatype, Parameters<typeof tensor>[0]['values']> = {
    BOOL: [true, false, true],
    UINT8: [0, 1, 255],
    UINT16: [0, 65535],
    UINT32: [4294967295],
    UINT64: [18446744073709551615n],
    INT8: [-128, 127],
    INT16: [-32768],
    INT32: [-2147483648],
    INT64: [-9223372036854775808n, 9007199254740993n],
    FP16: [0x3800],
    FP32: [0.5, -2.25, 3e38],
    FP64: [0.1, -1e300, 5e-324],
    BYTES: ['', 'héllo', 'a\0b'],
    BF16: [0x3f80],
  };

  it.each(Object.keys(DATATYPES) as Datatype[])('gives %s back bit for bit, as binary data', async (datatype) => {
    const input = tensor({ name: 'x', datatype, values: values[datatype] });
    const header = {
      inputs: [binaryInput('x', datatype, input.shape, input.data.byteLength)],
      parameters: { binary_data_output: true },
    };
    const { body, headers } = binaryBody(header, input.data);
    const path = `/v2/models/id_${datatype.toLowerCase()}/infer`;
    for (let round = 0; round < 2; round++) {
      const answer = await post(path, body, headers);
      const headerLength = Number(answer.headers.get('inference-header-content-length'));
      const { outputs } = decodeInferResponse({ body: answer.content, headerLength });
      expect(outputs.map((output) => ({ ...output, data: Buffer.from(output.data) }))).toEqual([
        { ...input, name: 'OUTPUT__0', data: Buffer.from(input.data) },
      ]);
    }
  });

  it.each([
    ['int64', 'INT64', '[-9223372036854775808,9007199254740993]'],
    ['fp32', 'FP32', '[0.5,3.0000000054977558e+38]'],
    ['fp32', 'FP32', '[NaN,Infinity]'],
    ['bytes', 'BYTES', '["héllo","a\\u0000b"]'],
    ['bool', 'BOOL', '[true,false]'],
  ])('gives %s back as JSON, text for text', async (name, datatype, data) => {
    const text = `{"inputs":[{"name":"x","datatype":"${datatype}","shape":[2],"data":${data}}]}`;
    const answer = await post(`/v2/models/id_${name}/infer`, text);
    expect(answer.content.toString()).toBe(
      `{"model_name":"id_${name}","model_version":"1","outputs":[{"name":"OUTPUT__0","datatype":"${datatype}","shape":[2],"data":${data}}]}`,
    );
  });

  it('answers with classes in place of outputs, as JSON or binary data, and refuses what has none', async () => {
    const asks = (parameters: object) => ({ outputs: [{ name: 'OUTPUT__0', parameters }], ...ADD_SUB_JSON });
    const told = await post(ADD, asks({ classification: 2 }));
    expect(told.json().outputs).toEqual([
      { name: 'OUTPUT__0', datatype: 'BYTES', shape: [1, 2], data: ['3.000000:2', '2.000000:1'] },
    ]);
    const binary = await post(ADD, asks({ classification: 1, binary_data: true }));
    const [{ parameters }] = JSON.parse(
      binary.content.toString('latin1', 0, Number(binary.headers.get('inference-header-content-length'))),
    ).outputs;
    expect(parameters).toEqual({ binary_data_size: 14 });
    const bools = {
      inputs: [{ name: 'x', datatype: 'BOOL', shape: [1], data: [true] }],
      outputs: [{ name: 'OUTPUT__0', parameters: { classification: 1 } }],
    };
    const refused = await post('/v2/models/id_bool/infer', bools);
    expect([refused.status, refused.json().error]).toEqual([
      400,
      expect.stringContaining('class result not available'),
    ]);
  });

  it.each([
    ['one', { inputs: [{ name: 'x', datatype: 'FP32', shape: [2], data: [1, 2] }] }],
    ['a malformed one too, as the model counts before the content', '{'],
  ])('refuses a request for a decoupled model: %s', async (_, body) => {
    const answer = await post('/v2/models/repeat/infer', body);
    expect([answer.status, answer.json().error]).toEqual([
      501,
      expect.stringContaining("doesn't support models with decoupled transaction policy"),
    ]);
  });

  it('takes a raw binary request and answers with binary data', async () => {
    const raw = { 'inference-header-content-length': '0' };
    const plain = await post('/v2/models/id_fp32/infer', f32(1, 2, 3), raw);
    const length = Number(plain.headers.get('inference-header-content-length'));
    expect(JSON.parse(plain.content.toString('latin1', 0, length)).outputs[0].shape).toEqual([3]);
    expect(plain.content.subarray(length)).toEqual(f32(1, 2, 3));
    const batching = await post('/v2/models/picky/infer', f32(1, 2), raw);
    const batchingLength = Number(batching.headers.get('inference-header-content-length'));
    expect(JSON.parse(batching.content.toString('latin1', 0, batchingLength)).outputs[0].shape).toEqual([1, 2]);
    const word = await post('/v2/models/id_bytes/infer', 'hello', raw);
    expect([word.status, word.json().error]).toEqual([
      400,
      expect.stringContaining('the model must have input shape [1]'),
    ]);
    expect((await post(ADD, f32(1, 2, 3), raw)).json().error).toContain('Raw request must only have 1 input');
  });

  it('takes versions, queries, percent-encoded names and any content type', async () => {
    for (const path of [
      '/v2/models/addsub/versions/1/infer',
      '/v2/models/addsub/versions/01/infer?x=%zz',
      '/v2/models/%61ddsub/versions/1/infer',
    ]) {
      const answer = await post(path, ADD_SUB_JSON, { 'content-type': 'text/weird' });
      expect(answer.json()).toMatchObject({ model_version: '1' });
    }
  });

  it.each<[string, string, unknown, Record<string, string>, number, string]>([
    ['unknown model', '/v2/models/nosuch/infer', ADD_SUB_JSON, {}, 404, 'nosuch'],
    ['unknown model before bad JSON', '/v2/models/nosuch/infer', 'x', {}, 404, 'nosuch'],
    [
      'unknown model before a bad encoding',
      '/v2/models/nosuch/infer',
      'x',
      { 'content-encoding': 'br' },
      404,
      'nosuch',
    ],
    ['unknown version', '/v2/models/addsub/versions/2/infer', ADD_SUB_JSON, {}, 404, 'addsub'],
    ['bad version', '/v2/models/addsub/versions/x/infer', ADD_SUB_JSON, {}, 404, 'Not Found'],
    ['empty body', ADD, '', {}, 400, 'failed to parse the request JSON buffer'],
    ['no JSON', ADD, 'hello', {}, 400, 'failed to parse the request JSON buffer'],
    ['missing input', ADD, { inputs: [ADD_SUB_JSON.inputs[0]] }, {}, 400, 'expected 2 inputs but got 1'],
    ['unknown output', ADD, { ...ADD_SUB_JSON, outputs: [{ name: 'z' }] }, {}, 400, 'unexpected inference output'],
    [
      'header length of words',
      ADD,
      ADD_SUB_JSON,
      { 'inference-header-content-length': 'abc' },
      400,
      "inference header size should be in range of the body, a number of bytes, got 'abc'",
    ],
    [
      'negative header length',
      ADD,
      ADD_SUB_JSON,
      { 'inference-header-content-length': '-1' },
      400,
      'inference header size should be in range',
    ],
    [
      'header length beyond the body',
      ADD,
      ADD_SUB_JSON,
      { 'inference-header-content-length': '100000' },
      400,
      'inference header size should be in range',
    ],
    [
      'FP16 as JSON answer',
      '/v2/models/id_fp16/infer',
      { inputs: [binaryInput('x', 'FP16', [0], 0)] },
      {},
      400,
      'via JSON is not supported',
    ],
    [
      'failing model',
      '/v2/models/picky/infer',
      { inputs: [{ name: 'x', datatype: 'FP32', shape: [1, 2], data: [-1, 0] }] },
      {},
      500,
      'negative',
    ],
    ['unknown encoding', ADD, ADD_SUB_JSON, { 'content-encoding': 'br' }, 501, "Unsupported Content-Encoding 'br'"],
  ])('refuses: %s', async (_name, path, body, headers, status, text) => {
    const answer = await post(path, body, headers);
    expect([answer.status, answer.json()]).toEqual([status, { error: expect.stringContaining(text) }]);
    expect(answer.headers.get('content-type')).toBe('application/json');
    if (status === 501) expect(answer.headers.get('accept-encoding')).toBe('gzip, deflate');
    expect((await post(ADD, ADD_SUB_JSON)).status).toBe(200);
  });

  it('tells the views of two requests with the same header apart', async () => {
    const header = { inputs: [binaryInput('x', 'FP32', [1], 4)], parameters: { binary_data_output: true } };
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const { body, headers } = binaryBody(header, f32(i));
        return (await post('/v2/models/id_fp32/infer', body, headers)).content.subarray(-4);
      }),
    );
    expect(answers).toEqual(Array.from({ length: 20 }, (_, i) => f32(i)));
  });

  it('moves tensors of megabytes', async () => {
    const data = Float32Array.from({ length: 1_000_000 }, (_, i) => i);
    const large = tensorFrom({ name: 'x', datatype: 'FP32', shape: [data.length] }, data);
    const header = {
      inputs: [binaryInput('x', 'FP32', large.shape, large.data.byteLength)],
      parameters: { binary_data_output: true },
    };
    const { body, headers } = binaryBody(header, large.data);
    const answer = await post('/v2/models/id_fp32/infer', body, headers);
    expect(answer.content.subarray(-large.data.byteLength).equals(large.data)).toBe(true);
  });

  it('answers words as binary data', async () => {
    const words = encodeBytes(['é', '']);
    const header = {
      inputs: [binaryInput('x', 'BYTES', [2], words.byteLength)],
      parameters: { binary_data_output: true },
    };
    const { body, headers } = binaryBody(header, words);
    const answer = await post('/v2/models/id_bytes/infer', body, headers);
    expect(answer.content.subarray(-words.byteLength)).toEqual(Buffer.from(words));
  });
});
