/** What clients do to the connection: real sockets, raw bytes. */
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { InferenceRequest } from '@nereid/core';
import { InferenceServerError } from '@nereid/core';
import { HoldingEngine } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { ADD_SUB_JSON, binaryBody, binaryInput, f32, responseOf, type Served, serve } from './fixture.ts';

const JSON_BODY = JSON.stringify(ADD_SUB_JSON);
const PATH = '/v2/models/addsub/infer';

function head(lines: readonly string[], path = PATH): string {
  return [`POST ${path} HTTP/1.1`, 'Host: x', ...lines, '', ''].join('\r\n');
}

const WHOLE = head([`Content-Length: ${JSON_BODY.length}`]) + JSON_BODY;

/** Everything the server sends until it closes, or until `stop` matches. */
async function exchange(socket: Socket, stop?: RegExp): Promise<string> {
  let text = '';
  socket.setEncoding('latin1');
  for await (const piece of socket) {
    text += piece;
    if (stop?.test(text) === true) break;
  }
  return text;
}

/** What comes until it is enough; the connection stays open. */
function received(socket: Socket, isEnough: (text: string) => boolean): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const take = (piece: Buffer) => {
      text += piece.toString('latin1');
      if (!isEnough(text)) return;
      socket.off('data', take);
      resolve(text);
    };
    socket.on('data', take);
  });
}

