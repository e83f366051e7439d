/** Whole requests at a socket, made from valid ones by many small changes: nothing is answered with 500, nothing is logged as unexpected, and the server goes on. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { deflateSync, gzipSync } from 'node:zlib';
import { fuzz, mutated } from '@nereid/testing/fuzz';
import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import { ADD_SUB_JSON, binaryBody, binaryInput, f32, type Served, serve } from './fixture.ts';

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served[Symbol.asyncDispose]());

interface Parts {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

function requestOf({ method = 'POST', path, headers = {}, body = Buffer.alloc(0) }: Parts): Buffer {
  const all = { Host: 'a', Connection: 'close', 'Content-Length': String(body.length), ...headers };
  const lines = Object.entries(all).map(([key, value]) => `${key}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
}

function chunkedOf({ path, body = Buffer.alloc(0) }: Parts, size: number): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    chunks.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), ...chunks, Buffer.from('0\r\n\r\n')]);
}

const INFER = '/v2/models/addsub/infer';
const json = Buffer.from(JSON.stringify(ADD_SUB_JSON));
const inputs = ['a', 'b'].map((name) => binaryInput(name, 'FP32', [1, 3], 12));
const binary = binaryBody({ id: '1', inputs, outputs: [{ name: 'OUTPUT__0' }] }, f32(0, 1, 2), f32(1, 1, 1));
const strings = { inputs: [{ name: 'x', datatype: 'BYTES', shape: [2], data: ['a', 'é'] }] };
const generate = Buffer.from('{"x":[1,2],"id":"7","parameters":{"stop":true}}');

const VALID: readonly Buffer[] = [
  requestOf({ path: INFER, body: json }),
  requestOf({ path: INFER, ...binary }),
  requestOf({
    path: INFER,
    body: gzipSync(json),
    headers: { 'Content-Encoding': 'gzip', 'Accept-Encoding': 'gzip;q=0.5' },
  }),
  requestOf({ path: INFER, body: deflateSync(json), headers: { 'Content-Encoding': 'deflate' } }),
  chunkedOf({ path: INFER, body: json }, 20),
  requestOf({ path: '/v2/models/id_bytes/infer', body: Buffer.from(JSON.stringify(strings)) }),
  requestOf({ path: '/v2/models/id_fp32/infer', body: f32(1, 2), headers: { 'Inference-Header-Content-Length': '0' } }),
  requestOf({ path: '/v2/models/id_fp32/generate', body: generate }),
  requestOf({ path: '/v2/models/repeat/generate_stream', body: generate }),
  requestOf({ method: 'GET', path: '/v2/models/addsub/versions/3/config' }),
  requestOf({ path: '/v2/repository/index', body: Buffer.from('{"ready":true}') }),
  requestOf({ path: '/v2/systemsharedmemory/region/r/register', body: Buffer.from('{"key":"/k","byte_size":8}') }),
  requestOf({ path: '/v2/models/addsub/trace/setting', body: Buffer.from('{"trace_level":["OFF"]}') }),
  requestOf({ path: '/v2/logging', body: Buffer.from('{"log_verbose_level":1}') }),
];

const WORDS = [
  ...[
    '\r\n',
    '\r\n\r\n',
    '\n',
    ' ',
    ':',
    '%',
    '%00',
    '%ff',
    '/',
    '?',
    ';',
    ',',
    '\u0000',
    '\u00ff',
    '{',
    '}',
    '[',
    ']',
    '"',
  ],
  ...[
    'Content-Length: 5\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Transfer-Encoding: gzip, chunked\r\n',
    'Expect: 100-continue\r\n',
  ],
  ...[
    'Upgrade: h2c\r\nConnection: Upgrade\r\n',
    'Inference-Header-Content-Length: 9\r\n',
    'Content-Encoding: gzip\r\n',
  ],
  ...[
    'GET ',
    'HEAD ',
    'PUT ',
    'CONNECT ',
    'OPTIONS ',
    'HTTP/1.0',
    'HTTP/2.0',
    '/v2/models/',
    '/versions/',
    '/infer',
    '..',
  ],
  ...['0\r\n\r\n', '1;a=b\r\n', 'ffffffffffffffff\r\n', 'null', 'NaN', '-1', '1e999', '"data"', '"parameters"', '"x"'],
];

const whole = fc.constantFrom(...VALID);
/** A change, or two requests on one connection. */
const bytes = fc.oneof(
  { weight: 4, arbitrary: mutated(whole, { dictionary: WORDS }) },
  {
    weight: 1,
    arbitrary: mutated(
      fc.array(whole, { minLength: 2, maxLength: 3 }).map((all) => Buffer.concat(all)),
      {
        dictionary: WORDS,
      },
    ),
  },
);

/** What the server answers before it, or the client, closes. */
async function exchange(sent: Buffer, pieceCount: number): Promise<string> {
  let text = '';
  const socket = connect({ host: '127.0.0.1', port: served.port });
  socket.on('data', (piece) => {
    text += piece.toString('latin1');
  });
  socket.on('error', () => {});
  // Not `once`: that fails with the error of a server that closes first.
  const closed = new Promise((resolve) => socket.on('close', resolve));
  await once(socket, 'connect');
  const size = Math.ceil(sent.length / pieceCount) || 1;
  for (let at = 0; at < sent.length; at += size) {
    socket.write(sent.subarray(at, at + size));
    await turn();
  }
  // Half-closed, so that a request which lacks its end does not wait for it.
  socket.end();
  await closed;
  return text;
}

fuzz(
  'http-requests',
  fc.asyncProperty(bytes, fc.integer({ min: 1, max: 3 }), async (sent, pieceCount) => {
    const text = await exchange(sent, pieceCount);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    expect(statuses.filter((status) => status === 500)).toEqual([]);
    expect(served.log.errors).toEqual([]);
  }),
);
