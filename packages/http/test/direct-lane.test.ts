/** Whatever bytes come, in whatever pieces, a connection that is read directly answers as one that Node reads: a server with cross-origin rules leaves all of them to Node. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldingEngine } from '@nereid/testing';
import { mutated } from '@nereid/testing/fuzz';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADD_SUB_JSON, binaryBody, binaryInput, f32, responseOf, type Served, serve } from './fixture.ts';

const INFER = '/v2/models/addsub/infer';
const json = Buffer.from(JSON.stringify(ADD_SUB_JSON));
const inputs = ['a', 'b'].map((name) => binaryInput(name, 'FP32', [1, 3], 12));
const binary = binaryBody({ id: '1', inputs, outputs: [{ name: 'OUTPUT__0' }] }, f32(0, 1, 2), f32(1, 1, 1));
const large = Buffer.from(
  JSON.stringify({ inputs: [{ name: 'x', datatype: 'FP32', shape: [20_000], data: new Array(20_000).fill(0.5) }] }),
);

interface Parts {
  readonly top?: string;
  readonly headers?: readonly string[];
  readonly body?: Buffer | string;
}

function message({ top = `POST ${INFER} HTTP/1.1`, headers = [], body = json }: Parts = {}): Buffer {
  const length = headers.some((line) => /^(content-length|transfer-encoding)/i.test(line))
    ? []
    : [`Content-Length: ${body.length}`];
  return Buffer.concat([
    Buffer.from([top, 'Host: a', ...length, ...headers, '', ''].join('\r\n'), 'latin1'),
    Buffer.from(body),
  ]);
}

const get = (path: string, ...headers: string[]) =>
  Buffer.from([`GET ${path} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n'));
const BINARY = message({
  body: binary.body,
  headers: Object.entries(binary.headers).map(([name, value]) => `${name}: ${value}`),
});
const LIVE = get('/v2/health/live');

let direct: Served;
let ofNode: Served;
beforeAll(async () => {
  direct = await serve();
  ofNode = await serve({ corsOrigins: ['https://example.com'] });
});
afterAll(async () => {
  await direct[Symbol.asyncDispose]();
  await ofNode[Symbol.asyncDispose]();
});

/** Whether the text is whole answers and nothing else. */
function isWhole(text: string): boolean {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\r\n\r\n', at);
    if (end === -1) return false;
    const top = text.slice(at, end);
    if (!top.startsWith('HTTP/1.1 100')) at = end + 4 + Number(/content-length: (\d+)/i.exec(top)?.[1] ?? 0);
    else at = end + 4;
    if (at > text.length) return false;
  }
  return true;
}

/** All that the server sends for these pieces, and whether it closes. Silence for so long is the end when so many answers are there and none is unfinished. */
async function answerTo(
  { port }: Served,
  pieces: readonly Buffer[],
  { silentMs, answers }: { readonly silentMs: number; readonly answers: number },
): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  let [text, isClosed, heard] = ['', false, performance.now()];
  socket.on('data', (piece) => {
    text += piece.toString('latin1');
    heard = performance.now();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
  });
  for (const piece of pieces) {
    socket.write(piece);
    if (pieces.length > 1) await delay(3);
  }
  while (!isClosed && (performance.now() - heard < silentMs || !isWhole(text) || statuses(text).length < answers))
    await delay(5);
  socket.destroy();
  return `${text}${isClosed ? '(closed)' : ''}`;
}

/** Without what differs between any two servers, or two seconds. */
function comparable(text: string): string[] {
  return text
    .split('\r\n')
    .filter((line) => !/^(date|vary):/i.test(line))
    .map((line) => (/^[\w-]+: /.test(line) ? line.replace(/^[\w-]+/, (name) => name.toLowerCase()) : line))
    .sort();
}

