/**
 * Closed-loop load over gRPC: connections times calls at a time, each sends its next call (or, on a stream, its next message) when the answer to the last
 * is there. Raw sockets and prepared frames, as load.mjs does for HTTP, so that the generator costs the shared cores as little as it can. The blocks of headers
 * are those of a real client: literal in the first call, entries of the dynamic table in every other one. Large messages keep to the server's windows and frame size.
 *
 * usage: node grpc-load.mjs URL CONNECTIONS CALLS SECONDS [unary|stream] [TENSOR_BYTES]     prints one JSON line, see report.mjs
 */
import { connect } from 'node:net';
import { Report } from './report.mjs';
import { grpcMessage, grpcPath } from './workload.mjs';

const [url, connections, calls, seconds, kind = 'unary', tensorBytes = 0] = process.argv.slice(2);
const { hostname, port, host } = new URL(url);
const isStream = kind === 'stream';

const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const END_HEADERS = 4;
const HEAD_BYTES = 9;
const LARGEST_WINDOW = 2 ** 31 - 1;
const DEFAULT_WINDOW = 65_535;

function head(type, flags, stream, length) {
  const bytes = Buffer.alloc(HEAD_BYTES);
  bytes.writeUIntBE(length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  return bytes;
}

const frame = (type, flags, stream, payload) => Buffer.concat([head(type, flags, stream, payload.length), payload]);

const uint32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const FIELDS = [
  [':path', grpcPath(isStream ? 'ModelStreamInfer' : 'ModelInfer')],
  [':authority', host],
  ['content-type', 'application/grpc'],
  ['te', 'trailers'],
  ['user-agent', 'grpc-c++/1.66 (linux; chttp2)'],
  ['grpc-accept-encoding', 'identity, deflate, gzip'],
];
/** :method POST, :scheme http */
const STATIC = Buffer.of(0x83, 0x86);
const text = (value) => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
/** Every field is added to the table, the last one first in it: entry 62. */
const literal = Buffer.concat([
  STATIC,
  ...FIELDS.flatMap(([name, value]) => [Buffer.of(0x40), text(name), text(value)]),
]);
const indexed = Buffer.concat([STATIC, Buffer.from(FIELDS.map((_, i) => 0x80 | (61 + FIELDS.length - i)))]);

const message = grpcMessage(Number(tensorBytes));
const isLarge = Number(tensorBytes) > 0;
if (isLarge && isStream) throw new Error('large tensors are sent by unary calls only');
/** A large message follows its headers as the windows allow. */
const dataFrame = isLarge ? Buffer.alloc(0) : frame(DATA, isStream ? 0 : END_STREAM, 0, message);
const callFrames = (block) => Buffer.concat([frame(HEADERS, END_HEADERS, 0, block), dataFrame]);
const FIRST_CALL = { bytes: callFrames(literal), dataAt: HEAD_BYTES + literal.length };
const NEXT_CALL = { bytes: callFrames(indexed), dataAt: HEAD_BYTES + indexed.length };
const NEXT_MESSAGE = { bytes: dataFrame, dataAt: 0 };

const OPENING = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(SETTINGS, 0, 0, Buffer.concat([Buffer.of(0, 4), uint32(LARGEST_WINDOW)])),
  frame(WINDOW_UPDATE, 0, 0, uint32(LARGEST_WINDOW - DEFAULT_WINDOW)),
]);
const SETTINGS_ACK = frame(SETTINGS, 1, 0, Buffer.alloc(0));

/** Shared by all connections: what was read is looked at before the next one is. */
const buffer = Buffer.allocUnsafeSlow(1024 * 1024);
const report = new Report(Number(seconds));

/** What the server allows to be sent. */
class Windows {
  frameBytes = 16_384;
  #connection = DEFAULT_WINDOW;
  #initial = DEFAULT_WINDOW;
  #streams = new Map();

  open(stream) {
    this.#streams.set(stream, this.#initial);
  }

  close(stream) {
    this.#streams.delete(stream);
  }

