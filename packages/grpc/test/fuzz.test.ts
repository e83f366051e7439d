/** Messages, frames of messages and frames of HTTP/2, made from valid ones by many small changes. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { deflateSync, gzipSync } from 'node:zlib';
import { DATATYPES, type Datatype, encodeBytes, type Logger, silentLogger } from '@nereid/core';
import { fuzz, mutated } from '@nereid/testing/fuzz';
import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import { GrpcError } from '../src/errors.ts';
import { decompress, MessageReader, prefixOf } from '../src/framing.ts';
import { decodeInferRequest } from '../src/infer/request.ts';
import { encodeInferResponse } from '../src/infer/response.ts';
import { messageType } from '../src/schema.ts';
import { type Served, serve } from './fixture.ts';
import { bytesFields, fieldsOf, integers, type PlainField, pieces } from './plain-protobuf.ts';

const limits = { maxTensors: 8, maxParameters: 8, maxDimensions: 8, maxFields: 200, maxContentsBytes: 4096 };

const request = messageType('inference.ModelInferRequest');
const name = fc.oneof(fc.constantFrom('x', 'y', '', 'é', '__proto__'), fc.string({ maxLength: 4 }));
const parameter = fc.oneof(
  fc.boolean().map((boolParam) => ({ boolParam })),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => ({ int64Param: String(value) })),
  name.map((stringParam) => ({ stringParam })),
  fc.double().map((doubleParam) => ({ doubleParam })),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => ({ uint64Param: String(value) })),
);
const KEYS = ['a', 'priority', 'timeout', 'sequence_id', 'sequence_start', 'triton_x', 'classification'];
const parameters = fc.dictionary(
  fc.constantFrom(...KEYS, 'shared_memory_region', 'shared_memory_byte_size', 'shared_memory_offset'),
  parameter,
  { maxKeys: 2 },
);
const int = fc.integer({ min: -200, max: 300 });
const contents = fc.record(
  {
    boolContents: fc.array(fc.boolean(), { maxLength: 3 }),
    intContents: fc.array(int, { maxLength: 3 }),
    int64Contents: fc.array(int, { maxLength: 3 }),
    uintContents: fc.array(fc.nat(300), { maxLength: 3 }),
    uint64Contents: fc.array(fc.nat(300), { maxLength: 3 }),
    fp32Contents: fc.array(fc.float(), { maxLength: 3 }),
    fp64Contents: fc.array(fc.double(), { maxLength: 3 }),
    bytesContents: fc.array(fc.uint8Array({ maxLength: 4 }), { maxLength: 3 }),
  },
  { requiredKeys: [] },
);
const datatype = fc.constantFrom(...(Object.keys(DATATYPES) as Datatype[]));
const FIELDS: Partial<Record<Datatype, string>> = {
  BOOL: 'boolContents',
  INT8: 'intContents',
  INT16: 'intContents',
  INT32: 'intContents',
  INT64: 'int64Contents',
  UINT8: 'uintContents',
  UINT16: 'uintContents',
  UINT32: 'uintContents',
  UINT64: 'uint64Contents',
  FP32: 'fp32Contents',
  FP64: 'fp64Contents',
  BYTES: 'bytesContents',
};
/** An input whose typed contents, if it has any, mostly suit its datatype. */
const input = fc
  .record({
    name,
    datatype,
    shape: fc.array(fc.nat(4), { maxLength: 3 }),
    contents,
    isFitting: fc.boolean(),
    parameters,
  })
  .map(({ isFitting, contents: all, ...rest }) => {
    const field = FIELDS[rest.datatype] ?? '';
    const values = Object.entries(all).filter(([key]) => !isFitting || key === field);
    return { ...rest, contents: Object.fromEntries(values) };
  });
const message = fc
  .record({
    modelName: name,
    id: name,
    parameters,
    inputs: fc.array(input, { maxLength: 3 }),
    outputs: fc.array(fc.record({ name, parameters }), { maxLength: 2 }),
    rawInputContents: fc.array(fc.uint8Array({ maxLength: 12 }), { maxLength: 3 }),
    isRaw: fc.boolean(),
  })
  .map(({ isRaw, inputs, rawInputContents, ...rest }) => {
    const bare = inputs.map(({ contents: _, ...one }) => one);
    const object = isRaw ? { ...rest, inputs: bare, rawInputContents } : { ...rest, inputs };
    return Buffer.from(request.encode(request.fromObject(object)).finish());
  });

const PIECES = [
  '\x0a\x01x',
  '\x12\x04FP32',
  '\x12\x05BYTES',
  '\x1a\x01\x02',
  '\x3a\x00',
  '\x2a\x02\x12\x00',
  '\x80',
  '\xff\xff\xff\xff\x0f',
];
const dictionary = PIECES.map((piece) => Buffer.from(piece, 'latin1'));

const textOf = (fields: readonly PlainField[], number: number) =>
  bytesFields(fields, number).at(-1)?.toString('utf8') ?? '';

