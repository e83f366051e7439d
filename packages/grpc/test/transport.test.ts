/** What a client may send that no library does: raw frames of HTTP/2. */
import { once } from 'node:events';
import { connect, constants, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { gzipSync } from 'node:zlib';
import { HoldingEngine } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { messageType } from '../src/schema.ts';
import { addSubRequest, type Served, serve } from './fixture.ts';

const INFER = '/inference.GRPCInferenceService/ModelInfer';
const LIVE = '/inference.GRPCInferenceService/ServerLive';

interface Reply {
  readonly http: unknown;
  readonly status: unknown;
  readonly message: string;
}

function frame(bytes: Uint8Array, { flag = 0, length = bytes.length } = {}): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, bytes]);
}

/** A message for addsub, as bytes. */
function addSubBytes(): Buffer {
  const tensor = (name: string) => ({ name, datatype: 'FP32', shape: [1, 3] });
  const raw = Buffer.alloc(12);
  const type = messageType('inference.ModelInferRequest');
  const message = { modelName: 'addsub', inputs: [tensor('a'), tensor('b')], rawInputContents: [raw, raw] };
  return Buffer.from(type.encode(message).finish());
}

async function send(
  served: Served,
  {
    path = LIVE,
    pieces = [frame(Buffer.alloc(0))],
    headers = {},
  }: { path?: string; pieces?: Buffer[]; headers?: object },
): Promise<Reply> {
  const session = connect(`http://127.0.0.1:${served.port}`);
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  let head: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  stream.on('response', (received) => {
    head = received;
  });
  stream.on('trailers', (received) => {
    trailers = received;
  });
  stream.on('error', () => {});
  stream.resume();
  for (const piece of pieces) stream.write(piece);
  stream.end();
  await once(stream, 'close');
  session.close();
  const { 'grpc-status': status, 'grpc-message': message } = { ...head, ...trailers };
  return { http: head[':status'], status, message: decodeURIComponent(String(message ?? '')) };
}

describe('a call', () => {
  it.each([
    [
      'a message in many pieces',
      { path: INFER, pieces: [...frame(addSubBytes())].map((byte) => Buffer.of(byte)) },
      '0',
      /^$/,
    ],
    ['an unknown method', { path: '/inference.GRPCInferenceService/Nosuch' }, '12', /unknown method/],
    ['no message', { pieces: [] }, '3', /none came/],
    ['no message for inference', { path: INFER, pieces: [] }, '3', /none came/],
    ['two messages', { path: INFER, pieces: [frame(addSubBytes()), frame(addSubBytes())] }, '3', /second one came/],
    ['an end inside a message', { pieces: [frame(Buffer.alloc(3), { length: 9 })] }, '3', /ends inside a message/],
    ['an end inside the prefix', { pieces: [Buffer.alloc(3)] }, '3', /ends inside a message/],
    ['a prefix that is none', { pieces: [frame(Buffer.alloc(0), { flag: 7 })] }, '3', /0 or 1, found 7/],
    [
      'a message beyond the limit',
      { pieces: [frame(Buffer.alloc(0), { length: 2000 })] },
      '8',
      /2000 bytes, more than the limit of 1000/,
    ],
    [
      'bytes that are no message',
      { pieces: [frame(Buffer.from([0x0a, 0x7f]))], path: '/inference.GRPCInferenceService/ModelReady' },
      '3',
      /no inference.ModelReadyRequest/,
    ],
    ['bytes that are no request', { pieces: [frame(Buffer.from([0x0a, 0x7f]))], path: INFER }, '3', /cannot be parsed/],
    ['an unknown compression', { headers: { 'grpc-encoding': 'zstd' } }, '12', /zstd/],
    [
      'compression that was not announced',
      { pieces: [frame(Buffer.alloc(0), { flag: 1 })] },
      '3',
      /names no grpc-encoding/,
    ],
    [
      'broken compression',
      { pieces: [frame(Buffer.from('no gzip'), { flag: 1 })], headers: { 'grpc-encoding': 'gzip' } },
      '3',
      /not gzip/,
    ],
    [
      'a message that grows beyond the limit',
      { pieces: [frame(gzipSync(Buffer.alloc(100_000)), { flag: 1 })], headers: { 'grpc-encoding': 'gzip' } },
      '8',
      /more than 1000 bytes/,
    ],
  ])('with %s', async (_, call, status, text) => {
    await using served = await serve({ maxMessageBytes: 1000 });
    const reply = await send(served, call);
    expect([reply.http, reply.status, reply.message]).toEqual([200, status, expect.stringMatching(text)]);
    expect((await served.unary('ModelInfer', addSubRequest())).code).toBe('OK');
  });

  it.each([
    ['that is none of gRPC', { headers: { 'content-type': 'application/json' } }],
    ['that only asks', { headers: { ':method': 'GET' }, pieces: [] }],
  ])('%s is answered with 415', async (_, call) => {
    await using served = await serve();
    expect((await send(served, call)).http).toBe(415);
  });

  it('that is reset is cancelled, and the others of the connection go on', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const session = connect(`http://127.0.0.1:${served.port}`);
    session.on('error', () => {});
    const call = () => {
      const stream = session.request({ ':method': 'POST', ':path': INFER, 'content-type': 'application/grpc' });
      stream.on('error', () => {});
      stream.end(frame(addSubBytes()));
      stream.resume();
      return stream;
    };
    const [first, second] = [call(), call()];
    await holding.until(() => holding.held.length === 2);
    first.close(constants.NGHTTP2_CANCEL);
    await holding.until(() => holding.cancelled.length === 1);
    const trailers = once(second, 'trailers');
    holding.held[1]?.respond({ modelName: 'addsub', modelVersion: '1', outputs: [] });
    expect((await trailers)[0]['grpc-status']).toBe('0');
    session.close();
  });
});

describe('compression', () => {
  it('makes no message larger than the limit for those, whatever the one for plain ones', async () => {
    await using served = await serve();
    const bomb = frame(gzipSync(Buffer.alloc(65 * 1024 * 1024)), { flag: 1 });
    const reply = await send(served, { pieces: [bomb], headers: { 'grpc-encoding': 'gzip' } });
    expect([reply.status, reply.message]).toEqual(['8', expect.stringContaining('more than 67108864 bytes')]);
  });
});

describe('a connection', () => {
  it('that speaks another protocol ends, and the server goes on', async () => {
    await using served = await serve();
    const socket = connectTcp(served.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'close');
    expect((await served.unary('ServerLive', {})).code).toBe('OK');
  });

  it('is closed with its last call once the server closes', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const pending = served.unary('ModelInfer', addSubRequest());
    const request = await holding.next();
    const closed = served.server.close();
    request.respond({ modelName: 'addsub', modelVersion: '1', outputs: [] });
    expect((await pending).code).toBe('OK');
    await closed;
  });
});