/** The same from both. What seems to differ is looked at once more with all patience: on a busy machine silence may be no end. */
async function expectEqual(
  pieces: readonly Buffer[],
  { answers = 0, part = (text: string) => text } = {},
): Promise<string> {
  for (const silentMs of [60, 2000]) {
    const texts = await Promise.all([direct, ofNode].map((served) => answerTo(served, pieces, { silentMs, answers })));
    const [ours, nodes] = texts.map((text) => comparable(part(text)));
    if (silentMs === 2000)
      expect({ sent: Buffer.concat(pieces).toString('latin1'), ours }).toMatchObject({ ours: nodes });
    if (ours?.join() === nodes?.join()) return texts[0] ?? '';
  }
  return '';
}

/** Whether Node answers a request before it finds what follows in the same piece broken depends on when the answer is ready. */
const lastOf = (text: string) => text.slice(Math.max(0, text.lastIndexOf('HTTP/1.1 ')));

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

describe('answered as by Node', () => {
  it.each<[string, number[], Buffer[]]>([
    ['JSON', [200], [message()]],
    ['binary data', [200], [BINARY]],
    ['a query', [200], [message({ top: `POST ${INFER}?a=b HTTP/1.1` })]],
    ['an escaped path', [200], [message({ top: 'POST /v2/models/%61ddsub/infer HTTP/1.1' })]],
    ['a model that is not there', [404], [message({ top: 'POST /v2/models/none/infer HTTP/1.1' })]],
    ['a body that is no JSON', [400], [message({ body: '{' })]],
    ['no body', [400], [message({ body: '' })]],
    ['several, one after the other', [200, 200, 200], [message(), BINARY, message()]],
    ['GET', [200], [LIVE]],
    ['GET of metadata, then an inference', [200, 200, 200], [get('/v2'), message(), get('/v2/models/addsub')]],
    ['GET of what is not there', [404, 200], [get('/none'), message()]],
    ['HEAD', [405, 200], [Buffer.from('HEAD /v2 HTTP/1.1\r\nHost: a\r\n\r\n'), message()]],
    ['another POST', [200, 200], [message({ top: 'POST /v2/repository/index HTTP/1.1', body: '{}' }), message()]],
    [
      'chunks',
      [200, 200],
      [
        message({
          headers: ['Transfer-Encoding: chunked'],
          body: `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`,
        }),
        message(),
      ],
    ],
    ['length and chunks', [400], [message({ headers: ['Content-Length: 3', 'Transfer-Encoding: chunked'] })]],
    ['two lengths', [400], [message({ headers: ['Content-Length: 3', 'Content-Length: 3'] })]],
    ['a length that is none', [400], [message({ headers: ['Content-Length: x'] })]],
    ['a negative length', [400], [message({ headers: ['Content-Length: -1'] })]],
    ['a large body', [400, 200], [message({ body: large }), message()]],
    ['HTTP/1.0', [200], [message({ top: `POST ${INFER} HTTP/1.0` })]],
    ['HTTP/1.0 that stays', [200], [message({ top: `POST ${INFER} HTTP/1.0`, headers: ['Connection: keep-alive'] })]],
    ['HTTP/2.0', [200], [message({ top: `POST ${INFER} HTTP/2.0` })]],
    ['a connection that ends', [200, 200], [message(), message({ headers: ['Connection: close'] })]],
    ['a connection that stays', [200, 200], [message({ headers: ['Connection: Keep-Alive'] }), message()]],
    ['a name twice', [200, 200], [message({ headers: ['X-A: 1', 'x-a: 2'] }), message()]],
    ['a name of an object', [200], [message({ headers: ['__proto__: 1', 'constructor: 2'] })]],
    ['a folded line', [400], [message({ headers: ['X-A: 1', ' 2'] })]],
    ['a name with a blank', [400], [message({ headers: ['X A: 1'] })]],
    ['a blank before the colon', [400], [message({ headers: ['X-A : 1'] })]],
    ['no name', [400], [message({ headers: [': 1'] })]],
    ['an empty value', [200], [message({ headers: ['X-A:', 'X-B: \t '] })]],
    ['a value of other characters', [200], [message({ headers: ['X-A: \u00e9'] })]],
    ['a control character', [400], [message({ headers: ['X-A: \u0001'] })]],
    ['two hosts', [200], [message({ headers: ['Host: b'] })]],
    ['no host', [400], [Buffer.from(`POST ${INFER} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`)]],
    ['a bare line feed', [400], [Buffer.from(`POST ${INFER} HTTP/1.1\nHost: a\nContent-Length: 0\n\n`)]],
    ['an empty line before', [200], [Buffer.concat([Buffer.from('\r\n'), message()])]],
    ['an expectation', [200], [message({ headers: ['Expect: 100-continue'] })]],
    ['an upgrade', [200], [message({ headers: ['Connection: Upgrade', 'Upgrade: h2c'] })]],
    ['an absolute address', [404], [message({ top: `POST http://a${INFER} HTTP/1.1` })]],
    ['a method in lower case', [400], [message({ top: `post ${INFER} HTTP/1.1` })]],
    ['a head beyond all limits', [431], [message({ headers: [`X-A: ${'a'.repeat(100_000)}`] })]],
    ['very many headers', [200], [message({ headers: Array.from({ length: 150 }, (_, i) => `x-${i}: 1`) })]],
    ['another protocol', [400], [Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0])]],
  ])('%s', async (_, expected, requests) => {
    const text = await expectEqual(requests, { answers: expected.length });
    const found = statuses(text).filter((status) => status !== 100);
    expect(found).toEqual(expected);
  });

  it('however a request is cut', async () => {
    const whole = Buffer.concat([BINARY]);
    const cuts = Array.from({ length: whole.length - 1 }, (_, i) => [whole.subarray(0, i + 1), whole.subarray(i + 1)]);
    const texts = await Promise.all(cuts.map((pieces) => answerTo(direct, pieces, { silentMs: 20, answers: 1 })));
    const expected = comparable(await answerTo(ofNode, [whole], { silentMs: 20, answers: 1 }));
    for (const text of texts) expect(comparable(text)).toEqual(expected);
  });

  it('byte by byte', async () => {
    const text = await expectEqual(
      Array.from(message(), (byte) => Buffer.from([byte])),
      { answers: 1 },
    );
    expect(statuses(text)).toEqual([200]);
  });

  it('when several come joined, with the beginning of the next', async () => {
    const joined = Buffer.concat([message(), LIVE, BINARY, message(), LIVE]);
    const text = await expectEqual([joined.subarray(0, joined.length - 20), joined.subarray(joined.length - 20)], {
      answers: 5,
    });
    expect(statuses(text)).toEqual([200, 200, 200, 200, 200]);
  });

  it('when many come joined, more than wait at a time', async () => {
    const text = await expectEqual([Buffer.concat(new Array(600).fill(message()))], { answers: 600 });
    expect(statuses(text)).toEqual(new Array(600).fill(200));
  });

  it('whatever was changed in a request', async () => {
    const dictionary = [
      '\r\n',
      '\n',
      ' ',
      ':',
      ',',
      'Content-Length: 5\r\n',
      'Connection: close\r\n',
      'GET ',
      'HTTP/1.0',
      '%2f',
      '\u00ff',
    ];
    const changed = mutated(fc.constantFrom(message(), BINARY, LIVE, Buffer.concat([message(), LIVE])), {
      dictionary,
      changes: 2,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(changed, { minLength: 24, maxLength: 24 }), async (all) => {
        await Promise.all(all.map((bytes) => expectEqual([bytes], { part: lastOf })));
      }),
      { numRuns: 6, endOnFailure: true },
    );
  }, 60_000);
});