/** The bytes of typed contents, by the plainest means. */
function plainContents(kind: Datatype, fields: readonly PlainField[]): Buffer {
  const { byteSize } = DATATYPES[kind];
  if (kind === 'BYTES') return Buffer.from(encodeBytes(bytesFields(fields, 8)));
  if (kind === 'FP32') return Buffer.concat(pieces(fields, 6, 4));
  if (kind === 'FP64') return Buffer.concat(pieces(fields, 7, 8));
  const numbers = [1, 2, 3, 4, 5].flatMap((number) => integers(fields, number));
  return Buffer.concat(
    numbers.map((value) => {
      const word = Buffer.alloc(8);
      word.writeBigUInt64LE(BigInt.asUintN(64, kind === 'BOOL' ? BigInt(value !== 0n) : value));
      return word.subarray(0, byteSize);
    }),
  );
}

function plainRequest(body: Buffer) {
  const fields = fieldsOf(body);
  const raw = [...bytesFields(fields, 7)];
  const inputs = bytesFields(fields, 5).map((bytes) => {
    const own = fieldsOf(bytes);
    const kind = textOf(own, 2) as Datatype;
    const typed = fieldsOf(bytesFields(own, 5).at(-1) ?? Buffer.alloc(0));
    const given = plainContents(kind, typed);
    const isInMemory = bytesFields(own, 4).some((entry) => textOf(fieldsOf(entry), 1) === 'shared_memory_region');
    const data = isInMemory || given.length > 0 ? given : (raw.shift() ?? given);
    return [textOf(own, 1), kind, integers(own, 3).map(Number), data.toString('hex')];
  });
  return { modelName: textOf(fields, 1), id: textOf(fields, 3), inputs };
}

fuzz(
  'grpc-message',
  fc.property(mutated(message, { dictionary }), (body) => {
    let taken: ReturnType<typeof decodeInferRequest>;
    try {
      taken = decodeInferRequest(body, limits);
    } catch (thrown) {
      if (!(thrown instanceof GrpcError)) throw thrown;
      return;
    }
    const { modelName, id = '', inputs } = taken;
    const found = inputs.map(({ name: tensor, datatype: kind, shape, data }) => [
      tensor,
      kind,
      shape,
      Buffer.from(data).toString('hex'),
    ]);
    expect({ modelName, id, inputs: found }).toEqual(plainRequest(body));
    // As an answer the same tensors are what protobufjs reads.
    const { pieces: parts } = encodeInferResponse({ modelName, modelVersion: '1', outputs: inputs }, id);
    const answer = messageType('inference.ModelInferResponse').toObject(
      messageType('inference.ModelInferResponse').decode(Buffer.concat(parts)),
      { arrays: true, defaults: true, bytes: Buffer },
    );
    expect([answer.id, answer.rawOutputContents]).toEqual([id, inputs.map(({ data }) => Buffer.from(data))]);
  }),
);

const frame = fc
  .tuple(fc.uint8Array({ maxLength: 40 }), fc.boolean())
  .map(([bytes, isCompressed]) => Buffer.concat([prefixOf(bytes.length, isCompressed), bytes]));
const frames = fc.array(frame, { maxLength: 5 }).map((all) => Buffer.concat(all));
const MAX_FRAME = 100;

/** The messages of a stream that came whole; `broken` when there is one that may not be. */
function plainFrames(bytes: Buffer): {
  readonly messages: readonly string[];
  readonly end: 'broken' | 'inside' | 'between';
} {
  const messages: string[] = [];
  for (let at = 0; ; ) {
    if (at === bytes.length) return { messages, end: 'between' };
    if (bytes.length - at < 5) return { messages, end: 'inside' };
    const length = bytes.readUInt32BE(at + 1);
    if ((bytes[at] ?? 0) > 1 || length > MAX_FRAME) return { messages, end: 'broken' };
    if (at + 5 + length > bytes.length) return { messages, end: 'inside' };
    messages.push(bytes.toString('hex', at + 5, at + 5 + length) + bytes[at]);
    at += 5 + length;
  }
}

fuzz(
  'grpc-framing',
  fc.property(mutated(frames), fc.array(fc.nat(30)), (bytes, cuts) => {
    const reader = new MessageReader(MAX_FRAME);
    const expected = plainFrames(bytes);
    const messages: string[] = [];
    const take = (piece: Buffer) => {
      for (const { bytes: one, isCompressed } of reader.take(piece))
        messages.push(one.toString('hex') + Number(isCompressed));
    };
    let at = 0;
    try {
      for (const length of cuts) {
        take(bytes.subarray(at, at + length));
        at += length;
      }
      take(bytes.subarray(at));
    } catch (thrown) {
      if (!(thrown instanceof GrpcError)) throw thrown;
      // Of the piece that it broke in, messages before are not handed on any more.
      expect(expected.end).toBe('broken');
      expect(expected.messages.slice(0, messages.length)).toEqual(messages);
      return;
    }
    expect({ messages, end: reader.isInside ? 'inside' : 'between' }).toEqual(expected);
  }),
);

const INFLATED = 300;
const compressed = fc
  .tuple(fc.uint8Array({ maxLength: 40 }), fc.constantFrom(0, 1, 400, 70_000), fc.boolean())
  .map(([bytes, zeros, isGzip]) => {
    const whole = Buffer.concat([bytes, Buffer.alloc(zeros)]);
    return isGzip ? gzipSync(whole) : deflateSync(whole);
  });

