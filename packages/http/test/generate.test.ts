import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type InferenceRequest, InferenceServerError, tensorFrom } from '@nereid/core';
import { HoldingEngine } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { responseOf, type Served, serve } from './fixture.ts';

const SSE = 'text/event-stream; charset=utf-8';

async function post(
  served: Served,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${served.url}/v2/models/${path}`, { method: 'POST', body, headers });
  return [answer.status, answer.headers.get('content-type'), await answer.text()] as const;
}

/** The head of an answer; its body is read by the test. */
function open(served: Served, path: string, body: object): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const call = httpRequest({ port: served.port, path: `/v2/models/${path}`, method: 'POST', agent: false }, resolve);
    call.on('error', reject);
    call.end(JSON.stringify(body));
  });
}

const numbers = (...values: number[]) =>
  tensorFrom({ name: 'OUTPUT__0', datatype: 'INT32', shape: [values.length] }, Int32Array.from(values));

/** One answer of the model; counts in `released` when its memory comes back. */
function answer(request: InferenceRequest, value: number, released: number[] = []) {
  return responseOf(request, { outputs: [numbers(value)], release: () => released.push(value) });
}

const event = (value: number) => `data: {"OUTPUT__0":${value},"model_name":"id_int32","model_version":"1"}\n\n`;

describe.each([
  ['through the server factory', true],
  ["through fastify's router", false],
])('generate %s', (_, factory) => {
  it.each<[string, string, object, number, object]>([
    ['a value', 'id_bytes/generate', { x: 'hello' }, 200, { OUTPUT__0: 'hello' }],
    ['an array', 'id_bytes/generate', { x: ['a', 'b'] }, 200, { OUTPUT__0: ['a', 'b'] }],
    ['an id', 'id_bytes/generate', { id: 'g1', x: 'x' }, 200, { OUTPUT__0: 'x', id: 'g1' }],
    ['an unknown key', 'id_fp32/versions/1/generate', { x: 1.5, y: 2 }, 200, { OUTPUT__0: 1.5 }],
    ['a missing input', 'id_fp32/generate', {}, 400, { error: expect.stringContaining("'x'") }],
    [
      'a repeated input',
      'id_fp32/generate',
      { x: 1, parameters: { x: 1 } },
      400,
      { error: expect.stringMatching(/already exists/) },
    ],
    ['a nested input', 'id_fp32/generate', { x: { y: 1 } }, 400, { error: expect.stringMatching(/no FP32 value/) }],
    ['FP16', 'id_fp16/generate', { x: 1 }, 400, { error: expect.stringMatching(/via JSON is not supported/) }],
    ['an unknown model', 'nosuch/generate', { x: 1 }, 404, { error: expect.stringContaining('nosuch') }],
    ['an unknown version', 'id_fp32/versions/9/generate', { x: 1 }, 404, { error: expect.stringContaining('9') }],
    ['a model that raises', 'picky/generate', { x: [-1, 0] }, 500, { error: 'negative' }],
  ])('answers %s', async (_, path, body, status, expected) => {
    await using served = await serve({ factory });
    const [found, type, text] = await post(served, path, JSON.stringify(body));
    const names = status === 200 ? { model_name: path.split('/')[0], model_version: '1' } : {};
    expect([found, type, JSON.parse(text)]).toEqual([status, 'application/json', { ...names, ...expected }]);
  });

  it('streams each response as an event when the model gives it', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ factory, wrap: holding.wrap });
    const opened = open(served, 'id_int32/generate_stream', { x: 1 });
    const held = await holding.next();
    const released: number[] = [];
    held.respond(answer(held, 0, released), false);
    const stream = await opened;
    expect([stream.statusCode, stream.headers['content-type'], stream.headers['transfer-encoding']]).toEqual([
      200,
      SSE,
      'chunked',
    ]);
    const events = stream.setEncoding('utf8')[Symbol.asyncIterator]();
    for (const value of [1, 2, 3]) {
      expect((await events.next()).value).toBe(event(value - 1));
      held.respond(answer(held, value, released), value === 3);
    }
    expect([await events.next(), await events.next()]).toEqual([
      { done: false, value: event(3) },
      { done: true, value: undefined },
    ]);
    expect(released).toEqual([0, 1, 2, 3]);
  });

  it('streams the responses of a decoupled model, and refuses them where one is expected', async () => {
    await using served = await serve({ factory });
    const text = 'data: {"OUTPUT__0":[1.5,2.5],"model_name":"repeat","model_version":"1"}\n\n';
    expect(await post(served, 'repeat/generate_stream', '{"x":[1.5,2.5]}')).toEqual([200, SSE, text + text]);
    expect(await post(served, 'repeat/generate', '{"x":[1.5,2.5]}')).toContain(501);
  });

  it('streams the one response of an ordinary model', async () => {
    await using served = await serve({ factory });
    const text = 'data: {"OUTPUT__0":[1,2],"id":"g","model_name":"id_int32","model_version":"1"}\n\n';
    expect(await post(served, 'id_int32/generate_stream', '{"id":"g","x":[1,2]}')).toEqual([200, SSE, text]);
  });
});

describe.each(['generate', 'generate_stream'])('the load of the model with %s', (call) => {
  it.each<[string, Record<string, string>, string, string | null]>([
    ['as JSON', { 'endpoint-load-metrics-format': 'json' }, '1', 'JSON {"named_metrics":{"pending_requests":0}}'],
    ['as text', { 'endpoint-load-metrics-format': 'text' }, '1', 'TEXT named_metrics.pending_requests=0'],
    ['in no other form', { 'endpoint-load-metrics-format': 'bin' }, '1', null],
    ['only when asked', {}, '1', null],
    ['not with a refusal', { 'endpoint-load-metrics-format': 'json' }, '"a"', null],
  ])('is told %s', async (_, headers, value, expected) => {
    await using served = await serve();
    const path = `${served.url}/v2/models/id_int32/${call}`;
    const told = await fetch(path, { method: 'POST', body: `{"x":${value}}`, headers });
    expect([told.status, told.headers.get('endpoint-load-metrics')]).toEqual([value === '1' ? 200 : 400, expected]);
  });
});

describe('generate', () => {
  it('inflates a compressed body and refuses what is neither gzip nor deflate', async () => {
    await using served = await serve();
    const body = new Uint8Array(gzipSync('{"x":7}'));
    expect(await post(served, 'id_int32/generate', body, { 'content-encoding': 'gzip' })).toContain(200);
    expect(await post(served, 'id_int32/generate', body, { 'content-encoding': 'br' })).toContain(501);
  });

  it('bounds the body', async () => {
    await using served = await serve({ maxInputBytes: 20 });
    const refused = await post(served, 'id_bytes/generate', JSON.stringify({ x: 'x'.repeat(20) }));
    expect(refused).toMatchObject([400, 'application/json', expect.stringMatching(/Use --http-max-input-size to/)]);
    expect(await post(served, 'id_bytes/generate', '{"x":"y"}')).toContain(200);
  });

  it('takes POST only', async () => {
    await using served = await serve();
    for (const call of ['generate', 'generate_stream']) {
      const refused = await fetch(`${served.url}/v2/models/id_int32/${call}`);
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  it.each<[string, number, string]>([
    ['none', 0, 'none'],
    ['two', 2, 'more than one'],
  ])('refuses %s responses and gives their memory back', async (_, count, told) => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const answered = post(served, 'id_int32/generate', '{"x":1}');
    const held = await holding.next();
    const released: number[] = [];
    for (let value = 0; value < count; value++) held.respond(answer(held, value, released), false);
    held.respond(undefined, true);
    expect(await answered).toEqual([
      501,
      'application/json',
      expect.stringMatching(`generate expects model to produce exactly 1 response, it produced ${told}`),
    ]);
    expect(released).toEqual(count === 0 ? [] : [0, 1]);
  });
});

describe('generate_stream', () => {
  it('is an empty stream when the model gives no response', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const answered = post(served, 'id_int32/generate_stream', '{"x":1}');
    (await holding.next()).respond(undefined, true);
    expect(await answered).toEqual([200, SSE, '']);
  });

  it.each<[string, string, number]>([
    ['no JSON', '{', 400],
    ['a missing input', '{}', 400],
  ])('answers %s with plain JSON, before anything ran', async (_, body, status) => {
    await using served = await serve();
    expect(await post(served, 'id_int32/generate_stream', body)).toMatchObject([
      status,
      'application/json',
      expect.stringMatching(/^\{"error":/),
    ]);
  });

  it('answers a failure of the model with its status and an event', async () => {
    await using served = await serve();
    const failed = await post(served, 'picky/generate_stream', '{"x":[-1,0]}');
    expect(failed).toEqual([500, SSE, 'data: {"error":"negative"}\n\n']);
  });

  it('ends with an event of the failure that comes after others', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const answered = post(served, 'id_int32/generate_stream', '{"x":1}');
    const held = await holding.next();
    held.respond(answer(held, 1), false);
    held.fail(new InferenceServerError('UNAVAILABLE', 'gone\nfor good'));
    expect(await answered).toEqual([200, SSE, `${event(1)}data: {"error":"gone\\nfor good"}\n\n`]);
  });

  it('ends with an event and cancels the request when a response has no JSON form', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const answered = post(served, 'id_int32/generate_stream', '{"x":1}');
    const held = await holding.next();
    const half = { name: 'h', datatype: 'FP16', shape: [1], data: new Uint8Array(2) } as const;
    held.respond(responseOf(held, { outputs: [half] }), false);
    held.respond(answer(held, 1), true);
    expect(await answered).toEqual([400, SSE, expect.stringMatching(/^data: \{"error":"sending FP16[^\n]*\}\n\n$/)]);
    expect(held.isCancelled).toBe(true);
  });

  it('cancels the request of a client that goes away, and takes back what comes late', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const opened = open(served, 'id_int32/generate_stream', { x: 1 });
    const held = await holding.next();
    const released: number[] = [];
    held.respond(answer(held, 0, released), false);
    (await opened).destroy();
    await holding.until(() => holding.cancelled.length > 0);
    held.respond(answer(held, 1, released), true);
    expect([holding.cancelled, released]).toEqual([[held], [0, 1]]);
  });

  it('survives the end of the request and of its client at the same time', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    for (let i = 0; i < 20; i++) {
      const opened = open(served, 'id_int32/generate_stream', { x: 1 });
      const held = await holding.next();
      held.respond(answer(held, 0), false);
      const stream = await opened;
      if (i % 2 === 0) stream.destroy();
      held.respond(answer(held, 1), true);
      stream.destroy();
    }
    expect((await fetch(`${served.url}/v2/health/live`)).status).toBe(200);
    expect(served.log.errors).toEqual([]);
  });
});

describe('a client that reads its events slowly', () => {
  /** More than the kernel takes on its own. */
  const CHUNK = numbers(...new Array<number>(100_000).fill(1_000_000_000));

  it('gets all of them in the end', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const opened = open(served, 'id_int32/generate_stream', { x: 1 });
    const held = await holding.next();
    for (let i = 0; i < 20; i++) held.respond(responseOf(held, { outputs: [CHUNK] }), i === 19);
    const stream = await opened;
    let events = 0;
    for await (const piece of stream.setEncoding('latin1')) events += String(piece).split('data: ').length - 1;
    expect(events).toBe(20);
  });

  it('holds the model back until it reads', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const opened = open(served, 'id_int32/generate_stream', { x: 1 });
    const held = await holding.next();
    const released: number[] = [];
    for (let i = 0; i < 20; i++)
      held.respond(responseOf(held, { outputs: [CHUNK], release: () => released.push(i) }), false);
    expect(released).toEqual([]);
    const stream = await opened;
    for await (const piece of stream) {
      expect(piece.length).toBeGreaterThan(0);
      if (released.length > 0) break;
    }
    expect(released).toHaveLength(20);
  });

  it.each<[string, object]>([
    ['when more waits than may', { maxWaitingBytes: 2_000_000, sendTimeoutMs: 0 }],
    ['when it takes nothing for a while', { sendTimeoutMs: 50 }],
  ])('is cut off and its request cancelled %s', async (_, options) => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap, ...options });
    const socket = connect(served.port, '127.0.0.1');
    const body = '{"x":1}';
    socket.write(
      `POST /v2/models/id_int32/generate_stream HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const held = await holding.next();
    for (let i = 0; i < 20; i++) held.respond(responseOf(held, { outputs: [CHUNK] }), false);
    await holding.until(() => held.isCancelled);
    socket.on('error', () => {});
    socket.resume();
    await once(socket, 'close');
    expect(socket.bytesRead).toBeLessThan(20 * 1_000_000);
  });
});
