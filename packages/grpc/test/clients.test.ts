/** How calls go whatever their content, with the clients that people use: `tritonclient.grpc`, its asynchronous half, plain `grpc` of Python, grpc-js. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import grpc from '@grpc/grpc-js';
import type { InferenceRequest } from '@nereid/core';
import type { InferenceEngine } from '@nereid/serving';
import { HoldingEngine, usePython } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addSubRequest, f32, InferenceService, type Served, serve, unary } from './fixture.ts';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('transport_checks.py', import.meta.url));
const LISTED = /^CHECKS = \[\n([^\]]*)\]/m.exec(readFileSync(SCRIPT, 'utf8'))?.[1] ?? '';
const CHECKS = [...LISTED.matchAll(/(\w+),/g)].map(([, name]) => String(name).replaceAll('_', ' '));
const HELD_MS = 300;

/** On a busy machine a moment may be long. */
const eventually = <Value>(read: () => Value) => expect.poll(read, { timeout: 15_000 });

/** Requests for `id_fp32` reach the engine a moment later. */
function late(engine: InferenceEngine): InferenceEngine {
  const infer = (request: InferenceRequest) => {
    if (request.modelName === 'id_fp32') setTimeout(() => engine.infer(request), HELD_MS);
    else engine.infer(request);
  };
  return new Proxy(engine, {
    get: (target, key) => {
      if (key === 'infer') return infer;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('the clients of Python', () => {
  let served: Served;
  let lines: ReadonlyMap<string, string | undefined>;
  beforeAll(async () => {
    served = await serve({ wrap: late, responseCompression: 'low' });
    const { stdout } = await run(usePython(), [SCRIPT, `127.0.0.1:${served.port}`], { maxBuffer: 2 ** 24 });
    const checks = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string; error?: string });
    lines = new Map(checks.map(({ name, error }) => [name, error ?? 'holds']));
  }, 120_000);
  afterAll(() => served[Symbol.asyncDispose]());

  it.each(CHECKS)('%s', (name) => expect(lines.get(name)).toBe('holds'));
});

describe('the client of JavaScript', () => {
  interface Seen {
    readonly code: number;
    readonly details: string;
    readonly initial: grpc.Metadata | undefined;
    readonly trailing: grpc.Metadata;
    readonly order: readonly string[];
  }

  /** Everything that a call brings, in its order. */
  function watch(client: grpc.Client, request: object, metadata = new grpc.Metadata()): Promise<Seen> {
    return new Promise((resolve) => {
      const order: string[] = [];
      let initial: grpc.Metadata | undefined;
      // biome-ignore lint/suspicious/noExplicitAny: the methods of a client are made from the .proto
      const call = (client as any).ModelInfer(request, metadata, () => order.push('answer')) as grpc.ClientUnaryCall;
      call.on('metadata', (received) => {
        initial = received;
        order.push('metadata');
      });
      call.on('status', ({ code, details, metadata: trailing }) =>
        setImmediate(() => resolve({ code, details, initial, trailing, order })),
      );
    });
  }

  it('gets headers, one message and trailers, or trailers alone', async () => {
    await using served = await serve();
    const well = await watch(served.client, addSubRequest());
    expect([well.code, well.details, well.trailing.getMap()]).toEqual([0, '', {}]);
    expect([well.order, well.initial?.get('grpc-status')]).toEqual([['metadata', 'answer'], []]);
    const failed = await watch(served.client, addSubRequest({ model_name: 'nosuch' }));
    expect([failed.code, failed.trailing.getMap()['grpc-status']]).toEqual([grpc.status.NOT_FOUND, undefined]);
    expect(failed.details).toContain('nosuch');
  });

  it('has its metadata read, binary and repeated ones too', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap, forwardHeaders: 'k.*' });
    const metadata = new grpc.Metadata();
    for (const value of ['a', 'b']) metadata.add('k', value);
    for (const value of [0, 255]) metadata.add('k-bin', Buffer.of(value));
    const seen = watch(served.client, addSubRequest(), metadata);
    const request = await holding.next();
    expect(Object.fromEntries(request.parameters)).toEqual({ k: 'a, b', 'k-bin': 'AA==, /w==' });
    request.respond({ modelName: 'addsub', modelVersion: '1', outputs: [] });
    expect((await seen).code).toBe(0);
  });

  it('is told when the server goes: calls under way are answered, and the next go elsewhere', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const pending = served.unary('ModelInfer', addSubRequest());
    const request = await holding.next();
    const closed = served.server.close();
    await eventually(() => served.client.getChannel().getConnectivityState(false)).not.toBe(
      grpc.connectivityState.READY,
    );
    request.respond({ modelName: 'addsub', modelVersion: '1', outputs: [] });
    expect((await pending).code).toBe('OK');
    await closed;
    expect((await served.unary('ServerLive', {})).code).toBe('UNAVAILABLE');
  });

  it('shares one connection among clients that stop, fail and go on', async () => {
    await using served = await serve();
    const outcomes = Array.from({ length: 300 }, async (_, i) => {
      const request = i % 3 === 0 ? addSubRequest({ model_name: 'nosuch' }) : addSubRequest();
      if (i % 3 !== 1) return (await served.unary('ModelInfer', request)).code;
      return (await served.unary('ModelInfer', request, { deadline: Date.now() })).code;
    });
    const codes = await Promise.all(outcomes);
    expect(codes.filter((_, i) => i % 3 === 0).every((code) => code === 'NOT_FOUND')).toBe(true);
    expect(codes.filter((_, i) => i % 3 === 2).every((code) => code === 'OK')).toBe(true);
    const { messages } = await served.unary('ModelInfer', addSubRequest());
    expect(messages[0].raw_output_contents).toEqual([f32(1, 2, 3), f32(-1, 0, 1)]);
  });

  it('is refused no call when it makes more than a connection may have', async () => {
    await using served = await serve({ http2: { maxConcurrentCalls: 3 } });
    const client = new InferenceService(`127.0.0.1:${served.port}`, grpc.credentials.createInsecure());
    const outcomes = Array.from({ length: 50 }, () => unary(client, 'ModelInfer', { request: addSubRequest() }));
    expect((await Promise.all(outcomes)).every(({ code }) => code === 'OK')).toBe(true);
    client.close();
  });
});