async function open(served: Served): Promise<Socket> {
  const socket = connect(served.port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

describe.each([
  ['through the server factory', true],
  ["through fastify's router", false],
])('a connection %s', (_, factory) => {
  it('serves one request after another', async () => {
    await using served = await serve({ factory });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let i = 0; i < 5; i++) {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const request = httpRequest({ agent, port: served.port, path: PATH, method: 'POST' }, resolve);
        request.on('error', reject);
        request.end(JSON_BODY);
      });
      ports.add(answer.socket.localPort);
      expect(answer.statusCode).toBe(200);
      answer.resume();
      await once(answer, 'end');
    }
    agent.destroy();
    expect(ports.size).toBe(1);
  });

  it('gives every answer the head that is its own, however alike they are', async () => {
    await using served = await serve({ factory });
    const socket = await open(served);
    const longer = JSON.stringify({ ...ADD_SUB_JSON, id: 'some-id' });
    const asked = [JSON_BODY, JSON_BODY, longer, JSON_BODY];
    for (const body of asked) socket.write(head([`Content-Length: ${body.length}`]) + body);
    socket.write(head(['Connection: close', `Content-Length: ${JSON_BODY.length}`]) + JSON_BODY);
    const answers = (await exchange(socket)).split(/(?=HTTP\/1\.1 )/).map((answer) => {
      const [top = '', body = ''] = answer.split('\r\n\r\n');
      const named = new Map(top.split('\r\n').map((line) => [line.split(': ')[0]?.toLowerCase(), line.split(': ')[1]]));
      const isDated = Math.abs(Date.parse(named.get('date') ?? '') - Date.now()) < 60_000;
      const id = Reflect.get(JSON.parse(body), 'id');
      return [Number(named.get('content-length')) - body.length, named.get('connection'), isDated, id];
    });
    const kept = [0, 'keep-alive', true, undefined];
    expect(answers).toEqual([kept, kept, [0, 'keep-alive', true, 'some-id'], kept, [0, 'close', true, undefined]]);
  });

  it('gives equal answers that are too large to be copied whole, one after the other', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ factory, wrap: holding.wrap });
    const socket = await open(served);
    const header = JSON.stringify({
      inputs: [binaryInput('x', 'FP32', [2], 8)],
      outputs: [{ name: 'o', parameters: { binary_data: true } }],
    });
    const request = Buffer.concat([Buffer.from(header), f32(1, 2)]);
    const message = head(
      [`Inference-Header-Content-Length: ${header.length}`, `Content-Length: ${request.length}`],
      '/v2/models/id_fp32/infer',
    );
    for (const fill of [1, 2, 3]) {
      socket.write(Buffer.concat([Buffer.from(message), request]));
      const held = await holding.next();
      const output = {
        name: 'o',
        datatype: 'UINT8',
        shape: [100_000],
        data: new Uint8Array(100_000).fill(fill),
      } as const;
      held.respond(responseOf(held, { outputs: [output] }));
      const end = Buffer.alloc(100_000, fill).toString('latin1');
      const text = await received(socket, (all) => all.endsWith(end));
      expect([statuses(text), Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1])]).toEqual([
        [200],
        text.length - text.indexOf('\r\n\r\n') - 4,
      ]);
    }
    socket.destroy();
  });

  it('answers a client of HTTP/1.0 with a head of its own', async () => {
    await using served = await serve({ factory });
    const first = await open(served);
    first.write(WHOLE);
    await exchange(first, /\r\n\r\n/);
    const second = await open(served);
    second.write(WHOLE.replace('HTTP/1.1', 'HTTP/1.0'));
    const text = await exchange(second);
    expect([statuses(text), /connection: close/i.test(text)]).toEqual([[200], true]);
  });

  it('takes chunked bodies, and bodies in many pieces', async () => {
    await using served = await serve({ factory });
    const socket = await open(served);
    socket.write(head(['Transfer-Encoding: chunked']));
    for (const character of JSON_BODY) socket.write(`1\r\n${character}\r\n`);
    socket.write(`0\r\n\r\n${head([`Content-Length: ${JSON_BODY.length}`])}`);
    for (const piece of JSON_BODY.match(/.{1,40}/g) ?? []) {
      socket.write(piece);
      await new Promise(setImmediate);
    }
    expect(statuses(await exchange(socket, /HTTP\/1\.1[\s\S]*HTTP\/1\.1[\s\S]*\]\}\]\}$/))).toEqual([200, 200]);
  });

  it.each(['Content-Length', 'Transfer-Encoding'])(
    'lays the tensors of a body in pieces aligned, whatever stands before them (%s)',
    async (framing) => {
      const holding = new HoldingEngine();
      await using served = await serve({ factory, wrap: holding.wrap });
      for (const id of ['', 'a', 'ab', 'abc']) {
        const blob = Buffer.alloc(9_000_000, id || '0');
        const header = { id, inputs: [binaryInput('x', 'FP32', [blob.length / 4], blob.length)] };
        const { body, headers } = binaryBody(header, blob);
        const socket = await open(served);
        const length = framing === 'Content-Length' ? `${framing}: ${body.length}` : `${framing}: chunked`;
        const marks = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
        socket.write(head([length, ...marks], '/v2/models/id_fp32/infer'));
        const isChunked = framing !== 'Content-Length';
        if (isChunked) socket.write(`${body.length.toString(16)}\r\n`);
        socket.write(body);
        if (isChunked) socket.write('\r\n0\r\n\r\n');
        const request = await holding.next();
        const data = request.inputs[0]?.data;
        expect([data?.byteLength, (data?.byteOffset ?? 1) % 16]).toEqual([blob.length, 0]);
        expect(blob.equals(data ?? Buffer.alloc(0))).toBe(true);
        request.fail(new InferenceServerError('INTERNAL', 'seen'));
        socket.destroy();
      }
    },
  );

  it("reads the bodies of fastify's calls too, whenever they come", async () => {
    await using served = await serve({ factory });
    const socket = await open(served);
    const index = (body: string) =>
      `POST /v2/repository/index HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`;
    const body = '{"ready":1}';
    socket.write(index(body) + body);
    const first = await exchange(socket, /expected a boolean/);
    expect(statuses(first)).toEqual([400]);
    const late = await open(served);
    late.write(index(body) + body.slice(0, 4));
    await new Promise(setImmediate);
    late.write(body.slice(4));
    expect(await exchange(late, /expected a boolean/)).toContain("Unable to parse 'ready'");
  });

  it('answers pipelined requests in their order', async () => {
    await using served = await serve({ factory });
    const socket = await open(served);
    const numbered = (id: number) => {
      const body = JSON.stringify({ id: String(id), ...ADD_SUB_JSON });
      return head([`Content-Length: ${body.length}`]) + body;
    };
    socket.write([1, 2, 3, 4].map(numbered).join(''));
    const text = await exchange(socket, /"id":"4"/);
    expect([...text.matchAll(/"id":"(\d)"/g)].map(([, id]) => id)).toEqual(['1', '2', '3', '4']);
  });

  it('says go on to a client that asks before it sends', async () => {
    await using served = await serve({ factory });
    const socket = await open(served);
    socket.write(head([`Content-Length: ${JSON_BODY.length}`, 'Expect: 100-continue']));
    expect(await new Promise((resolve) => socket.once('data', (data) => resolve(String(data))))).toBe(
      'HTTP/1.1 100 Continue\r\n\r\n',
    );
    socket.write(JSON_BODY);
    expect(statuses(await exchange(socket, /\]\}\]\}$/))).toEqual([200]);
  });

  it('survives a refused request', async () => {
    await using served = await serve({ factory, maxInputBytes: 1000 });
    const socket = await open(served);
    const large = 'x'.repeat(5000);
    socket.write(head([`Content-Length: ${large.length}`]) + large + WHOLE);
    const text = await exchange(socket, /HTTP\/1\.1 200/);
    expect(text).toContain(
      'the request body has 5000 bytes, more than the limit of 1000. Use --http-max-input-size to increase the limit.',
    );
    expect(statuses(text)).toEqual([400, 200]);
  });

  it('does not count the binary part against the input limit', async () => {
    await using served = await serve({ factory, maxInputBytes: 1000 });
    const data = new Uint8Array(100_000);
    const header = {
      inputs: [binaryInput('x', 'UINT8', [data.length], data.length)],
      parameters: { binary_data_output: true },
    };
    const { body, headers } = binaryBody(header, data);
    const answer = await fetch(`${served.url}/v2/models/id_uint8/infer`, { method: 'POST', body, headers });
    expect(answer.status).toBe(200);
    const raw = { 'inference-header-content-length': '0' };
    const refused = await fetch(`${served.url}/v2/models/id_uint8/infer`, { method: 'POST', body: data, headers: raw });
    expect([refused.status, (await refused.text()).includes('more than the limit of 1000')]).toEqual([400, true]);
  });

  it('ends after a body announced beyond all limits', async () => {
    await using served = await serve({ factory });
    const socket = await open(served);
    socket.write(head(['Content-Length: 3221225472', 'Inference-Header-Content-Length: 10']));
    const text = await exchange(socket);
    expect([statuses(text), /connection: close/i.test(text)]).toEqual([[400], true]);
  });

  it('ends after a chunked body of countless tiny pieces', async () => {
    await using served = await serve({ factory });
    const socket = await open(served);
    socket.on('error', () => {});
    socket.write(head(['Transfer-Encoding: chunked']));
    const thousand = '1\r\nx\r\n'.repeat(1000);
    for (let i = 0; i < 70; i++) socket.write(thousand);
    expect(statuses(await exchange(socket, /chunks, most of them tiny/))).toEqual([400]);
  });

  it('joins a large chunked body as it was sent, others being answered meanwhile', async () => {
    await using served = await serve({ factory });
    const data = new Uint8Array(20 * 1024 * 1024).map((_, i) => i * 7);
    const header = {
      inputs: [binaryInput('x', 'UINT8', [data.length], data.length)],
      parameters: { binary_data_output: true },
    };
    const { body, headers } = binaryBody(header, data);
    const stream = new ReadableStream({
      start(controller) {
        for (let at = 0; at < body.length; at += 100_000) controller.enqueue(body.subarray(at, at + 100_000));
        controller.close();
      },
    });
    const init = { method: 'POST', body: stream, headers, duplex: 'half' as const };
    const answer = await fetch(`${served.url}/v2/models/id_uint8/infer`, init);
    expect(answer.status).toBe(200);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.subarray(-data.length).equals(data)).toBe(true);
  });

  it('refuses the body of a call that runs no model beyond a limit of its own', async () => {
    await using served = await serve({ factory });
    const body = `{"ready":true,"x":"${'x'.repeat(1024 * 1024)}"}`;
    const answer = await fetch(`${served.url}/v2/repository/index`, { method: 'POST', body });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: expect.stringContaining(`has ${body.length} bytes, more than the limit of 1048576`) },
    ]);
  });

  it('refuses a chunked body that grows beyond the limit', async () => {
    await using served = await serve({ factory, maxInputBytes: 1000 });
    const socket = await open(served);
    socket.write(`${head(['Transfer-Encoding: chunked'])}7d0\r\n${'x'.repeat(2000)}\r\n0\r\n\r\n`);
    expect(await exchange(socket, /increase the limit/)).toContain(
      'the request body is longer, more than the limit of 1000',
    );
  });

  it('cancels the request of a client that goes away', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ factory, wrap: holding.wrap });
    const socket = await open(served);
    socket.write(WHOLE);
    const request = await holding.next();
    socket.destroy();
    await holding.until(() => holding.cancelled.length > 0);
    expect(holding.cancelled).toEqual([request]);
    let isReleased = false;
    request.respond(
      responseOf(request, {
        release: () => {
          isReleased = true;
        },
      }),
    );
    expect(isReleased).toBe(true);
  });

  it('cancels also requests whose answer waits behind another', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ factory, wrap: holding.wrap });
    const socket = await open(served);
    socket.write(WHOLE.repeat(3));
    await holding.until(() => holding.held.length === 3);
    socket.destroy();
    await holding.until(() => holding.cancelled.length === 3);
    expect(new Set(holding.cancelled)).toEqual(new Set(holding.held));
  });

  it('forgets a client that goes away while it sends', async () => {
    await using served = await serve({ factory });
    const socket = await open(served);
    socket.write(WHOLE.slice(0, -10));
    socket.destroy();
    const answer = await fetch(served.url + PATH, { method: 'POST', body: JSON_BODY });
    expect(answer.status).toBe(200);
  });

  it('gives the memory of an answer back once, when it is written', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ factory, wrap: holding.wrap });
    for (const bytes of [4, 4_000_000]) {
      const header = { inputs: [binaryInput('a', 'FP32', [1], 4)], parameters: { binary_data_output: true } };
      const { body, headers } = binaryBody(header, f32(1));
      const answered = fetch(served.url + PATH, { method: 'POST', body, headers });
      const request = await holding.next();
      let releases = 0;
      const data = new Uint8Array(bytes).fill(7);
      const output = { name: 'y', datatype: 'UINT8', shape: [bytes], data } as const;
      const released = new Promise<void>((resolve) => {
        request.respond(
          responseOf(request, {
            outputs: [output],
            release: () => {
              releases++;
              resolve();
            },
          }),
        );
      });
      const content = Buffer.from(await (await answered).arrayBuffer());
      await released;
      expect([releases, content.subarray(-bytes).equals(data)]).toEqual([1, true]);
    }
  });

  it.each<[string, (request: InferenceRequest) => void, number, string]>([
    [
      'a first answer and the final mark apart',
      (request) => {
        request.respond(responseOf(request), false);
        request.respond(undefined);
      },
      200,
      '"outputs":[]',
    ],
    [
      'two answers',
      (request) => {
        request.respond(responseOf(request), false);
        request.respond(responseOf(request));
      },
      501,
      "doesn't support models with decoupled",
    ],
    ['no answer', (request) => request.respond(undefined), 501, "doesn't support models with decoupled"],
    [
      'a full queue',
      (request) => request.fail(new InferenceServerError('UNAVAILABLE', 'Exceeds maximum queue size')),
      503,
      'Exceeds maximum queue size',
    ],
    ['an internal failure', (request) => request.fail(new InferenceServerError('INTERNAL', 'boom')), 500, 'boom'],
    ['a cancellation', (request) => request.fail(new InferenceServerError('CANCELLED', 'cancelled')), 400, 'cancelled'],
  ])('passes on: %s', async (_name, answer, status, text) => {
    const holding = new HoldingEngine();
    await using served = await serve({ factory, wrap: holding.wrap, retryAfterSeconds: 3 });
    const pending = fetch(served.url + PATH, { method: 'POST', body: JSON_BODY });
    answer(await holding.next());
    const reply = await pending;
    expect([reply.status, await reply.text()]).toEqual([status, expect.stringContaining(text)]);
    expect(reply.headers.get('retry-after')).toBe(status === 503 ? '3' : null);
    expect(served.log.errors.length).toBe(status === 500 ? 1 : 0);
  });

  it('is closed with its current answer once the server closes', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ factory, wrap: holding.wrap });
    const socket = await open(served);
    socket.write(WHOLE);
    const request = await holding.next();
    const closed = served.app.close();
    await new Promise(setImmediate);
    request.respond(responseOf(request));
    const text = await exchange(socket);
    await closed;
    expect([statuses(text), /connection: close/i.test(text)]).toEqual([[200], true]);
  });
});

