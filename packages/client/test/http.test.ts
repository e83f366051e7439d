import { describe, expect, it } from 'vitest';
import {
  type ClientOptions,
  fetchTransport,
  HttpClient,
  type HttpClientOptions,
  type HttpTransport,
  nodeTransport,
  tensor,
} from '../src/index.ts';
import { failureOf, runClientSuite } from './common.ts';
import { type Served, scripted, serve } from './fixture.ts';

const TRANSPORTS: readonly (readonly [name: string, make: () => HttpTransport])[] = [
  ['fetch', () => fetchTransport()],
  ['node:http', () => nodeTransport()],
];

const a = tensor({ name: 'a', datatype: 'FP32', shape: [1, 3], values: [0, 1, 2] });
const b = tensor({ name: 'b', datatype: 'FP32', shape: [1, 3], values: [1, 1, 1] });
const addSub = { model: 'addsub', inputs: [a, b] };
const soon = { baseDelayMs: 1, maxDelayMs: 5 };

describe.each(TRANSPORTS)('over %s', (_, makeTransport) => {
  const clientOf = (served: Pick<Served, 'url'>, options: Partial<HttpClientOptions> = {}) =>
    new HttpClient({ url: served.url, transport: makeTransport(), ...options });

  runClientSuite((served, options: ClientOptions = {}) => clientOf(served, options));

  describe('tensors', () => {
    it('travel as JSON when asked to', async () => {
      await using served = await serve();
      await using client = clientOf(served);
      const result = await client.infer(addSub, { json: true });
      expect(result.values('sum', 'FP32')).toEqual(Float32Array.of(1, 2, 3));
      const x = tensor({ name: 'x', datatype: 'FP16', values: [1] });
      expect(await failureOf(client.infer({ model: 'id_fp16', inputs: [x] }, { json: true }))).toMatchObject({
        reason: 'usage',
        message: expect.stringContaining('FP16'),
      });
    });

    it.each(['gzip', 'deflate'] as const)('come compressed with %s when asked to', async (responseCompression) => {
      await using served = await serve();
      await using client = clientOf(served, { responseCompression });
      const values = new Float32Array(10_000).fill(0.5);
      const result = await client.infer({
        model: 'id_fp32',
        inputs: [tensor({ name: 'x', datatype: 'FP32', values })],
      });
      expect(result.values('y', 'FP32')).toEqual(values);
    });
  });

  describe('generate', () => {
    it('gives values for values', async () => {
      await using served = await serve();
      await using client = clientOf(served);
      const answer = await client.generate('id_int64', { x: [1, 2n ** 60n] });
      expect(answer).toEqual({ model_name: 'id_int64', model_version: '1', y: [1, 2n ** 60n] });
      expect(await client.generate('id_fp32', { x: Float32Array.of(0.5) })).toMatchObject({ y: 0.5 });
      expect(await failureOf(client.generate('repeat', { x: [1, 2] }))).toMatchObject({
        reason: 'refused',
        message: expect.stringContaining('exactly 1 response'),
      });
    });

    it('streams the answers of a model one by one', async () => {
      await using served = await serve();
      await using client = clientOf(served);
      const answers: unknown[] = [];
      for await (const { y } of client.generateStream('repeat', { x: [1, 2, 3] })) answers.push(y);
      expect(answers).toEqual([1, 2, 3]);
    });

    it('throws what fails, before the first answer and after it', async () => {
      await using served = await serve();
      await using client = clientOf(served);
      const taken: unknown[] = [];
      const read = async (model: string, x: readonly number[]) => {
        for await (const { y } of client.generateStream(model, { x })) taken.push(y);
      };
      expect(await failureOf(read('repeat', [1, -1]))).toMatchObject({
        status: 200,
        serverMessage: 'a negative value',
      });
      expect(taken).toEqual([1]);
      expect(await failureOf(read('repeat', [-1]))).toMatchObject({ status: 500, serverMessage: 'a negative value' });
      expect(await failureOf(read('nosuch', [1]))).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    });

    it('ends with its reader, its signal and its deadline', async () => {
      let open = 0;
      await using slow = await scripted((_, response) => {
        open += 1;
        response.on('close', () => {
          open -= 1;
        });
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
        response.write('data: {"model_name":"m","y":1}\n\ndata: {"model_name":"m",');
      });
      await using client = clientOf(slow);
      for await (const { y } of client.generateStream('m', {})) {
        expect(y).toBe(1);
        break;
      }
      await expect.poll(() => open).toBe(0);
      const controller = new AbortController();
      const read = async (options: object) => {
        for await (const _ of client.generateStream('m', {}, options)) controller.abort();
      };
      expect(await failureOf(read({ signal: controller.signal }))).toMatchObject({ reason: 'cancelled' });
      expect(await failureOf(read({ timeoutMs: 50 }))).toMatchObject({ reason: 'timeout' });
      await expect.poll(() => open).toBe(0);
    });
  });

  it('exchanges weights', async () => {
    await using served = await serve();
    await using client = clientOf(served);
    expect(await client.updateWeights('addsub', 'w.pt')).toEqual({ updated: ['w'], kept: [], ignored: [] });
  });

  describe('an attempt that failed', () => {
    const metadata = JSON.stringify({ name: 'n', version: '1', extensions: [] });

    it('is made again for a call that reads, whatever the server was not up to', async () => {
      await using server = await scripted((request, response, call) => {
        if (call === 1) request.socket.destroy();
        else if (call === 2) response.writeHead(502).end();
        else response.end(metadata);
      });
      await using client = clientOf(server, { retry: soon });
      expect(await client.serverMetadata()).toMatchObject({ name: 'n' });
      expect(server.seen).toHaveLength(3);
    });

    it('is not made again for an inference that the server may have begun', async () => {
      await using server = await scripted((request, response, call) => {
        if (call === 1) request.socket.destroy();
        else response.writeHead(503).end('{"error":"busy"}');
      });
      await using client = clientOf(server, { retry: soon });
      expect(await failureOf(client.infer(addSub))).toMatchObject({ reason: 'connection', isNotTaken: false });
      expect(await failureOf(client.infer(addSub))).toMatchObject({
        reason: 'refused',
        status: 503,
        isNotTaken: false,
      });
      expect(server.seen).toHaveLength(2);
    });

    it('is made again for an inference that the server refused until later', async () => {
      await using server = await scripted((_, response, call) => {
        if (call < 3) response.writeHead(call === 1 ? 503 : 429, { 'retry-after': '0' }).end('{"error":"full"}');
        else response.end('{"model_name":"addsub","model_version":"1","outputs":[]}');
      });
      await using client = clientOf(server, { retry: soon });
      expect((await client.infer(addSub)).modelName).toBe('addsub');
      expect(server.seen).toHaveLength(3);
    });

    it('is not made again when the wait would take longer than the deadline, nor more often than asked for', async () => {
      await using server = await scripted((_, response) => {
        response.writeHead(503, { 'retry-after': '60' }).end('{"error":"full"}');
      });
      await using client = clientOf(server, { retry: soon, timeoutMs: 5000 });
      expect(await failureOf(client.infer(addSub))).toMatchObject({ status: 503, retryAfterMs: 60_000 });
      expect(server.seen).toHaveLength(1);
      await using busy = await scripted((_, response) => void response.writeHead(503).end());
      await using other = clientOf(busy, { retry: { ...soon, attempts: 2 } });
      expect(await failureOf(other.serverMetadata())).toMatchObject({ status: 503 });
      expect(busy.seen).toHaveLength(2);
    });
  });

  describe('what is no answer of the protocol', () => {
    it.each<[what: string, status: number, body: string, expected: object]>([
      [
        'another kind of server',
        404,
        '<html>',
        { reason: 'refused', message: expect.stringMatching(/answered 404: <html>; is it a server of the v2/) },
      ],
      [
        'an empty refusal',
        502,
        '',
        { reason: 'refused', message: expect.stringMatching(/answered 502; is it a server of the v2/) },
      ],
      ['no JSON', 200, 'hello', { reason: 'bad-answer', code: 'INTERNAL' }],
      ['JSON of something else', 200, '{}', { reason: 'bad-answer' }],
    ])('is refused: %s', async (_, status, body, expected) => {
      await using server = await scripted((_, response) => void response.writeHead(status).end(body));
      await using client = clientOf(server, { retry: { attempts: 1 } });
      expect(await failureOf(client.infer(addSub))).toMatchObject(expected);
      expect(await failureOf(client.modelMetadata('m'))).toMatchObject(expected);
    });

    it('is an answer that breaks off', async () => {
      await using server = await scripted((_, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{', () => response.destroy());
      });
      await using client = clientOf(server);
      expect(await failureOf(client.infer(addSub))).toMatchObject({ reason: 'connection', isNotTaken: false });
    });

    it('is a body that is not compressed as it says', async () => {
      await using server = await scripted((_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end('{}');
      });
      await using client = clientOf(server);
      expect(await failureOf(client.infer(addSub))).toMatchObject({ reason: 'connection' });
    });
  });

  it('keeps a path of the address, and writes names as a URL does', async () => {
    await using server = await scripted((_, response) => void response.end('{"name":"n","inputs":[],"outputs":[]}'));
    await using client = clientOf({ url: `${server.url}/proxy/` });
    await client.modelMetadata({ model: 'a/b ü', version: '3' });
    expect(server.seen).toEqual(['GET /proxy/v2/models/a%2Fb%20%C3%BC/versions/3']);
  });

  it('keeps connections alive', async () => {
    const sockets = new Set<unknown>();
    await using server = await scripted((request, response) => {
      sockets.add(request.socket);
      response.end('{}');
    });
    await using client = clientOf(server);
    for (let i = 0; i < 5; i++) await client.isServerLive();
    // The first may not be free yet when the second call comes.
    expect(sockets.size).toBeLessThan(3);
  });
});

it.each(['', 'ftp://x', 'http://', 'a b'])('an address that is none is refused: %j', (url) => {
  expect(() => new HttpClient({ url })).toThrow(/is no address of a server; give one like http:\/\/127\.0\.0\.1:8000/);
});

it('takes an address without a scheme', async () => {
  await using served = await serve();
  await using client = new HttpClient({ url: served.url.replace('http://', '') });
  expect(await client.isServerReady()).toBe(true);
});
