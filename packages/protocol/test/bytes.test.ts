/** Clients run where there is no Buffer: the same messages must come of it. */
import { DATATYPES, encodeBytes, isDatatype } from '@nereid/core';
import { afterEach, expect, it, vi } from 'vitest';
import * as withBuffer from '../src/index.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

async function withoutBuffer(): Promise<typeof withBuffer> {
  vi.resetModules();
  vi.stubGlobal('Buffer', undefined);
  try {
    return await import('../src/index.ts');
  } finally {
    vi.unstubAllGlobals();
  }
}

const texts = ['', 'plain', 'é😀 "quoted"\\ \u0000', '\ufeffmark', 'x'.repeat(20_000)];
const inputs = [
  { name: 'naïve', datatype: 'BYTES', shape: [5], data: encodeBytes(texts) } as const,
  { name: 'real', datatype: 'FP32', shape: [3], data: new Uint8Array(Float32Array.of(0.1, -1, 1e9).buffer) } as const,
  {
    name: 'wide',
    datatype: 'INT64',
    shape: [2],
    data: new Uint8Array(BigInt64Array.of(-(2n ** 63n), 7n).buffer),
  } as const,
];

it.each([true, false])('encodes a request to the same bytes, binary: %s', async (binary) => {
  const portable = await withoutBuffer();
  const message = { id: 'ä', inputs, binary, parameters: new Map([['k', 'ü']]), outputs: [{ name: 'naïve' }] };
  const [ours, expected] = [portable.encodeInferRequest(message), withBuffer.encodeInferRequest(message)];
  expect(ours).toEqual(expected);
  expect(new Uint8Array(portable.latin1Bytes(ours.header))).toEqual(
    new Uint8Array(Buffer.from(expected.header, 'latin1')),
  );
});

it('decodes an answer in JSON to the same tensors', async () => {
  const portable = await withoutBuffer();
  const { header } = withBuffer.encodeInferRequest({ inputs, binary: false });
  const text = header.replace('{"inputs"', '{"model_name":"m\\u00e9","outputs"');
  const body = new Uint8Array(Buffer.from(text, 'latin1'));
  const answer = portable.decodeInferResponse({ body, headerLength: undefined });
  expect(answer.modelName).toBe('mé');
  expect(answer.outputs.map(({ data, ...rest }) => ({ ...rest, data: new Uint8Array(data) }))).toEqual(
    inputs.map(({ data, ...rest }) => ({ ...rest, data: new Uint8Array(data) })),
  );
});

it('decodes binary answers of every datatype as views', async () => {
  const portable = await withoutBuffer();
  for (const datatype of Object.keys(DATATYPES).filter(isDatatype)) {
    const data =
      datatype === 'BYTES' ? encodeBytes(['a', 'bc']) : new Uint8Array(2 * DATATYPES[datatype].byteSize).fill(1);
    const { header } = withBuffer.ResponseFormat.binary.encode(
      { modelName: 'm', modelVersion: '1', outputs: [{ name: 'y', datatype, shape: [2], data }] },
      '',
    );
    const body = new Uint8Array([...Buffer.from(header, 'latin1'), ...data]);
    const [output] = portable.decodeInferResponse({ body, headerLength: header.length }).outputs;
    expect(output?.data).toEqual(data);
    expect(output?.data.buffer).toBe(body.buffer);
  }
});

it('reads any JSON without loss', async () => {
  const text = '{"a":[1,-9007199254740993,NaN,-Infinity,1.5],"a":0,"b":{"c":null,"d":"é\\ud83d\\ude00"},"e":true}';
  const expected = {
    a: [1, -9007199254740993n, Number.NaN, Number.NEGATIVE_INFINITY, 1.5],
    b: { c: null, d: 'é😀' },
    e: true,
  };
  for (const codec of [withBuffer, await withoutBuffer()]) {
    expect(codec.parseJson(text)).toEqual(expected);
    expect(() => codec.parseJson('[1')).toThrow("expected ',' or ']'");
  }
});