describe('a slow client', () => {
  const impatient = { headersTimeoutMs: 100, requestTimeoutMs: 200, connectionsCheckingIntervalMs: 20 };

  it('that never finishes its head is told so and closed', async () => {
    await using served = await serve(impatient);
    const socket = await open(served);
    socket.write('POST /v2/models/addsub/infer HTTP/1.1\r\nHost');
    const text = await exchange(socket);
    expect(statuses(text)).toEqual([408]);
    expect(text).toMatch(
      /\r\n\r\n\{"error":"the request did not come in time: .* within 100 ms .* within 200 ms [^"]*"\}$/,
    );
  });

  it('that says nothing at all is closed', async () => {
    await using served = await serve(impatient);
    await exchange(await open(served));
  });

  it('that never finishes its body is told so and closed', async () => {
    await using served = await serve(impatient);
    const socket = await open(served);
    socket.write(WHOLE.slice(0, -1));
    expect(statuses(await exchange(socket))).toEqual([408]);
  });

  it('that is silent between requests is closed', async () => {
    await using served = await serve({ keepAliveTimeoutMs: 50 });
    const socket = await open(served);
    socket.write(WHOLE);
    expect(statuses(await exchange(socket))).toEqual([200]);
  });

  it('that does not take its answer is closed, and the memory given back', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap, sendTimeoutMs: 100 });
    const header = { inputs: [binaryInput('a', 'FP32', [1], 4)], parameters: { binary_data_output: true } };
    const { body, headers } = binaryBody(header, f32(1));
    const socket = await open(served);
    socket.on('error', () => {});
    socket.pause();
    const length = headers['inference-header-content-length'];
    socket.write(head([`Content-Length: ${body.length}`, `Inference-Header-Content-Length: ${length}`]));
    socket.write(body);
    const request = await holding.next();
    const output = { name: 'y', datatype: 'UINT8', shape: [64_000_000], data: new Uint8Array(64_000_000) } as const;
    await new Promise<void>((release) => request.respond(responseOf(request, { outputs: [output], release })));
    socket.destroy();
  });

  it('that takes its answer slowly but surely gets all of it', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap, sendTimeoutMs: 400 });
    const header = { inputs: [binaryInput('a', 'FP32', [1], 4)], parameters: { binary_data_output: true } };
    const { body, headers } = binaryBody(header, f32(1));
    const init = { method: 'POST', body, headers: { ...headers, 'accept-encoding': 'identity' } };
    const pending = fetch(served.url + PATH, init);
    const request = await holding.next();
    const output = { name: 'y', datatype: 'UINT8', shape: [24_000_000], data: new Uint8Array(24_000_000) } as const;
    request.respond(responseOf(request, { outputs: [output] }));
    const reply = await pending;
    let received = 0;
    for await (const piece of reply.body ?? []) {
      received += piece.length;
      await new Promise(setImmediate);
    }
    expect(received).toBe(Number(reply.headers.get('content-length')));
  });
});
