/** Which calls over gRPC are sent again: a server of its own for each case answers as it is told. */
import { constants, createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { messageType, prefixOf } from '@nereid/grpc/messages';
import { expect, it } from 'vitest';
import { GrpcClient } from '../src/index.ts';
import { failureOf } from './common.ts';

const HEAD = { ':status': 200, 'content-type': 'application/grpc' };

function answer(stream: ServerHttp2Stream, type: string, message: object): void {
  const bytes = messageType(type).encode(message).finish();
  stream.respond(HEAD, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.concat([prefixOf(bytes.length), bytes]));
}

const refuse = (stream: ServerHttp2Stream, more: Readonly<Record<string, string>> = {}) =>
  stream.respond({ ...HEAD, 'grpc-status': '14', 'grpc-message': 'full', ...more }, { endStream: true });

async function scripted(listener: (stream: ServerHttp2Stream, call: number) => void) {
  let calls = 0;
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.resume();
    listener(stream, ++calls);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `grpc://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new GrpcClient({ url, retry: { baseDelayMs: 1, maxDelayMs: 5 } });
  return {
    client,
    calls: () => calls,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const request = { model: 'm', inputs: [] };

it('sends an inference again that the server has not begun: a refused stream, and a time to come back', async () => {
  await using server = await scripted((stream, call) => {
    if (call === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM);
    else if (call === 2) refuse(stream, { 'grpc-retry-pushback-ms': '0' });
    else answer(stream, 'inference.ModelInferResponse', { modelName: 'm', id: '7' });
  });
  expect(await server.client.infer(request)).toMatchObject({ modelName: 'm', id: '7' });
  expect(server.calls()).toBe(3);
});

it('does not send an inference again that may have begun', async () => {
  await using server = await scripted((stream, call) => {
    if (call === 1) refuse(stream);
    else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  });
  expect(await failureOf(server.client.infer(request))).toMatchObject({
    reason: 'refused',
    status: 14,
    code: 'UNAVAILABLE',
    message: 'the server answered UNAVAILABLE: full',
  });
  expect(await failureOf(server.client.infer(request))).toMatchObject({ reason: 'connection', isNotTaken: false });
  expect(server.calls()).toBe(2);
});

it('sends a call that reads again, whatever the server was not up to', async () => {
  await using server = await scripted((stream, call) => {
    if (call === 1) refuse(stream);
    else if (call === 2) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else answer(stream, 'inference.ServerMetadataResponse', { name: 'n', version: '1' });
  });
  expect(await server.client.serverMetadata()).toEqual({ name: 'n', version: '1', extensions: [] });
  expect(server.calls()).toBe(3);
});

it('tells an answer without a message, and one that is no gRPC', async () => {
  await using server = await scripted((stream, call) => {
    if (call === 1) stream.respond({ ...HEAD, 'grpc-status': '0' }, { endStream: true });
    else {
      stream.respond({ ':status': 502, 'content-type': 'text/html' });
      stream.end('<html>');
    }
  });
  for (const message of ['without an answer', 'it answers 502 text/html'])
    expect(await failureOf(server.client.infer(request))).toMatchObject({
      reason: 'bad-answer',
      message: expect.stringContaining(message),
    });
});
