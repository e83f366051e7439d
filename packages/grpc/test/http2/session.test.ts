/** The rules of RFC 9113, by section, kept and broken by a client that sends bare frames. */
import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EchoServer, serveEcho } from './echo-server.ts';
import {
  ACK,
  block,
  END_HEADERS,
  END_STREAM,
  frame,
  PADDED,
  PREFACE,
  PRIORITY,
  RawClient,
  settings,
  TYPE,
  uint32,
} from './raw-client.ts';

const CODE = {
  none: 0,
  protocol: 1,
  flowControl: 3,
  closed: 5,
  frameSize: 6,
  refused: 7,
  compression: 9,
  calm: 11,
} as const;
const SETTING = { table: 1, push: 2, window: 4, frame: 5 } as const;

const headersOf = (path: string, ...more: readonly (readonly [string, string])[]) =>
  block([[':method', 'POST'], [':scheme', 'http'], [':path', path], [':authority', 'x'], ...more]);
const request = (streamId: number, path = '/echo', ...more: readonly (readonly [string, string])[]) =>
  frame(TYPE.headers, END_HEADERS, streamId, headersOf(path, ...more));
const data = (streamId: number, bytes: string | Uint8Array, flags = END_STREAM) =>
  frame(TYPE.data, flags, streamId, Buffer.from(bytes));
const padded = (bytes: Uint8Array, padding: number, announced = padding) =>
  Buffer.concat([Buffer.of(announced), bytes, Buffer.alloc(padding)]);

/** On a busy machine a moment may be long. */
const eventually = <Value>(read: () => Value) => expect.poll(read, { timeout: 15_000 });

/** Another client is served as if nothing had happened. */
async function expectService({ port }: EchoServer): Promise<void> {
  using other = RawClient.open(port);
  other.send(request(1), data(1, 'still here'));
  expect(String((await other.answer(1)).body)).toBe('still here');
}

describe('a request', () => {
  it.each<[name: string, frames: Buffer[]]>([
    ['in one frame each', [request(1), data(1, 'abc')]],
    ['whose body comes in pieces', [request(1), data(1, 'a', 0), data(1, 'b', 0), data(1, 'c')]],
    ['that ends with an empty frame', [request(1), data(1, 'abc', 0), data(1, '')]],
    [
      'that ends with trailers',
      [request(1), data(1, 'abc', 0), frame(TYPE.headers, END_HEADERS | END_STREAM, 1, block([['x', 'y']]))],
    ],
    ['with padding', [request(1), frame(TYPE.data, PADDED | END_STREAM, 1, padded(Buffer.from('abc'), 200))]],
    [
      'with padding and nothing else before it',
      [request(1), frame(TYPE.data, PADDED, 1, padded(Buffer.alloc(0), 9)), data(1, 'abc')],
    ],
    [
      'whose headers have padding and a priority',
      [
        frame(
          TYPE.headers,
          END_HEADERS | PADDED | PRIORITY,
          1,
          padded(Buffer.concat([uint32(0), Buffer.of(9), headersOf('/echo')]), 5),
        ),
        data(1, 'abc'),
      ],
    ],
    [
      'whose headers are continued',
      [
        frame(TYPE.headers, 0, 1, headersOf('/echo').subarray(0, 20)),
        frame(TYPE.continuation, 0, 1, headersOf('/echo').subarray(20, 21)),
        frame(TYPE.continuation, END_HEADERS, 1, headersOf('/echo').subarray(21)),
        data(1, 'abc'),
      ],
    ],
    ['behind streams that were passed over', [request(7), data(7, 'abc')]],
    [
      'among frames that say nothing',
      [
        frame(TYPE.priority, 0, 9, Buffer.of(0, 0, 0, 0, 1)),
        frame(0xfa, 0xff, 5, Buffer.alloc(30)),
        request(1),
        frame(0xfb, 0, 0),
        data(1, 'abc'),
      ],
    ],
    ['of a length that it says', [request(1, '/echo', ['content-length', '3']), data(1, 'abc')]],
    ['after a setting that nobody knows', [settings([0xf0, 1]), request(1), data(1, 'abc')]],
    [
      'with flags that nobody knows',
      [frame(TYPE.headers, END_HEADERS | 0xc2, 1, headersOf('/echo')), data(1, 'abc', END_STREAM | 0xf0)],
    ],
  ])('%s is answered, however its bytes come', async (_, frames) => {
    await using served = await serveEcho();
    const bytes = Buffer.concat([PREFACE, settings(), ...frames]);
    using whole = new RawClient(served.port);
    whole.send(bytes);
    using slow = new RawClient(served.port);
    for (const byte of bytes) slow.socket.write(Buffer.of(byte));
    for (const client of [whole, slow]) {
      const stream = frames.some((sent) => sent.readUInt32BE(5) === 7) ? 7 : 1;
      expect(await client.answer(stream)).toEqual({
        fields: { ':status': '200', 'x-end': 'yes' },
        body: Buffer.from('abc'),
      });
    }
  });

  it('is read as any client encodes it', async () => {
    await using served = await serveEcho();
    const client = connect(`http://127.0.0.1:${served.port}`);
    const name = fc.stringMatching(/^x[a-z0-9_.-]{0,40}$/);
    const value = fc.stringMatching(/^([!-~]([ -~]{0,200}[!-~])?)?$/);
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, value, { maxKeys: 20 }), async (headers) => {
        const stream = client.request({ ':method': 'POST', ':path': '/headers', ...headers });
        stream.end();
        const pieces: Buffer[] = [];
        for await (const piece of stream) pieces.push(piece);
        expect(JSON.parse(String(Buffer.concat(pieces)))).toMatchObject({ ...headers });
      }),
      { numRuns: 100, seed: 7541 },
    );
    client.close();
  });

  it('whose headers repeat is told of them once, joined', async () => {
    await using served = await serveEcho();
    using client = RawClient.open(served.port);
    client.send(request(1, '/headers', ['k', 'a'], ['k-bin', 'AA=='], ['k', 'b'], ['k-bin', 'AQ==']), data(1, ''));
    expect(JSON.parse(String((await client.answer(1)).body))).toMatchObject({ k: 'a, b', 'k-bin': 'AA==, AQ==' });
  });

  it('that is answered before it ends is told to stop', async () => {
    await using served = await serveEcho();
    using client = RawClient.open(served.port);
    client.send(request(1, '/early'), data(1, 'more', 0));
    expect(String((await client.answer(1)).body)).toBe('early');
    expect(await client.reset(1)).toBe(CODE.none);
    // What was under way is passed over.
    client.send(data(1, 'still more', 0), data(1, ''), request(3), data(3, 'next'));
    expect(String((await client.answer(3)).body)).toBe('next');
    client.send(request(5, '/early'), data(5, ''), frame(TYPE.ping, 0, 0, Buffer.alloc(8)));
    await client.find(({ type }) => type === TYPE.ping);
    expect(client.frames.filter(({ type }) => type === TYPE.rstStream)).toHaveLength(1);
  });
});