  /** Bytes that may leave in one frame now; they are taken. */
  take(stream, wanted) {
    const bytes = Math.max(0, Math.min(wanted, this.frameBytes, this.#connection, this.#streams.get(stream) ?? 0));
    this.#connection -= bytes;
    this.#streams.set(stream, this.#streams.get(stream) - bytes);
    return bytes;
  }

  update(stream, bytes) {
    if (stream === 0) this.#connection += bytes;
    else if (this.#streams.has(stream)) this.#streams.set(stream, this.#streams.get(stream) + bytes);
  }

  settings(payload) {
    for (let at = 0; at < payload.length; at += 6) {
      const value = payload.readUInt32BE(at + 2);
      if (payload.readUInt16BE(at) === 4) this.#initial = value;
      else if (payload.readUInt16BE(at) === 5) this.frameBytes = value;
    }
  }
}

/** One connection with its calls. Frames are looked at as far as it takes to tell when an answer is whole. */
function drive() {
  const windows = new Windows();
  const sentAt = new Map();
  const answered = new Set();
  /** Large messages under way, with what is sent of them. */
  const sending = new Map();
  let nextStream = 1;
  let rest = Buffer.alloc(0);
  let batch = [];
  let received = 0;
  /** Bytes of a DATA frame that are still to come. */
  let skipped = 0;

  const queue = ({ bytes, dataAt }, stream) => {
    const copy = Buffer.from(bytes);
    if (dataAt > 0) copy.writeUInt32BE(stream, 5);
    if (!isLarge) copy.writeUInt32BE(stream, dataAt + 5);
    batch.push(copy);
    sentAt.set(stream, performance.now());
  };
  const call = () => {
    queue(nextStream === 1 ? FIRST_CALL : NEXT_CALL, nextStream);
    if (isLarge) {
      windows.open(nextStream);
      sending.set(nextStream, 0);
    }
    nextStream += 2;
  };
  const pump = () => {
    for (let [stream, sent] of sending) {
      for (let bytes = 1; bytes > 0 && sent < message.length; sent += bytes) {
        bytes = windows.take(stream, message.length - sent);
        if (bytes === 0) break;
        const flags = sent + bytes === message.length ? END_STREAM : 0;
        batch.push(head(DATA, flags, stream, bytes), message.subarray(sent, sent + bytes));
      }
      if (sent === message.length) sending.delete(stream);
      else sending.set(stream, sent);
    }
  };
  const flush = () => {
    pump();
    if (isLarge) {
      socket.cork();
      for (const bytes of batch) socket.write(bytes);
      socket.uncork();
    } else if (batch.length > 0) socket.write(batch.length === 1 ? batch[0] : Buffer.concat(batch));
    batch = [];
  };

  const onData = (stream) => {
    if (!isStream) {
      answered.add(stream);
      return;
    }
    report.answered(sentAt.get(stream));
    if (report.isOpen) queue(NEXT_MESSAGE, stream);
  };
  const onEnd = (stream) => {
    // Without a message before it, it tells of a failure; and a stream is never ended.
    if (!answered.delete(stream)) report.failed();
    report.answered(sentAt.get(stream));
    sentAt.delete(stream);
    windows.close(stream);
    sending.delete(stream);
    if (report.isOpen && !isStream) call();
  };
  const onFrame = ({ type, flags, stream, length }, payload) => {
    if (type === DATA) {
      received += length;
      if (length > 0) onData(stream);
      if ((flags & END_STREAM) !== 0) onEnd(stream);
    } else if (type === HEADERS) {
      if ((flags & END_STREAM) !== 0) onEnd(stream);
    } else if (type === SETTINGS) {
      if ((flags & 1) !== 0) return;
      windows.settings(payload);
      batch.push(SETTINGS_ACK);
      // The first calls: before, what their windows are is not known.
      if (nextStream === 1) for (let i = 0; i < Number(calls); i++) call();
    } else if (type === WINDOW_UPDATE) {
      windows.update(stream, payload.readUInt32BE(0));
    } else if (type === RST_STREAM || type === GOAWAY) {
      report.failed();
    }
  };
  const take = (length) => {
    const chunk = buffer.subarray(0, length);
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = Math.min(skipped, bytes.length);
    skipped -= at;
    while (bytes.length - at >= HEAD_BYTES) {
      const frame = {
        length: bytes.readUIntBE(at, 3),
        type: bytes[at + 3],
        flags: bytes[at + 4],
        stream: bytes.readUInt32BE(at + 5),
      };
      const end = at + HEAD_BYTES + frame.length;
      if (bytes.length < end && frame.type !== DATA) break;
      onFrame(frame, bytes.subarray(at + HEAD_BYTES, end));
      at = Math.min(end, bytes.length);
      skipped = end - at;
    }
    rest = Buffer.from(bytes.subarray(at));
    if (received > LARGEST_WINDOW / 2) {
      batch.push(frame(WINDOW_UPDATE, 0, 0, uint32(received)));
      received = 0;
    }
    flush();
    return true;
  };
  const onread = { buffer, callback: take };
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread });
  socket.on('connect', () => {
    batch.push(OPENING);
    flush();
  });
  socket.on('error', () => report.failed());
}

for (let i = 0; i < Number(connections); i++) drive();