fuzz(
  'grpc-compression',
  fc.asyncProperty(
    mutated(compressed),
    fc.constantFrom('gzip' as const, 'deflate' as const),
    async (bytes, encoding) => {
      try {
        expect((await decompress(bytes, encoding, INFLATED)).length).toBeLessThanOrEqual(INFLATED);
      } catch (thrown) {
        if (!(thrown instanceof GrpcError)) throw thrown;
      }
    },
  ),
);

// Frames of HTTP/2 at the socket of a server.

const failures: string[] = [];
const logger: Logger = {
  ...silentLogger,
  error: (fields, text) => void failures.push(`${text} ${JSON.stringify(fields)}`),
};
let served: Served;
beforeAll(async () => {
  served = await serve({ logger });
});
afterAll(() => served[Symbol.asyncDispose]());

/** Header block: each field as a literal that is not indexed. */
function block(headers: Readonly<Record<string, string>>): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
  return Buffer.concat(Object.entries(headers).flatMap(([key, value]) => [Buffer.of(0), text(key), text(value)]));
}

function http2Frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const HEAD = {
  ':method': 'POST',
  ':scheme': 'http',
  ':authority': 'a',
  ':path': '/inference.GRPCInferenceService/ModelInfer',
  'content-type': 'application/grpc',
};
const path = fc.constantFrom(
  '/inference.GRPCInferenceService/ModelInfer',
  '/inference.GRPCInferenceService/ModelStreamInfer',
  '/inference.GRPCInferenceService/ServerLive',
  '/grpc.health.v1.Health/Watch',
  '/',
  '',
);
const extra = fc.constantFrom<Readonly<Record<string, string>>>(
  {},
  { 'grpc-timeout': '1n' },
  { 'grpc-timeout': '99999999H' },
  { 'grpc-encoding': 'gzip' },
  { 'grpc-encoding': 'none' },
  { ':method': 'GET' },
  { 'content-type': 'text/html' },
  { te: 'x', connection: 'close' },
);
const stream = fc.constantFrom(0, 1, 2, 3, 5, 7, 2 ** 31 - 1);
const http2 = fc.oneof(
  fc
    .tuple(stream, path, extra, fc.constantFrom(0, 1, 4, 5, 0x24, 0x2c))
    .map(([id, to, more, flags]) => http2Frame(1, flags, id, block({ ...HEAD, ':path': to, ...more }))),
  fc.tuple(stream, frames, fc.constantFrom(0, 1, 8)).map(([id, body, flags]) => http2Frame(0, flags, id, body)),
  fc
    .tuple(stream, message, fc.constantFrom(0, 1))
    .map(([id, body, flags]) => http2Frame(0, flags, id, Buffer.concat([prefixOf(body.length), body]))),
  fc
    .tuple(fc.nat(12), fc.nat(255), stream, fc.uint8Array({ maxLength: 12 }))
    .map(([type, flags, id, body]) => http2Frame(type, flags, id, Buffer.from(body))),
  fc.tuple(stream, fc.nat(14)).map(([id, code]) => http2Frame(3, 0, id, Buffer.of(0, 0, 0, code))),
  fc.uint8Array({ minLength: 8, maxLength: 8 }).map((body) => http2Frame(6, 0, 0, Buffer.from(body))),
  fc.tuple(fc.nat(9), fc.nat()).map(([key, value]) => {
    const body = Buffer.alloc(6);
    body.writeUInt16BE(key);
    body.writeUInt32BE(value, 2);
    return http2Frame(4, 0, 0, body);
  }),
);
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const connection = fc
  .tuple(fc.array(http2, { maxLength: 10 }), fc.boolean())
  .map(([all, hasPreface]) =>
    Buffer.concat([...(hasPreface ? [PREFACE, http2Frame(4, 0, 0, Buffer.alloc(0))] : []), ...all]),
  );

let calls = 0;

fuzz(
  'grpc-frames',
  fc.asyncProperty(
    fc.oneof({ weight: 3, arbitrary: connection }, { weight: 1, arbitrary: mutated(connection) }),
    fc.nat(3),
    async (bytes, pieceCount) => {
      const socket = connect({ host: '127.0.0.1', port: served.port });
      socket.on('error', () => {}).resume();
      // Not `once`: that fails with the error of a server that closes first.
      const closed = new Promise((resolve) => socket.on('close', resolve));
      await once(socket, 'connect');
      const size = Math.ceil(bytes.length / (pieceCount + 1)) || 1;
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.subarray(at, at + size));
        await turn();
      }
      socket.end();
      await turn();
      if (pieceCount === 0) socket.resetAndDestroy();
      else setTimeout(() => socket.destroy(), 2);
      await closed;
      // A call takes longer than many connections.
      if (calls++ % 10 === 0)
        expect(await served.unary('ServerLive', {})).toMatchObject({ code: 'OK', messages: [{ live: true }] });
      expect(failures).toEqual([]);
    },
  ),
);