describe('a call that breaks a rule', () => {
  const malformed = (name: string, ...fields: readonly (readonly [string, string])[]) =>
    [name, [frame(TYPE.headers, END_HEADERS | END_STREAM, 1, block(fields))], CODE.protocol] as const;
  const [method, scheme, path] = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', '/echo'],
  ] as const;

  it.each<readonly [name: string, frames: readonly Buffer[], code: number]>([
    malformed('8.3.1: no method', scheme, path),
    malformed('8.3.1: no scheme', method, path),
    malformed('8.3.1: no path', method, scheme),
    malformed('8.3.1: an empty path', method, scheme, [':path', '']),
    malformed('8.3.1: a path twice', method, scheme, path, path),
    malformed('8.3: a pseudo-header of answers', method, scheme, path, [':status', '200']),
    malformed('8.3: an unknown pseudo-header', method, scheme, path, [':test', 'x']),
    malformed('8.3: a pseudo-header behind others', method, scheme, ['x', 'y'], path),
    malformed('8.2.1: a name with capitals', method, scheme, path, ['X-Y', 'z']),
    malformed('8.2.1: a name with blanks', method, scheme, path, ['x y', 'z']),
    malformed('8.2.1: a name of nothing', method, scheme, path, ['', 'z']),
    malformed('8.2.1: a line feed in a value', method, scheme, path, ['x', 'a\nb']),
    malformed('8.2.1: a zero in a value', method, scheme, path, ['x', 'a\0b']),
    malformed('8.2.1: a value behind a blank', method, scheme, path, ['x', ' a']),
    malformed('8.2.2: connection', method, scheme, path, ['connection', 'keep-alive']),
    malformed('8.2.2: transfer-encoding', method, scheme, path, ['transfer-encoding', 'chunked']),
    malformed('8.2.2: te of another kind', method, scheme, path, ['te', 'gzip']),
    [
      '8.1.1: a body shorter than its length',
      [request(1, '/echo', ['content-length', '4']), data(1, 'abc')],
      CODE.protocol,
    ],
    [
      '8.1.1: a body longer than its length',
      [request(1, '/echo', ['content-length', '2']), data(1, 'abc')],
      CODE.protocol,
    ],
    ['8.1.1: a length that is none', [request(1, '/echo', ['content-length', '-1']), data(1, 'abc')], CODE.protocol],
    [
      '8.1: headers in the middle',
      [request(1), frame(TYPE.headers, END_HEADERS, 1, block([['x', 'y']]))],
      CODE.protocol,
    ],
    [
      '8.1: a pseudo-header in the trailers',
      [request(1), frame(TYPE.headers, END_HEADERS | END_STREAM, 1, block([path]))],
      CODE.protocol,
    ],
    ['5.1: data behind its end', [request(1, '/hold'), data(1, 'a'), data(1, 'b')], CODE.closed],
    [
      '5.1: headers behind its end',
      [request(1, '/hold'), data(1, 'a'), frame(TYPE.headers, END_HEADERS | END_STREAM, 1, block([['x', 'y']]))],
      CODE.closed,
    ],
    [
      '6.9: a window that grows by nothing',
      [request(1, '/hold'), frame(TYPE.windowUpdate, 0, 1, uint32(0))],
      CODE.protocol,
    ],
    [
      '6.9.1: a window that becomes too large',
      [request(1, '/hold'), frame(TYPE.windowUpdate, 0, 1, uint32(2 ** 31 - 1))],
      CODE.flowControl,
    ],
    ['6.9: more data than its window', [request(1, '/pause'), data(1, Buffer.alloc(1001), 0)], CODE.flowControl],
    [
      '5.3.1: a stream that depends on itself',
      [request(1, '/hold'), frame(TYPE.priority, 0, 1, Buffer.of(0, 0, 0, 1, 9))],
      CODE.protocol,
    ],
  ])('%s: it is reset, and the connection serves on', async (_, frames, code) => {
    await using served = await serveEcho({ callWindowBytes: 1000 });
    using client = RawClient.open(served.port);
    client.send(...frames);
    expect(await client.reset(1)).toBe(code);
    client.send(request(3), data(3, 'next'));
    expect(String((await client.answer(3)).body)).toBe('next');
    expect(served.calls.filter(({ path }) => path === '/hold').every(({ isClosed }) => isClosed)).toBe(true);
  });

  it('5.1: data for one that was answered and ended tells that it is over', async () => {
    await using served = await serveEcho();
    using client = RawClient.open(served.port);
    client.send(request(1), data(1, 'a'));
    await client.answer(1);
    client.send(data(1, 'b'));
    expect(await client.reset(1)).toBe(CODE.closed);
  });
});

