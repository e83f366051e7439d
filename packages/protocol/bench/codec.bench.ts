/** One request in, one answer out: the cached path that repeated binary requests take, the uncached one, and large JSON tensors. */
import type { InferenceResponse } from '@nereid/core';
import { bench, describe } from 'vitest';
import { decodeInferResponse, encodeInferRequest, RequestDecoder } from '../src/index.ts';

const target = { modelName: 'mlp', modelVersion: '' };
const input = { name: 'INPUT__0', datatype: 'FP32', shape: [1, 64], data: new Uint8Array(256) } as const;
const output = { name: 'OUTPUT__0', datatype: 'FP32', shape: [1, 10], data: new Uint8Array(40) } as const;
const response: InferenceResponse = { modelName: 'mlp', modelVersion: '1', outputs: [output] };

function body(message: Parameters<typeof encodeInferRequest>[0]) {
  const { header, blobs, headerLength } = encodeInferRequest(message);
  return { target, body: Buffer.concat([Buffer.from(header, 'latin1'), ...blobs]), headerLength };
}

const plain = body({ inputs: [input] });
const numbered = Array.from({ length: 1024 }, (_, i) => body({ id: `request-${i}`, inputs: [input] }));
const cached = new RequestDecoder();
const uncached = new RequestDecoder({ cachedHeaders: 0 });
let turn = 0;

describe('small binary request', () => {
  bench('decode, header seen before', () => {
    cached.decode(plain);
  });
  bench('decode, header seen before but for its id', () => {
    cached.decode(numbered[turn++ & 1023] ?? plain);
  });
  bench('decode, header new', () => {
    uncached.decode(plain);
  });
  const { format } = cached.decode(plain);
  bench('encode the answer', () => {
    format.encode(response, '');
  });
  bench('encode the answer with an id', () => {
    format.encode(response, 'request-17');
  });
  bench('decode and encode', () => {
    const request = cached.decode(plain);
    request.format.encode(response, request.id);
  });
});

const COUNT = 100_000;
const reals = Float32Array.from({ length: COUNT }, (_, i) => Math.sin(i));
const large = { name: 'x', datatype: 'FP32', shape: [COUNT], data: new Uint8Array(reals.buffer) } as const;
const integers = {
  name: 'x',
  datatype: 'INT32',
  shape: [COUNT],
  data: new Uint8Array(Int32Array.from(reals, (v) => v * 1e6).buffer),
} as const;
const asJson = body({ inputs: [large], binary: false });
const integersAsJson = body({ inputs: [integers], binary: false });

describe(`JSON tensor of ${COUNT} elements`, () => {
  bench('decode FP32', () => {
    uncached.decode({ ...asJson, headerLength: undefined });
  });
  bench('JSON.parse and copy FP32, for comparison', () => {
    Float32Array.from(JSON.parse(asJson.body.toString('utf8')).inputs[0].data);
  });
  bench('decode INT32', () => {
    uncached.decode({ ...integersAsJson, headerLength: undefined });
  });
  bench('JSON.parse and copy INT32, for comparison', () => {
    Int32Array.from(JSON.parse(integersAsJson.body.toString('utf8')).inputs[0].data);
  });
  bench('encode FP32', () => {
    encodeInferRequest({ inputs: [large], binary: false });
  });
  bench('JSON.stringify FP32, for comparison', () => {
    JSON.stringify([...reals]);
  });
  bench('decode an answer of FP32', () => {
    const text = asJson.body.toString('latin1').replace('{"inputs"', '{"model_name":"m","outputs"');
    decodeInferResponse({ body: Buffer.from(text, 'latin1'), headerLength: undefined });
  });
});
