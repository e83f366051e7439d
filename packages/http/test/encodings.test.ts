import { deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedEncoding, contentEncodingOf } from '../src/encodings.ts';
import { ADD_SUB_JSON, binaryBody, binaryInput, f32, type Served, serve } from './fixture.ts';

describe('acceptedEncoding', () => {
  it.each<[string | undefined, string]>([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['deflate', 'deflate'],
    ['GZIP', 'gzip'],
    ['gzip, deflate', 'gzip'],
    ['deflate, gzip', 'deflate'],
    ['gzip;q=0.5, deflate;q=0.8', 'deflate'],
    ['gzip;q=0.5, deflate ; q=0.5', 'gzip'],
    ['gzip;q=0.2, identity;q=0.5', 'identity'],
    ['gzip;q=0.2', 'gzip'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=x, deflate;q=0.1', 'deflate'],
    ['br, zstd', 'identity'],
    ['br;q=1, gzip;q=0.1', 'gzip'],
    ['*', 'identity'],
    [',,;q=1', 'identity'],
  ])('%j → %s', (header, expected) => {
    expect(acceptedEncoding(header)).toBe(expected);
  });
});

describe('contentEncodingOf', () => {
  it.each<[string | undefined, string]>([
    [undefined, 'identity'],
    [' ', 'identity'],
    ['identity', 'identity'],
    ['Gzip', 'gzip'],
    ['deflate', 'deflate'],
  ])('%j → %s', (header, expected) => {
    expect(contentEncodingOf(header)).toBe(expected);
  });

  it.each(['br', 'gzip, deflate', 'x'])('refuses %s', (header) => {
    expect(() => contentEncodingOf(header)).toThrow(`Unsupported Content-Encoding '${header}'`);
  });
});

describe('compressed inference', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serve({ maxInputBytes: 100_000 });
  });
  afterAll(() => served[Symbol.asyncDispose]());

  const json = Buffer.from(JSON.stringify(ADD_SUB_JSON));

  async function post(path: string, payload: Buffer, headers: Record<string, string>) {
    return served.app.inject({ method: 'POST', url: path, payload, headers });
  }
  const addsub = (payload: Buffer, headers: Record<string, string>) =>
    post('/v2/models/addsub/infer', payload, headers);

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
  ] as const)('takes %s bodies', async (encoding, pack) => {
    const answer = await addsub(pack(json), { 'content-encoding': encoding });
    expect([answer.statusCode, answer.json().model_name]).toEqual([200, 'addsub']);
  });

  it('counts the header length behind decompression', async () => {
    const header = { inputs: [binaryInput('x', 'FP32', [2], 8)], parameters: { binary_data_output: true } };
    const { body, headers } = binaryBody(header, f32(1, 2));
    const answer = await post('/v2/models/id_fp32/infer', gzipSync(body), { ...headers, 'content-encoding': 'gzip' });
    expect(answer.rawPayload.subarray(-8)).toEqual(f32(1, 2));
  });

  it.each([
    ['gzip', gunzipSync],
    ['deflate', inflateSync],
  ] as const)('answers in %s when asked to, header and blobs as one stream', async (encoding, unpack) => {
    const plain = await addsub(json, {});
    const packed = await addsub(json, { 'accept-encoding': encoding });
    expect(packed.headers['content-encoding']).toBe(encoding);
    expect(packed.headers['content-length']).toBe(String(packed.rawPayload.length));
    expect(unpack(packed.rawPayload)).toEqual(plain.rawPayload);
    const header = { inputs: [binaryInput('x', 'FP32', [2], 8)], parameters: { binary_data_output: true } };
    const { body, headers } = binaryBody(header, f32(1, 2));
    const binary = await post('/v2/models/id_fp32/infer', body, { ...headers, 'accept-encoding': encoding });
    const length = Number(binary.headers['inference-header-content-length']);
    const content = unpack(binary.rawPayload);
    expect(JSON.parse(content.toString('latin1', 0, length)).model_name).toBe('id_fp32');
    expect(content.subarray(length)).toEqual(f32(1, 2));
  });

  it('never compresses an error', async () => {
    const answer = await addsub(Buffer.from('x'), { 'accept-encoding': 'gzip' });
    expect([answer.statusCode, answer.headers['content-encoding']]).toEqual([400, undefined]);
    expect(answer.json().error).toContain('failed to parse');
  });

  it.each<[string, string, Buffer, string]>([
    ['an empty body', 'gzip', Buffer.alloc(0), 'the gzip body is empty'],
    ['garbage', 'gzip', Buffer.from('\x1f\x8b\x08\x00garbage', 'latin1'), 'the body is no valid gzip stream'],
    ['a cut stream', 'gzip', gzipSync(json).subarray(0, -9), 'the body is no valid gzip stream'],
    ['the other encoding', 'deflate', gzipSync(json), 'the body is no valid deflate stream'],
    [
      'a bomb',
      'gzip',
      gzipSync(Buffer.alloc(1_000_000)),
      'the body inflates to more than the limit of 100000 bytes. Use --http-max-input-size to increase the limit.',
    ],
  ])('refuses %s', async (_, encoding, payload, text) => {
    const answer = await addsub(payload, { 'content-encoding': encoding });
    expect([answer.statusCode, answer.json().error]).toEqual([400, expect.stringContaining(text)]);
  });

  it('refuses other encodings with those it knows', async () => {
    const answer = await addsub(json, { 'content-encoding': 'br' });
    expect([answer.statusCode, answer.headers['accept-encoding']]).toEqual([501, 'gzip, deflate']);
  });
});
