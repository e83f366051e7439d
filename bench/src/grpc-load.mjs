/**
 * Closed-loop load over gRPC: connections times calls at a time, each sends its next call (or, on a stream, its next message) when the answer to the last
 * is there. Raw sockets and prepared frames, as load.mjs does for HTTP, so that the generator costs the shared cores as little as it can. The blocks of headers
 * are those of a real client: literal in the first call, entries of the dynamic table in every other one.
 *
 * usage: node grpc-load.mjs URL CONNECTIONS CALLS SECONDS [stream]     prints one JSON line as load.mjs does
 */
import { connect } from 'node:net';
import { grpcMessage, grpcPath } from './workload.mjs';

const [url, connections, calls, seconds, kind] = process.argv.slice(2);
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

function frame(type, flags, stream, payload) {
  const bytes = Buffer.alloc(HEAD_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, HEAD_BYTES);
  return bytes;
}

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

const message = grpcMessage();
const callFrames = (block) =>
  Buffer.concat([frame(HEADERS, END_HEADERS, 0, block), frame(DATA, isStream ? 0 : END_STREAM, 0, message)]);
const FIRST_CALL = { bytes: callFrames(literal), dataAt: HEAD_BYTES + literal.length };
const NEXT_CALL = { bytes: callFrames(indexed), dataAt: HEAD_BYTES + indexed.length };
const NEXT_MESSAGE = { bytes: frame(DATA, 0, 0, message), dataAt: 0 };

const OPENING = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(SETTINGS, 0, 0, Buffer.concat([Buffer.of(0, 4), uint32(LARGEST_WINDOW)])),
  frame(WINDOW_UPDATE, 0, 0, uint32(LARGEST_WINDOW - DEFAULT_WINDOW)),
]);
const SETTINGS_ACK = frame(SETTINGS, 1, 0, Buffer.alloc(0));

const latencies = [];
let failures = 0;
let running = true;

/** One connection with its calls. Frames are looked at as far as it takes to tell when an answer is whole. */
function drive() {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const sentAt = new Map();
  const answered = new Set();
  let nextStream = 1;
  let rest = Buffer.alloc(0);
  let batch = [];
  let received = 0;

  const queue = ({ bytes, dataAt }, stream) => {
    const copy = Buffer.from(bytes);
    if (dataAt > 0) copy.writeUInt32BE(stream, 5);
    copy.writeUInt32BE(stream, dataAt + 5);
    batch.push(copy);
    sentAt.set(stream, performance.now());
  };
  const call = () => {
    queue(nextStream === 1 ? FIRST_CALL : NEXT_CALL, nextStream);
    nextStream += 2;
  };
  const flush = () => {
    if (batch.length > 0) socket.write(batch.length === 1 ? batch[0] : Buffer.concat(batch));
    batch = [];
  };
  const finish = (stream) => latencies.push((performance.now() - sentAt.get(stream)) * 1000);

  const onData = (stream) => {
    if (!isStream) {
      answered.add(stream);
      return;
    }
    finish(stream);
    if (running) queue(NEXT_MESSAGE, stream);
  };
  const onEnd = (stream) => {
    // Without a message before it, it tells of a failure; and a stream is never ended.
    if (!answered.delete(stream)) failures += 1;
    finish(stream);
    sentAt.delete(stream);
    if (running && !isStream) call();
  };
  const onFrame = (type, flags, stream, length) => {
    if (type === DATA) {
      received += length;
      if (length > 0) onData(stream);
      if ((flags & END_STREAM) !== 0) onEnd(stream);
    } else if (type === HEADERS) {
      if ((flags & END_STREAM) !== 0) onEnd(stream);
    } else if (type === SETTINGS) {
      if ((flags & 1) === 0) batch.push(SETTINGS_ACK);
    } else if (type === RST_STREAM || type === GOAWAY) {
      failures += 1;
    }
  };
  socket.on('connect', () => {
    batch.push(OPENING);
    for (let i = 0; i < Number(calls); i++) call();
    flush();
  });
  socket.on('data', (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (bytes.length - at >= HEAD_BYTES) {
      const length = bytes.readUIntBE(at, 3);
      if (bytes.length - at < HEAD_BYTES + length) break;
      onFrame(bytes[at + 3], bytes[at + 4], bytes.readUInt32BE(at + 5), length);
      at += HEAD_BYTES + length;
    }
    rest = bytes.subarray(at);
    if (received > LARGEST_WINDOW / 2) {
      batch.push(frame(WINDOW_UPDATE, 0, 0, uint32(received)));
      received = 0;
    }
    flush();
  });
  socket.on('error', () => {
    failures += 1;
  });
}

const start = performance.now();
for (let i = 0; i < Number(connections); i++) drive();
setTimeout(() => {
  running = false;
  const elapsed = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (quantile) =>
    Math.round(latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * quantile))]);
  const requestsPerSecond = Math.round(latencies.length / elapsed);
  console.log(JSON.stringify({ requestsPerSecond, p50: at(0.5), p99: at(0.99), failures }));
  process.exit(0);
}, Number(seconds) * 1000);