describe('a connection that breaks a rule', () => {
  const hello = [PREFACE, settings()];
  it.each<readonly [name: string, frames: readonly Uint8Array[], code: number]>([
    ['3.4: no preface', [Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')], CODE.protocol],
    ['3.4: a preface that goes wrong at its end', [Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r!')], CODE.protocol],
    ['3.4: no settings first', [PREFACE, frame(TYPE.ping, 0, 0, Buffer.alloc(8))], CODE.protocol],
    ['4.2: a frame larger than it may be', [...hello, frame(TYPE.data, 0, 1).fill(0xff, 0, 3)], CODE.frameSize],
    [
      '4.3: a block that cannot be decoded',
      [...hello, frame(TYPE.headers, END_HEADERS, 1, Buffer.of(0xff))],
      CODE.compression,
    ],
    ['5.1: data on a stream that has not begun', [...hello, data(1, 'x')], CODE.protocol],
    ['5.1: a reset of one that has not begun', [...hello, frame(TYPE.rstStream, 0, 1, uint32(8))], CODE.protocol],
    ['5.1: a window of one that has not begun', [...hello, frame(TYPE.windowUpdate, 0, 1, uint32(8))], CODE.protocol],
    ['5.1.1: an even stream', [...hello, request(2)], CODE.protocol],
    ['5.1.1: a stream below the last one', [...hello, request(5), data(5, 'x'), request(3)], CODE.protocol],
    [
      '5.1: headers of a stream that is over',
      [...hello, request(1, '/early'), data(1, ''), request(3, '/early'), data(3, ''), request(1)],
      CODE.closed,
    ],
    ['6.1: data without a stream', [...hello, data(0, 'x')], CODE.protocol],
    [
      '6.1: more padding than bytes',
      [...hello, request(1), frame(TYPE.data, PADDED, 1, Buffer.of(3, 0, 0))],
      CODE.protocol,
    ],
    ['6.2: headers without a stream', [...hello, request(0)], CODE.protocol],
    [
      '6.2: more padding than headers',
      [...hello, frame(TYPE.headers, PADDED | END_HEADERS, 1, Buffer.of(3, 0, 0))],
      CODE.protocol,
    ],
    [
      '6.2: an end inside a block',
      [...hello, frame(TYPE.headers, 0, 1, headersOf('/')), frame(TYPE.ping, 0, 0, Buffer.alloc(8))],
      CODE.protocol,
    ],
    [
      '6.2: a block that depends on itself',
      [
        ...hello,
        frame(TYPE.headers, END_HEADERS | PRIORITY, 1, Buffer.concat([uint32(1), Buffer.of(0), headersOf('/')])),
      ],
      CODE.protocol,
    ],
    ['6.3: a priority without a stream', [...hello, frame(TYPE.priority, 0, 0, Buffer.alloc(5))], CODE.protocol],
    ['6.3: a priority of another size', [...hello, frame(TYPE.priority, 0, 1, Buffer.alloc(4))], CODE.frameSize],
    ['6.4: a reset without a stream', [...hello, frame(TYPE.rstStream, 0, 0, uint32(8))], CODE.protocol],
    [
      '6.4: a reset of another size',
      [...hello, request(1), frame(TYPE.rstStream, 0, 1, Buffer.alloc(3))],
      CODE.frameSize,
    ],
    ['6.5: settings of a stream', [...hello, frame(TYPE.settings, 0, 1)], CODE.protocol],
    ['6.5: settings of another size', [...hello, frame(TYPE.settings, 0, 0, Buffer.alloc(7))], CODE.frameSize],
    [
      '6.5: an acknowledgement with settings',
      [...hello, frame(TYPE.settings, ACK, 0, Buffer.alloc(6))],
      CODE.frameSize,
    ],
    ['6.5.2: push that is neither on nor off', [...hello, settings([SETTING.push, 2])], CODE.protocol],
    ['6.5.2: a window larger than any', [...hello, settings([SETTING.window, 2 ** 31])], CODE.flowControl],
    ['6.5.2: frames smaller than any', [...hello, settings([SETTING.frame, 16_383])], CODE.protocol],
    ['6.5.2: frames larger than any', [...hello, settings([SETTING.frame, 2 ** 24])], CODE.protocol],
    [
      '6.6: a promise',
      [...hello, request(1, '/hold'), frame(TYPE.pushPromise, END_HEADERS, 1, uint32(2))],
      CODE.protocol,
    ],
    ['6.7: a ping of a stream', [...hello, frame(TYPE.ping, 0, 1, Buffer.alloc(8))], CODE.protocol],
    ['6.7: a ping of another size', [...hello, frame(TYPE.ping, 0, 0, Buffer.alloc(6))], CODE.frameSize],
    ['6.8: a farewell of a stream', [...hello, frame(TYPE.goAway, 0, 1, uint32(0, 0))], CODE.protocol],
    ['6.8: a farewell of another size', [...hello, frame(TYPE.goAway, 0, 0, uint32(0))], CODE.frameSize],
    ['6.9: a window that grows by nothing', [...hello, frame(TYPE.windowUpdate, 0, 0, uint32(0))], CODE.protocol],
    ['6.9: a window of another size', [...hello, frame(TYPE.windowUpdate, 0, 0, Buffer.alloc(3))], CODE.frameSize],
    [
      '6.9.1: a window that becomes too large',
      [...hello, frame(TYPE.windowUpdate, 0, 0, uint32(2 ** 31 - 1))],
      CODE.flowControl,
    ],
    [
      '6.9.2: windows that settings make too large',
      [
        ...hello,
        request(1, '/hold'),
        frame(TYPE.windowUpdate, 0, 1, uint32(2 ** 31 - 1 - 65_535)),
        settings([SETTING.window, 65_536]),
      ],
      CODE.flowControl,
    ],
    [
      '6.9: more data than its window',
      [...hello, request(1, '/pause'), data(1, Buffer.alloc(70_000), 0)],
      CODE.flowControl,
    ],
    [
      '6.10: a continuation of nothing',
      [...hello, frame(TYPE.continuation, END_HEADERS, 1, headersOf('/'))],
      CODE.protocol,
    ],
    [
      '6.10: a continuation of another stream',
      [...hello, frame(TYPE.headers, 0, 1, headersOf('/')), frame(TYPE.continuation, END_HEADERS, 3)],
      CODE.protocol,
    ],
  ])('%s: it is told so and ends with its calls, and others are served', async (_, frames, code) => {
    await using served = await serveEcho({ connectionWindowBytes: 65_535 });
    using client = new RawClient(served.port);
    client.send(...frames);
    expect(await client.goAway()).toBe(code);
    await client.closed();
    expect(served.calls.every(({ isClosed }) => isClosed)).toBe(true);
    await expectService(served);
  });

  it('ends when nothing comes in time', async () => {
    await using served = await serveEcho({ beginTimeoutMs: 20 });
    using silent = new RawClient(served.port);
    using begun = new RawClient(served.port);
    begun.send(PREFACE);
    expect([await silent.goAway(), await begun.goAway()]).toEqual([CODE.protocol, CODE.protocol]);
    await Promise.all([silent.closed(), begun.closed()]);
  });
});

describe('a client that costs too much', () => {
  const few = { burst: 20, perSecond: 0 };
  const limits = { resets: few, idleFrames: few, maxConcurrentCalls: 4, maxMetadataBytes: 1000 };
  const times = (count: number, of: (i: number) => Buffer) => Array.from({ length: count }, (_, i) => of(i));
  const cancelled = (i: number) =>
    Buffer.concat([request(i * 2 + 1, '/hold'), frame(TYPE.rstStream, 0, i * 2 + 1, uint32(8))]);

  it.each<[name: string, frames: (count: number) => Buffer[]]>([
    ['with calls that it takes back', (count) => times(count, cancelled)],
    [
      'with calls that it breaks',
      (count) => times(count, (i) => frame(TYPE.headers, END_HEADERS, i * 2 + 1, block([['x', 'y']]))),
    ],
    ['with calls beyond those at a time', (count) => times(count + 4, (i) => request(i * 2 + 1, '/hold'))],
    ['with pings', (count) => times(count, () => frame(TYPE.ping, 0, 0, Buffer.alloc(8)))],
    ['with settings', (count) => times(count, () => settings([SETTING.window, 100]))],
    ['with priorities', (count) => times(count, () => frame(TYPE.priority, 0, 1, Buffer.of(0, 0, 0, 3, 9)))],
    ['with frames that nobody knows', (count) => times(count, () => frame(0xee, 0, 0))],
    ['with data of nothing', (count) => [request(1, '/hold'), ...times(count, () => data(1, '', 0))]],
  ])('%s is told to calm down, and one that does it less is not', async (_, frames) => {
    await using served = await serveEcho(limits);
    using modest = RawClient.open(served.port);
    modest.send(...frames(20), frame(TYPE.ping, ACK, 0, Buffer.alloc(8)));
    using client = RawClient.open(served.port);
    client.send(...frames(21));
    expect(await client.goAway()).toBe(CODE.calm);
    await client.closed();
    expect(modest.isClosed).toBe(false);
    await expectService(served);
  });

  it.each<[name: string, frames: Buffer[]]>([
    [
      'headers without end',
      times(80, (i) => frame(i === 0 ? TYPE.headers : TYPE.continuation, 0, 1, Buffer.alloc(60, 0x82))),
    ],
    ['continuations of nothing', times(80, (i) => frame(i === 0 ? TYPE.headers : TYPE.continuation, 0, 1))],
    ['a frame of settings without end', [frame(TYPE.settings, 0, 0, Buffer.alloc(6 * 200))]],
  ])('with %s is told to calm down', async (_, frames) => {
    await using served = await serveEcho(limits);
    using client = RawClient.open(served.port);
    client.send(...frames);
    expect(await client.goAway()).toBe(CODE.calm);
    await expectService(served);
  });

  it('is answered a call whose headers are too large, and keeps the connection', async () => {
    await using served = await serveEcho(limits);
    using client = RawClient.open(served.port);
    // Ten bytes on the wire that stand for many: the value is in the table.
    const large = Buffer.concat([
      Buffer.of(0x40, 1),
      Buffer.from('a'),
      Buffer.of(0x7f, 0x81, 6),
      Buffer.alloc(896, 'v'),
    ]);
    client.send(frame(TYPE.headers, END_HEADERS | END_STREAM, 1, Buffer.concat([headersOf('/echo'), large])));
    client.send(
      frame(TYPE.headers, END_HEADERS | END_STREAM, 3, Buffer.concat([headersOf('/echo'), Buffer.alloc(500, 0xbe)])),
    );
    client.send(request(5), data(5, 'next'));
    expect([(await client.answer(1)).fields[':status'], (await client.answer(3)).fields[':status']]).toEqual([
      '431',
      '431',
    ]);
    expect(String((await client.answer(5)).body)).toBe('next');
  });

  it('is cut off when it asks and asks and reads nothing', async () => {
    await using served = await serveEcho({ idleFrames: { burst: 1e9, perSecond: 0 }, maxControlBytes: 4096 });
    using client = RawClient.open(served.port, [SETTING.window, 2 ** 31 - 1]);
    client.send(frame(TYPE.windowUpdate, 0, 0, uint32(2 ** 30)));
    client.socket.pause();
    client.send(request(1, '/large', ['x-bytes', String(64 * 2 ** 20)]));
    const ask = () => {
      if (client.socket.writableLength < 2 ** 20)
        client.send(...times(1000, () => frame(TYPE.ping, 0, 0, Buffer.alloc(8))));
    };
    const timer = setInterval(ask, 1);
    await client.closed();
    clearInterval(timer);
    expect(served.calls[0]?.isClosed).toBe(true);
    await expectService(served);
  });

  it('is refused the calls beyond those at a time, and may make them again', async () => {
    await using served = await serveEcho({ maxConcurrentCalls: 2 });
    using client = RawClient.open(served.port);
    client.send(request(1, '/hold'), request(3), request(5), data(5, 'x', 0));
    expect(await client.reset(5)).toBe(CODE.refused);
    client.send(data(3, 'third'));
    await client.answer(3);
    client.send(request(7), data(7, 'fourth'));
    expect(String((await client.answer(7)).body)).toBe('fourth');
    expect(served.calls).toHaveLength(3);
  });
});

describe('flow control', () => {
  const answered = (client: RawClient, streamId: number) => client.body(streamId).length;
  const quiet = async (client: RawClient) => {
    const seen = client.frames.filter(({ type }) => type === TYPE.ping).length;
    client.send(frame(TYPE.ping, 0, 0, Buffer.alloc(8)));
    await client.until(() => client.frames.filter(({ type }) => type === TYPE.ping).length > seen);
  };

  it('sends no more than the windows of stream and connection allow, to the byte', async () => {
    await using served = await serveEcho();
    using client = RawClient.open(served.port, [SETTING.window, 10]);
    client.send(request(1, '/large', ['x-bytes', '100000']));
    await client.until(() => answered(client, 1) === 10);
    client.send(frame(TYPE.windowUpdate, 0, 1, uint32(1)));
    await client.until(() => answered(client, 1) === 11);
    client.send(frame(TYPE.windowUpdate, 0, 1, uint32(1_000_000)));
    await client.until(() => answered(client, 1) === 65_535);
    await quiet(client);
    expect([answered(client, 1), served.calls[0]?.writtenBytes]).toEqual([65_535, 0]);
    client.send(frame(TYPE.windowUpdate, 0, 0, uint32(34_464)));
    await client.until(() => answered(client, 1) === 99_999);
    client.send(frame(TYPE.windowUpdate, 0, 0, uint32(1)));
    expect((await client.answer(1)).body).toEqual(Buffer.alloc(100_000, 'x'));
    expect(Math.max(...client.frames.map(({ payload }) => payload.length))).toBeLessThanOrEqual(16_384);
  });

  it('lets settings shrink a window below nothing, and grow it', async () => {
    await using served = await serveEcho();
    using client = RawClient.open(served.port, [SETTING.window, 100]);
    client.send(request(1, '/large', ['x-bytes', '200']));
    await client.until(() => answered(client, 1) === 100);
    client.send(settings([SETTING.window, 10]), frame(TYPE.windowUpdate, 0, 1, uint32(90)));
    await quiet(client);
    expect(answered(client, 1)).toBe(100);
    client.send(frame(TYPE.windowUpdate, 0, 1, uint32(1)));
    await client.until(() => answered(client, 1) === 101);
    client.send(settings([SETTING.window, 1000]));
    expect((await client.answer(1)).body).toHaveLength(200);
  });

  it('lets the answers of a connection take turns', async () => {
    await using served = await serveEcho();
    using client = RawClient.open(served.port, [SETTING.window, 2 ** 30]);
    for (const id of [1, 3, 5]) client.send(request(id, '/large', ['x-bytes', '400000']));
    await client.until(() => answered(client, 1) === 65_535);
    client.send(frame(TYPE.windowUpdate, 0, 0, uint32(300_000)));
    await client.until(() => answered(client, 1) + answered(client, 3) + answered(client, 5) === 365_535);
    expect(Math.min(answered(client, 3), answered(client, 5))).toBeGreaterThan(80_000);
    client.send(frame(TYPE.windowUpdate, 0, 0, uint32(2 ** 30)));
    for (const id of [1, 3, 5]) expect((await client.answer(id)).body).toHaveLength(400_000);
  });

  it('takes frames as large as the client allows', async () => {
    await using served = await serveEcho();
    using client = RawClient.open(served.port, [SETTING.window, 2 ** 30], [SETTING.frame, 100_000]);
    client.send(frame(TYPE.windowUpdate, 0, 0, uint32(2 ** 30)));
    client.send(request(1, '/large', ['x-bytes', '250000']));
    expect((await client.answer(1)).body).toHaveLength(250_000);
    const sizes = client.frames.filter(({ type }) => type === TYPE.data).map(({ payload }) => payload.length);
    expect(sizes).toEqual([100_000, 100_000, 50_000]);
  });

  it('holds a client that nobody reads to its window, and hands everything on in order later', async () => {
    await using served = await serveEcho({ callWindowBytes: 60_000, connectionWindowBytes: 65_535 });
    using client = RawClient.open(served.port);
    client.send(request(1, '/pause'));
    const sent = Buffer.from(Array.from({ length: 60_000 }, (_, i) => i % 251));
    for (let at = 0; at < sent.length; at += 100) client.send(data(1, sent.subarray(at, at + 100), 0));
    await quiet(client);
    const updates = () => client.frames.filter(({ type, streamId }) => type === TYPE.windowUpdate && streamId === 1);
    expect([served.calls[0]?.pieces.length, updates().length]).toEqual([0, 0]);
    served.calls[0]?.stream.resume();
    await client.until(() => updates().length > 0);
    client.send(data(1, 'end'));
    await client.until(() => served.calls[0]?.hasEnded === true || updates().length > 2);
    client.send(frame(TYPE.windowUpdate, 0, 0, uint32(2 ** 20)), frame(TYPE.windowUpdate, 0, 1, uint32(2 ** 20)));
    expect((await client.answer(1)).body).toEqual(Buffer.concat([sent, Buffer.from('end')]));
  });

  it('gives the room of calls that end back to the others', async () => {
    await using served = await serveEcho({ callWindowBytes: 60_000, connectionWindowBytes: 65_535 });
    using client = RawClient.open(served.port);
    for (let i = 0; i < 20; i++) {
      const id = i * 4 + 1;
      client.send(request(id, '/pause'), data(id, Buffer.alloc(30_000), 0), frame(TYPE.rstStream, 0, id, uint32(8)));
      client.send(request(id + 2), data(id + 2, 'x'));
      await client.answer(id + 2);
    }
    expect(served.calls.filter(({ isClosed }) => isClosed)).toHaveLength(40);
  });

  it('stops making answers for a client that does not read, and gives their memory back when it goes', async () => {
    await using served = await serveEcho();
    using client = RawClient.open(served.port, [SETTING.window, 2 ** 30]);
    client.send(frame(TYPE.windowUpdate, 0, 0, uint32(2 ** 30)));
    client.socket.pause();
    client.send(request(1, '/large', ['x-bytes', String(64 * 2 ** 20)]));
    await eventually(() => served.calls[0]?.stream.waitingBytes ?? 0).toBeGreaterThan(32 * 2 ** 20);
    client.socket.destroy();
    await eventually(() => [served.calls[0]?.isClosed, served.calls[0]?.writtenBytes]).toEqual([true, 64 * 2 ** 20]);
    await expectService(served);
  });
});

describe('a connection', () => {
  it('ends alone when something goes wrong on this side, and the server is told', async () => {
    await using server = await serveEcho();
    using client = RawClient.open(server.port);
    client.send(request(1, '/throw'), data(1, 'abc'));
    const INTERNAL_ERROR = 2;
    expect(await client.goAway()).toBe(INTERNAL_ERROR);
    await client.closed();
    expect(server.failures).toEqual([new Error('told to throw')]);
    await expectService(server);
  });

  it('acknowledges settings and pings, each with what it said', async () => {
    await using served = await serveEcho();
    using client = RawClient.open(served.port, [SETTING.table, 0]);
    client.send(frame(TYPE.ping, 0, 0, Buffer.from('12345678')), request(1), data(1, 'abc'));
    const pong = await client.find(({ type }) => type === TYPE.ping);
    expect([pong?.flags, String(pong?.payload)]).toEqual([ACK, '12345678']);
    const acks = client.frames.filter(({ type, flags }) => type === TYPE.settings && flags === ACK);
    expect([acks.length, acks[0]?.payload.length]).toEqual([1, 0]);
    // The table of nothing is told at the beginning of the first block.
    await client.answer(1);
    expect(client.frames.find(({ type }) => type === TYPE.headers)?.payload[0]).toBe(0x20);
  });

  it('that the server closes is warned, answers what is under way, and then takes no more', async () => {
    await using served = await serveEcho();
    using client = RawClient.open(served.port);
    client.send(request(1));
    await eventually(() => served.calls.length).toBe(1);
    const closed = served.server.close();
    const ping = await client.find(({ type, flags }) => type === TYPE.ping && flags === 0);
    const farewells = () =>
      client.frames
        .filter(({ type }) => type === TYPE.goAway)
        .map(({ payload }) => [payload.readUInt32BE(0), payload.readUInt32BE(4)]);
    expect(farewells()).toEqual([[2 ** 31 - 1, CODE.none]]);
    // One more that was sent before the client knew.
    client.send(request(3), data(3, 'late'), frame(TYPE.ping, ACK, 0, ping?.payload));
    expect(String((await client.answer(3)).body)).toBe('late');
    await client.until(() => farewells().length === 2);
    expect(farewells()[1]).toEqual([3, CODE.none]);
    client.send(request(5), data(5, 'too late'), data(1, 'first'));
    expect(String((await client.answer(1)).body)).toBe('first');
    await client.closed();
    await closed;
    expect(client.frames.some(({ streamId }) => streamId === 5)).toBe(false);
  });

  it('that the server closes ends also when its client answers no ping', async () => {
    await using served = await serveEcho();
    using client = RawClient.open(served.port);
    client.send(request(1), data(1, 'x'));
    await client.answer(1);
    await served.server.close();
    await client.closed();
  });

  it('gets its own answers, also when those of others are written between their parts', async () => {
    await using served = await serveEcho();
    const clients = Array.from({ length: 5 }, () => RawClient.open(served.port));
    for (const client of clients) client.send(request(1, '/hold'), data(1, ''));
    await eventually(() => served.calls.length).toBe(5);
    const head = { fields: [[':status', '200']], recurring: new Set<string>() } as const;
    const end = { fields: [['x-end', 'yes']], recurring: new Set<string>() } as const;
    const part = (call: number, bytes: number) => Buffer.alloc(bytes, `<${call}>`);
    for (const { stream } of served.calls) stream.sendHeaders(head);
    for (const bytes of [1, 100, 20_000, 3]) {
      for (const [i, { stream }] of served.calls.entries()) stream.sendBytes([part(i, bytes)], bytes, () => {});
    }
    for (const { stream } of served.calls) stream.sendHeaders(end, true);
    const bodies = await Promise.all(clients.map(async (client) => String((await client.answer(1)).body)));
    const expected = clients.map((_, i) => [1, 100, 20_000, 3].map((bytes) => String(part(i, bytes))).join(''));
    expect(bodies.sort()).toEqual(expected.sort());
    for (const client of clients) client.socket.destroy();
  });

  it('that the server ends at once is told which calls had begun', async () => {
    await using served = await serveEcho();
    using client = RawClient.open(served.port);
    client.send(request(1, '/hold'), request(3, '/hold'));
    await eventually(() => served.calls.length).toBe(2);
    served.server.abort();
    expect(await client.goAway()).toBe(CODE.none);
    expect(client.frames.at(-1)?.payload.readUInt32BE(0)).toBe(3);
    await client.closed();
    expect(served.calls.every(({ isClosed }) => isClosed)).toBe(true);
  });

  it('takes its calls with it when it ends', async () => {
    await using served = await serveEcho();
    const client = RawClient.open(served.port);
    client.send(request(1, '/hold'), request(3, '/pause'), data(3, 'abc'));
    await eventually(() => served.calls.length).toBe(2);
    client.socket.destroy();
    await eventually(() => served.calls.map(({ isClosed }) => isClosed)).toEqual([true, true]);
    await expectService(served);
  });

  it('stays in order when calls are taken back at any point, through windows of any size', async () => {
    await using served = await serveEcho({ resets: { burst: 1e6, perSecond: 0 }, callWindowBytes: 3000 });
    let seed = 9113;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    const client = connect(`http://127.0.0.1:${served.port}`, { settings: { initialWindowSize: 1 + random(5000) } });
    const call = async (i: number) => {
      const bytes = random(20_000);
      const cancelAt = i % 3 === 0 ? random(bytes) : Number.POSITIVE_INFINITY;
      const stream = client.request({
        ':method': 'POST',
        ':path': i % 5 === 0 ? '/late' : '/echo',
      });
      stream.on('error', () => {});
      let received = 0;
      stream.on('data', (piece: Buffer) => {
        received += piece.every((byte) => byte === i % 256) ? piece.length : Number.NaN;
        if (received > cancelAt) stream.close(constants.NGHTTP2_CANCEL);
      });
      stream.end(Buffer.alloc(bytes, i % 256));
      if (cancelAt < 500) stream.close(constants.NGHTTP2_CANCEL);
      await once(stream, 'close');
      return stream.rstCode === constants.NGHTTP2_CANCEL || received === bytes;
    };
    const outcomes: boolean[] = [];
    for (let round = 0; round < 10; round++) {
      const calls = Array.from({ length: 40 }, (_, i) => call(round * 40 + i));
      outcomes.push(...(await Promise.all(calls)));
    }
    expect(outcomes.filter((isRight) => !isRight)).toEqual([]);
    await eventually(() => served.sessions.map(({ callCount }) => callCount)).toEqual([0]);
    client.close();
  });

  it('is one for any client of HTTP/2: many calls at a time, large and small, both ways', async () => {
    await using served = await serveEcho();
    const client = connect(`http://127.0.0.1:${served.port}`, { settings: { headerTableSize: 0 } });
    const call = async (bytes: number) => {
      const stream = client.request({ ':method': 'POST', ':path': '/echo', 'x-size': String(bytes) });
      stream.end(Buffer.alloc(bytes, bytes % 256));
      let received = 0;
      stream.on('data', (piece: Buffer) => {
        received += piece.every((byte) => byte === bytes % 256) ? piece.length : Number.NaN;
      });
      await once(stream, 'close');
      return [received, stream.rstCode];
    };
    const sizes = Array.from({ length: 60 }, (_, i) => (i % 6 === 0 ? 300_000 + i : i * 97));
    expect(await Promise.all(sizes.map(call))).toEqual(sizes.map((bytes) => [bytes, constants.NGHTTP2_NO_ERROR]));
    client.close();
  });
});
