import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldingEngine } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { type ClientOptions, GrpcClient, type GrpcClientOptions, type InferResult, tensor } from '../src/index.ts';
import { failureOf, runClientSuite } from './common.ts';
import { type Served, serve } from './fixture.ts';

const clientOf = (served: Pick<Served, 'grpcUrl'>, options: Partial<GrpcClientOptions> = {}) =>
  new GrpcClient({ url: served.grpcUrl, ...options });

runClientSuite((served, options: ClientOptions = {}) => clientOf(served, options));

const repeat = (...values: number[]) => ({
  model: 'repeat',
  inputs: [tensor({ name: 'x', datatype: 'FP32', values })],
});
const echo = (id: string) => ({
  model: 'id_int32',
  id,
  inputs: [tensor({ name: 'x', datatype: 'INT32', values: [Number(id)] })],
});

describe('a stream of one request', () => {
  it('gives the answers of a model one by one, and tells the last', async () => {
    await using served = await serve();
    await using client = clientOf(served);
    const answers: InferResult[] = [];
    for await (const answer of client.inferStream(repeat(1, 2, 3))) answers.push(answer);
    expect(answers.map((answer) => [...answer.values('y', 'FP32')])).toEqual([[1], [2], [3]]);
    expect(answers.map(({ parameters }) => [...parameters.keys()])).toEqual([[], [], []]);
  });

  it('throws what fails, with its status, after what came before', async () => {
    await using served = await serve();
    await using client = clientOf(served);
    const seen: number[] = [];
    const read = async (request: ReturnType<typeof repeat>) => {
      for await (const answer of client.inferStream(request)) seen.push(...answer.values('y', 'FP32'));
    };
    expect(await failureOf(read(repeat(1, -1)))).toMatchObject({ code: 'INTERNAL', serverMessage: 'a negative value' });
    expect(seen).toEqual([1]);
    expect(await failureOf(read({ ...repeat(1), model: 'nosuch' }))).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('ends with its reader, its signal and its deadline, and the server learns of it', async () => {
    const engine = new HoldingEngine();
    await using served = await serve({ wrap: engine.wrap });
    await using client = clientOf(served);
    const output = (value: number) => ({
      modelName: 'repeat',
      modelVersion: '1',
      outputs: [tensor({ name: 'y', datatype: 'FP32', values: [value] })],
    });
    const reading = (async () => {
      for await (const answer of client.inferStream(repeat(1))) return answer.isFinal;
      return undefined;
    })();
    (await engine.next()).respond(output(1), false);
    expect(await reading).toBe(false);
    await engine.until(() => engine.cancelled.length === 1);
    const read = async (options: object) => {
      for await (const _ of client.inferStream(repeat(1), options));
    };
    expect(await failureOf(read({ timeoutMs: 50 }))).toMatchObject({ reason: 'timeout' });
    const controller = new AbortController();
    const aborted = failureOf(read({ signal: controller.signal }));
    await engine.until(() => engine.held.length === 2);
    controller.abort();
    expect(await aborted).toMatchObject({ reason: 'cancelled' });
    await engine.until(() => engine.cancelled.length === 3);
  });
});

describe('a stream of many requests', () => {
  it('answers models that answer once in the order of the requests', async () => {
    await using served = await serve();
    await using client = clientOf(served);
    const stream = await client.openStream();
    const ids = Array.from({ length: 200 }, (_, i) => String(i));
    const sending = (async () => {
      for (const id of ids) await stream.send(echo(id));
      stream.end();
    })();
    const seen: string[] = [];
    for await (const { id, result } of stream) {
      expect(result?.values('y', 'INT32')).toEqual(Int32Array.of(Number(id)));
      seen.push(id);
    }
    await sending;
    expect(seen).toEqual(ids);
  });

  it('goes on after a request that fails', async () => {
    await using served = await serve();
    await using client = clientOf(served);
    const stream = await client.openStream();
    await stream.send({ ...echo('1'), model: 'nosuch' });
    await stream.send(echo('2'));
    stream.end();
    const seen = [];
    for await (const { id, error } of stream) seen.push([id, error?.reason]);
    expect(seen).toEqual([
      ['1', 'refused'],
      ['2', undefined],
    ]);
  });

  it('holds the server back while nobody reads, and gives everything to who does', async () => {
    await using served = await serve();
    await using client = clientOf(served);
    const stream = await client.openStream();
    const values = new Float32Array(100_000);
    const x = tensor({ name: 'x', datatype: 'FP32', values });
    for (let i = 0; i < 40; i++) await stream.send({ model: 'id_fp32', id: String(i), inputs: [x] });
    stream.end();
    let count = 0;
    for await (const { result } of stream) count += result?.values('y', 'FP32').length ?? 0;
    expect(count).toBe(4_000_000);
  });
});

it.each(['low', 'high'] as const)('reads answers that come compressed: %s', async (responseCompression) => {
  await using served = await serve({ responseCompression });
  await using client = clientOf(served, { requestCompression: 'gzip' });
  const x = tensor({ name: 'x', datatype: 'FP32', values: new Float32Array(5000).fill(0.25) });
  expect((await client.infer({ model: 'id_fp32', inputs: [x] })).values('y', 'FP32')).toEqual(
    new Float32Array(5000).fill(0.25),
  );
  const streamed: number[] = [];
  for await (const answer of client.inferStream(repeat(1, 2))) streamed.push(...answer.values('y', 'FP32'));
  expect(streamed).toEqual([1, 2]);
});

describe('a connection that ends', () => {
  it('is made anew for the next call, when the server is back', async () => {
    const first = await serve();
    await using client = clientOf(first, { retry: { attempts: 1 } });
    expect(await client.isServerReady()).toBe(true);
    await first[Symbol.asyncDispose]();
    // The end of the connection may come a moment after the next call.
    await expect.poll(async () => (await failureOf(client.infer(echo('1')))).isNotTaken).toBe(true);
    const port = Number(first.grpcUrl.split(':').at(-1));
    await using _second = await serve({ grpcPlace: { host: '127.0.0.1', port } });
    expect((await client.infer(echo('2'))).id).toBe('2');
  });

  it('fails what was under way, which is not sent again', async () => {
    const engine = new HoldingEngine();
    const served = await serve({ wrap: engine.wrap });
    await using client = clientOf(served, { retry: { baseDelayMs: 1 } });
    const answer = failureOf(client.infer(echo('1')));
    await engine.until(() => engine.held.length === 1);
    await served[Symbol.asyncDispose]();
    expect(await answer).toMatchObject({ reason: 'connection', code: 'UNAVAILABLE', isNotTaken: false });
    expect(engine.held).toHaveLength(1);
  });

  it('by the client fails what was under way', async () => {
    const engine = new HoldingEngine();
    await using served = await serve({ wrap: engine.wrap });
    const client = clientOf(served);
    const answer = failureOf(client.infer(echo('1')));
    await engine.until(() => engine.held.length === 1);
    await client.close();
    expect(await answer).toMatchObject({ reason: 'connection' });
    expect(await failureOf(client.infer(echo('1')))).toMatchObject({ reason: 'usage' });
  });
});

it('speaks through a socket in the file system', async () => {
  const path = join(tmpdir(), `nereid-client-${process.pid}.sock`);
  await using _served = await serve({ grpcPlace: { path } });
  await using client = new GrpcClient({ url: 'grpc://localhost', socketPath: path });
  expect((await client.infer(echo('5'))).id).toBe('5');
});

it('reports an answer that is too large, and one that is no gRPC', async () => {
  await using served = await serve();
  await using small = clientOf(served, { maxMessageBytes: 1000 });
  const x = tensor({ name: 'x', datatype: 'FP32', values: new Float32Array(1000) });
  expect(await failureOf(small.infer({ model: 'id_fp32', inputs: [x] }))).toMatchObject({
    reason: 'bad-answer',
    message: expect.stringContaining('more than the limit of 1000'),
  });
  await using wrong = new GrpcClient({
    url: served.url.replace('http:', 'grpc:'),
    timeoutMs: 5000,
    retry: { attempts: 1 },
  });
  expect(await failureOf(wrong.infer(echo('1')))).toMatchObject({ reason: 'connection' });
});

it.each(['', 'http://127.0.0.1:8001', 'grpc://', 'grpc://a/b'])('an address that is none is refused: %j', (url) => {
  expect(() => new GrpcClient({ url })).toThrow(/is no address of a server; give one like grpc:\/\/127\.0\.0\.1:8001/);
});

it('takes an address without a scheme', async () => {
  await using served = await serve();
  await using client = new GrpcClient({ url: served.grpcUrl.replace('grpc://', '') });
  expect((await client.infer(echo('3'))).id).toBe('3');
});

/** Passes bytes on to a server until it is frozen. */
async function proxyOf(served: Pick<Served, 'grpcUrl'>) {
  const target = new URL(served.grpcUrl.replace('grpc:', 'http:'));
  let isFrozen = false;
  const sockets: Socket[] = [];
  const proxy = createServer((near) => {
    const far = connect({ host: target.hostname, port: Number(target.port) });
    sockets.push(near, far);
    near.on('data', (bytes) => isFrozen || far.write(bytes)).on('error', () => {});
    far.on('data', (bytes) => isFrozen || near.write(bytes)).on('error', () => {});
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `grpc://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    freeze: () => {
      isFrozen = true;
    },
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}

it('gives up a connection on which pings are not answered, and only that', async () => {
  const engine = new HoldingEngine();
  await using served = await serve({ wrap: engine.wrap });
  using proxy = await proxyOf(served);
  await using client = new GrpcClient({
    url: proxy.url,
    keepAliveMs: 150,
    keepAliveTimeoutMs: 500,
    retry: { attempts: 1 },
  });
  const held = client.infer(echo('4'));
  held.catch(() => {});
  // A call that takes longer than the interval goes on while pings are answered.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await Promise.race([held.then(String, String), Promise.resolve('under way')])).toBe('under way');
  proxy.freeze();
  expect(await failureOf(held)).toMatchObject({
    reason: 'connection',
    message: expect.stringContaining('the server answers no pings'),
  });
});