describe('a connection that is read directly', () => {
  const open = (served: Served): Promise<Socket> => {
    const socket = connect(served.port, '127.0.0.1');
    return once(socket, 'connect').then(() => socket);
  };
  const received = async (socket: Socket, count: number): Promise<string> => {
    let text = '';
    while (statuses(text).length < count || !isWhole(text)) text += String((await once(socket, 'data'))[0]);
    return text;
  };

  it('makes no messages of Node for an inference that comes in one piece, and leaves others to Node for good', async () => {
    await using served = await serve();
    const seen: (string | undefined)[] = [];
    served.app.server.on('request', ({ url }) => seen.push(url));
    const chunked = message({
      headers: ['Transfer-Encoding: chunked'],
      body: `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`,
    });
    const socket = await open(served);
    const counts: number[] = [];
    for (const request of [message(), BINARY, message(), chunked, message()]) {
      const answer = received(socket, 1);
      socket.write(request);
      expect(statuses(await answer)).toEqual([200]);
      counts.push(seen.length);
    }
    socket.destroy();
    expect(counts).toEqual([0, 0, 0, 1, 2]);
  });

  it('has its answers in the order of the requests, though a later one is ready first', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const socket = await open(served);
    socket.write(message());
    const held = await holding.next();
    socket.write(LIVE);
    socket.write(message());
    await delay(30);
    held.respond(responseOf(held, { modelVersion: 'first' }), true);
    const next = await holding.next();
    next.respond(responseOf(next, { modelVersion: 'second' }), true);
    const text = await received(socket, 3);
    expect([...text.matchAll(/"model_version":"(\w+)"/g)].map(([, id]) => id)).toEqual(['first', 'second']);
    socket.destroy();
  });

  it('gives no header of one request to another', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap, forwardHeaders: '^x-' });
    const socket = await open(served);
    const seen: unknown[] = [];
    for (const headers of [['X-A: 1'], [], ['X-B: 2'], ['X-A: 1'], []]) {
      const answer = received(socket, 1);
      socket.write(message({ headers }));
      const held = await holding.next();
      seen.push(Object.fromEntries(held.parameters));
      held.respond(responseOf(held), true);
      expect(statuses(await answer)).toEqual([200]);
    }
    socket.destroy();
    expect(seen).toEqual([{ 'X-A': '1' }, {}, { 'X-B': '2' }, { 'X-A': '1' }, {}]);
  });

  it('is closed when it rests for too long, not while a model runs', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap, keepAliveTimeoutMs: 200 });
    const socket = await open(served);
    let isClosed = false;
    socket.on('close', () => {
      isClosed = true;
    });
    socket.write(message());
    const held = await holding.next();
    await delay(600);
    expect(isClosed).toBe(false);
    const answer = received(socket, 1);
    held.respond(responseOf(held), true);
    expect(statuses(await answer)).toEqual([200]);
    if (!isClosed) await once(socket, 'close');
  });

  it('gets its answer when the server closes while its request comes', async () => {
    const served = await serve();
    const socket = await open(served);
    const first = received(socket, 1);
    socket.write(message());
    await first;
    const whole = message();
    socket.write(whole.subarray(0, 50));
    // The piece has been read when the server knows of a later connection.
    await fetch(`${served.url}/v2/health/live`);
    await delay(20);
    const closed = served.app.close();
    await delay(20);
    const answer = received(socket, 1);
    const ends = once(socket, 'close');
    socket.write(whole.subarray(50));
    expect(statuses(await answer)).toEqual([200]);
    await ends;
    await closed;
    await served[Symbol.asyncDispose]();
  });

  it('is left to Node when a request comes slowly, however small its pieces are', async () => {
    await using served = await serve({ headersTimeoutMs: 300, connectionsCheckingIntervalMs: 50 });
    const socket = await open(served);
    const isClosed = once(socket, 'close');
    const answer = received(socket, 1);
    let pieces = 1;
    const drip = setInterval(() => {
      socket.write('a');
      pieces++;
    }, 200);
    socket.write(`POST ${INFER} HTTP/1.1\r\nX-A: `);
    expect(statuses(await answer)).toEqual([408]);
    clearInterval(drip);
    await isClosed;
    // With its sixteenth piece any request is Node's.
    expect(pieces).toBeLessThan(14);
  });

  it('ends with the server: at once when it rests, with its answer when a model runs', async () => {
    const holding = new HoldingEngine();
    const served = await serve({ wrap: holding.wrap });
    const [resting, running] = [await open(served), await open(served)];
    const first = received(resting, 1);
    resting.write(LIVE);
    await first;
    running.write(message());
    const held = await holding.next();
    const rests = once(resting, 'close');
    const closed = served.app.close();
    await rests;
    const answer = received(running, 1);
    const ends = once(running, 'close');
    held.respond(responseOf(held), true);
    expect((await answer).toLowerCase()).toContain('connection: close');
    await ends;
    await closed;
    await served[Symbol.asyncDispose]();
  });
});
