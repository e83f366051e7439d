/** Clients that break every rule, over real sockets: each gets a clear answer or a closed connection, and the server serves on as before. */

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync, gzipSync } from 'node:zlib';
import { ShmObject } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configText } from '../src/config-text.ts';
import { writeModelTree } from '../src/model-tree.ts';
import { type NereidProcess, startCommand } from '../src/nereid-process.ts';
import { PROBE_ARGS } from '../src/server-probe.ts';

const MIB = 2 ** 20;
const NEREID = fileURLToPath(new URL('../../../apps/cli/bin/nereid.js', import.meta.url));
/** A model that takes BYTES [-1, 1] as `words`. */
const STRINGS = fileURLToPath(new URL('../../../examples/model_repository/strings', import.meta.url));
const INFER = '/v2/models/identity/infer';
const GRPC_INFER = '/inference.GRPCInferenceService/ModelInfer';

const repository = mkdtempSync(join(tmpdir(), 'nereid-hostile-'));
let server: NereidProcess;

beforeAll(async () => {
  const config = configText({ input: ['x TYPE_UINT8 -1'], output: ['OUTPUT__0 TYPE_UINT8 -1'] });
  writeModelTree(repository, { name: 'identity', config, versions: { 1: 'identity/model.pt' } });
  cpSync(STRINGS, join(repository, 'strings'), { recursive: true });
  const place = ['--http-port', '0', '--grpc-port', '0', '--log-format', 'default', '--allow-shared-memory', 'true'];
  server = await startCommand([...PROBE_ARGS, NEREID, 'serve', '--model-repository', repository, ...place]);
}, 60_000);
afterAll(async () => {
  await server?.stop();
  rmSync(repository, { recursive: true });
});

interface Post {
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

async function post({ body, headers = {} }: Post) {
  const answer = await fetch(`${server.url}${INFER}`, {
    method: 'POST',
    body: body.toString() === body ? body : new Uint8Array(Buffer.from(body)),
    headers,
  });
  return { status: answer.status, text: await answer.text() };
}

const tensor = (more: object) => ({ name: 'x', datatype: 'UINT8', shape: [3], data: [1, 2, 3], ...more });
const document = (...inputs: readonly object[]) => JSON.stringify({ inputs });
const binary = (shape: readonly number[], size: unknown) =>
  document({ name: 'x', datatype: 'UINT8', shape, parameters: { binary_data_size: size } });

/** Two inputs of which the second announces as many bytes. */
const binaries = (first: number, second: number) =>
  document(
    { name: 'x', datatype: 'UINT8', shape: [first], parameters: { binary_data_size: first } },
    { name: 'y', datatype: 'UINT8', shape: [3], parameters: { binary_data_size: second } },
  );

/** The identity still works, over both protocols. */
async function expectService(): Promise<void> {
  const { status, text } = await post({ body: document(tensor({})) });
  expect([status, JSON.parse(text).outputs[0].data]).toEqual([200, [1, 2, 3]]);
  expect(await callGrpc(Buffer.alloc(5), '/inference.GRPCInferenceService/ServerLive')).toEqual({
    status: '0',
    message: '',
  });
}

/** What a raw connection is answered; it ends when the server closes it, or says enough. */
function exchange(bytes: string | Buffer, enough = /\r\n\r\n/): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (enough.test(text)) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

const head = (...lines: readonly string[]) => `POST ${INFER} HTTP/1.1\r\nHost: a\r\n${lines.join('\r\n')}\r\n\r\n`;

interface GrpcAnswer {
  readonly status: string;
  readonly message: string;
}

/** The status of one unary call with these bytes as its body. */
function callGrpc(body: Buffer, path: string, headers: Readonly<Record<string, string>> = {}): Promise<GrpcAnswer> {
  const session = connectHttp2(`http://${server.grpcPlace}`);
  session.on('error', () => {});
  const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...headers };
  const stream = session.request(head);
  return new Promise((resolve, reject) => {
    let found: GrpcAnswer | undefined;
    const look = (block: Readonly<Record<string, unknown>>) => {
      if (block['grpc-status'] === undefined) return;
      const message = decodeURIComponent(String(block['grpc-message'] ?? ''));
      found = { status: String(block['grpc-status']), message };
    };
    stream.on('response', look).on('trailers', look);
    stream.on('error', () => {});
    stream.on('close', () => {
      session.destroy();
      if (found === undefined) reject(new Error('the call ended without a status'));
      else resolve(found);
    });
    stream.resume();
    stream.end(body);
  });
}

function framed(bytes: Buffer, { flag = 0, length = bytes.length } = {}): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, bytes]);
}

describe('an HTTP body', () => {
  const header = 'inference-header-content-length';
  const twice = document(tensor({}), tensor({}));
  const deep = document(tensor({ data: 0 })).replace('"data":0', `"data":${'['.repeat(10_000)}${']'.repeat(10_000)}`);
  const cases: readonly (Post & { readonly title: string; readonly says: RegExp })[] = [
    { title: 'a header length beyond the body', body: '{}', headers: { [header]: '999' }, says: /999/ },
    { title: 'a negative header length', body: '{}', headers: { [header]: '-1' }, says: /-1/ },
    { title: 'a header length that is no number', body: '{}', headers: { [header]: 'ten' }, says: /ten/ },
    {
      title: 'a binary size beyond the body',
      body: binary([9], 9),
      headers: { [header]: String(binary([9], 9).length) },
      says: /'x'/,
    },
    {
      title: 'a negative binary size',
      body: binary([3], -3),
      headers: { [header]: String(binary([3], -3).length) },
      says: /binary_data_size/,
    },
    {
      title: 'a binary size beyond 2^53',
      body: binary([3], 2 ** 60),
      headers: { [header]: String(binary([3], 2 ** 60).length) },
      says: /'x'|binary_data_size/,
    },
    { title: 'a shape whose product overflows', body: document(tensor({ shape: [2 ** 40, 2 ** 40] })), says: /'x'/ },
    { title: 'an input that comes twice', body: twice, says: /'?x'?/ },
    { title: 'JSON 10 000 deep', body: deep, says: /deep|nest|depth/i },
    {
      title: 'a gzip bomb',
      body: gzipSync(Buffer.alloc(80 * MIB)),
      headers: { 'content-encoding': 'gzip' },
      says: /limit of 67108864/,
    },
    {
      title: 'a bomb in a bomb',
      body: gzipSync(gzipSync(Buffer.alloc(80 * MIB))),
      headers: { 'content-encoding': 'gzip' },
      says: /JSON|parse/i,
    },
    {
      title: 'a deflate bomb',
      body: deflateSync(Buffer.alloc(80 * MIB)),
      headers: { 'content-encoding': 'deflate' },
      says: /limit of 67108864/,
    },
    {
      title: 'an output that is asked for twice',
      body: JSON.stringify({ inputs: [tensor({})], outputs: [{ name: 'OUTPUT__0' }, { name: 'OUTPUT__0' }] }),
      says: /'OUTPUT__0' already exists/,
    },
    {
      title: 'an integer of a million digits',
      body: document(tensor({ shape: [1], data: 0 })).replace('"data":0', `"data":[${'9'.repeat(1_000_000)}]`),
      says: /no UINT8 value: 999/,
    },
    {
      title: 'sizes that overlap',
      body: `${binaries(3, 2 ** 53 - 1)}abc`,
      headers: { [header]: String(binaries(3, 2 ** 53 - 1).length) },
      says: /'y'/,
    },
    {
      title: 'half a gzip stream',
      body: gzipSync(Buffer.alloc(MIB)).subarray(0, 200),
      headers: { 'content-encoding': 'gzip' },
      says: /gzip/,
    },
  ];
  test.each(cases)('$title is refused, and the next request is served', async ({ body, headers = {}, says }) => {
    const { status, text } = await post({ body, headers });
    expect({ status, error: JSON.parse(text).error }).toEqual({ status: 400, error: expect.stringMatching(says) });
    await expectService();
  });
});

describe('an HTTP connection', () => {
  const MANY = Array.from({ length: 20_000 }, (_, i) => `X-${i}: 1`);
  const cases = [
    {
      title: 'a head of 20 000 fields',
      bytes: head(...MANY),
      status: '431',
      says: /65536 bytes.*--http-max-head-size/,
    },
    {
      title: 'a chunk whose size is no number',
      bytes: `${head('Transfer-Encoding: chunked')}zz\r\n`,
      status: '400',
      says: /invalid character in chunk size/,
    },
    {
      title: 'a chunk size beyond 64 bits',
      bytes: `${head('Transfer-Encoding: chunked')}${'f'.repeat(20)}\r\n`,
      status: '400',
      says: /chunk size overflow/,
    },
    {
      title: 'chunk extensions without end',
      bytes: `${head('Transfer-Encoding: chunked')}1;${'a'.repeat(100_000)}`,
      status: '413',
      says: /extensions of more than 16384 bytes/,
    },
    {
      title: 'both a length and chunks',
      bytes: head('Content-Length: 3', 'Transfer-Encoding: chunked'),
      status: '400',
      says: /no request of HTTP/,
    },
    {
      title: 'two lengths',
      bytes: head('Content-Length: 3', 'Content-Length: 4'),
      status: '400',
      says: /no request of HTTP/,
    },
  ];
  test.each(cases)('with $title is answered $status and closed', async ({ bytes, status, says }) => {
    const [top, body = ''] = (await exchange(bytes)).split('\r\n\r\n');
    expect(top).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(body)).toEqual({ error: expect.stringMatching(says) });
    await expectService();
  });

  test('that pipelines is answered in order', async () => {
    const one = `${head('Content-Length: 2')}{}`;
    const text = await exchange(
      `${one}${one}GET /v2/health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      /^$/,
    );
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['400', '400', '200']);
  });

  test.each([
    ['in its head', `POST ${INFER} HT`],
    ['after its head', head('Content-Length: 1000')],
    ['in its body', `${head('Content-Length: 1000')}{"inputs"`],
    ['after a whole request', `${head(`Content-Length: ${document(tensor({})).length}`)}${document(tensor({}))}`],
  ])('that is reset %s harms nobody', async (_, bytes) => {
    const { hostname, port } = new URL(server.url);
    await Promise.all(
      Array.from(
        { length: 50 },
        () =>
          new Promise<void>((resolve) => {
            const socket = connect({ host: hostname, port: Number(port) }, () => {
              socket.write(bytes, () => socket.resetAndDestroy());
            });
            socket.on('error', () => {}).on('close', () => resolve());
          }),
      ),
    );
    await expectService();
  });
});

describe('a gRPC call', () => {
  const identity = field(1, 'identity');
  const input = field(5, Buffer.concat([field(1, 'x'), field(2, 'UINT8'), field(3, Buffer.of(3))]));
  const raw = field(7, 'abc');
  const bomb = gzipSync(Buffer.alloc(80 * MIB));
  const cases = [
    {
      title: 'a length beyond the limit',
      body: framed(Buffer.alloc(3), { length: 2 ** 32 - 1 }),
      status: '8',
      says: /4294967295/,
    },
    { title: 'half a message', body: framed(Buffer.alloc(3), { length: 100 }), status: '3', says: /inside a message/ },
    { title: 'half a prefix', body: Buffer.alloc(3), status: '3', says: /inside a message/ },
    { title: 'a flag that does not exist', body: framed(Buffer.alloc(3), { flag: 7 }), status: '3', says: /found 7/ },
    { title: 'compression that it did not name', body: framed(bomb, { flag: 1 }), status: '3', says: /grpc-encoding/ },
    { title: 'no protobuf in it', body: framed(Buffer.alloc(64, 0xff)), status: '3', says: /cannot be parsed/ },
    {
      title: 'a gzip bomb',
      body: framed(bomb, { flag: 1 }),
      headers: { 'grpc-encoding': 'gzip' },
      status: '8',
      says: /67108864/,
    },
    {
      title: 'a deflate bomb',
      body: framed(deflateSync(Buffer.alloc(80 * MIB)), { flag: 1 }),
      headers: { 'grpc-encoding': 'deflate' },
      status: '8',
      says: /67108864/,
    },
    {
      title: 'an input that comes twice',
      body: framed(Buffer.concat([identity, input, input, raw, raw])),
      status: '3',
      says: /'?x'?/,
    },
    {
      title: 'an output that is asked for twice',
      body: framed(Buffer.concat([identity, input, field(6, field(1, 'y')), field(6, field(1, 'y')), raw])),
      status: '3',
      says: /'y'/,
    },
    {
      title: 'more fields than anybody needs',
      body: framed(Buffer.concat([identity, Buffer.from('\x0a\x00'.repeat(70_000), 'latin1')])),
      status: '3',
      says: /more than 65536 fields/,
    },
    {
      title: 'an unknown compression',
      body: framed(bomb, { flag: 1 }),
      headers: { 'grpc-encoding': 'zstd' },
      status: '12',
      says: /zstd/,
    },
  ];
  test.each(cases)(
    'with $title ends with status $status, and the next is served',
    async ({ body, headers, status, says }) => {
      expect(await callGrpc(body, GRPC_INFER, headers)).toEqual({ status, message: expect.stringMatching(says) });
      await expectService();
    },
  );

  test('that is reset as soon as it is made, thousands of times, leaves the others alone', async () => {
    const session = connectHttp2(`http://${server.grpcPlace}`);
    session.on('error', () => {});
    for (let round = 0; round < 40 && !session.destroyed; round++) {
      for (let i = 0; i < 100 && !session.destroyed; i++) {
        const stream = session.request({ ':method': 'POST', ':path': GRPC_INFER, 'content-type': 'application/grpc' });
        stream.on('error', () => {});
        stream.close(constants.NGHTTP2_CANCEL);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expectService();
    session.destroy();
  });
});

/** A field of bytes, by its number. */
function field(number: number, bytes: string | Buffer): Buffer {
  const content = Buffer.from(bytes);
  return Buffer.concat([Buffer.of(number * 8 + 2, content.length), content]);
}

/** A `ModelInfer` message for `strings`. */
const wordsMessage = (dims: readonly number[], raw: Buffer) =>
  framed(
    Buffer.concat([
      field(1, 'strings'),
      field(5, Buffer.concat([field(1, 'words'), field(2, 'BYTES'), field(3, Buffer.from(dims))])),
      field(7, raw),
    ]),
  );

describe('a BYTES tensor whose lengths lie', () => {
  const length = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  };
  const whole = Buffer.concat([length(2), Buffer.from('ab')]);
  const cases = [
    {
      title: 'beyond its end',
      bytes: Buffer.concat([length(3), Buffer.from('ab')]),
      says: /incomplete string data.*3 bytes/,
    },
    { title: 'of 4 GiB', bytes: Buffer.concat([length(2 ** 32 - 1), Buffer.from('ab')]), says: /4294967295 bytes/ },
    { title: 'cut off', bytes: Buffer.concat([whole, Buffer.of(1, 0)]), says: /incomplete string length indicator/ },
    { title: 'with an element too many', bytes: Buffer.concat([whole, length(0)]), says: /expected 1 string elements/ },
    { title: 'with none', bytes: length(0).subarray(0, 0), says: /expected 1 string elements|got 0/ },
  ];

  test.each(cases)('$title is refused over HTTP', async ({ bytes, says }) => {
    const input = { name: 'words', datatype: 'BYTES', shape: [1, 1], parameters: { binary_data_size: bytes.length } };
    const text = document(input);
    const answer = await fetch(`${server.url}/v2/models/strings/infer`, {
      method: 'POST',
      body: new Uint8Array(Buffer.concat([Buffer.from(text), bytes])),
      headers: { 'inference-header-content-length': String(text.length) },
    });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringMatching(says)]);
    await expectService();
  });

  test.each(cases)('$title is refused over gRPC', async ({ bytes, says }) => {
    expect(await callGrpc(wordsMessage([1, 1], bytes), GRPC_INFER)).toEqual({
      status: '3',
      message: expect.stringMatching(says),
    });
    await expectService();
  });

  test.each(cases.slice(0, -1))('$title is refused from shared memory', async ({ bytes, says }) => {
    using object = new ShmObject(bytes);
    const place = `${server.url}/v2/systemsharedmemory/region/lies`;
    const body = JSON.stringify({ key: object.key, offset: 0, byte_size: bytes.length });
    expect((await fetch(`${place}/register`, { method: 'POST', body })).status).toBe(200);
    const parameters = { shared_memory_region: 'lies', shared_memory_byte_size: bytes.length };
    const answer = await fetch(`${server.url}/v2/models/strings/infer`, {
      method: 'POST',
      body: document({ name: 'words', datatype: 'BYTES', shape: [1, 1], parameters }),
    });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringMatching(says)]);
    expect((await fetch(`${place}/unregister`, { method: 'POST' })).status).toBe(200);
    await expectService();
  });
});

describe('shared memory', () => {
  const place = () => `${server.url}/v2/systemsharedmemory/region/r`;
  const register = async (body: object) => {
    const answer = await fetch(`${place()}/register`, { method: 'POST', body: JSON.stringify(body) });
    return [answer.status, await answer.text()];
  };
  const overGrpc = (key: string, numbers: readonly Buffer[]) =>
    callGrpc(
      framed(Buffer.concat([field(1, 'r'), field(2, key), ...numbers])),
      '/inference.GRPCInferenceService/SystemSharedMemoryRegister',
    );
  /** A varint field whose value is all ones: 2^64 − 1, which as a signed number is −1. */
  const ones = (number: number) => Buffer.from([number * 8, ...Array<number>(9).fill(0xff), 1]);

  test.each([
    ['a negative offset', { offset: -1, byte_size: 8 }],
    ['a negative size', { offset: 0, byte_size: -8 }],
    ['half a byte', { offset: 0.5, byte_size: 1 }],
    ['an offset beyond the object', { offset: 9, byte_size: 1 }],
    ['a size beyond the object', { offset: 4, byte_size: 5 }],
    ['a sum beyond what can be counted', { offset: 2 ** 53, byte_size: 2 ** 53 }],
  ])('is not registered with %s over HTTP', async (_, body) => {
    using object = new ShmObject(Buffer.alloc(8));
    expect(await register({ key: object.key, ...body })).toEqual([
      400,
      expect.stringMatching(/failed to register|invalid args/),
    ]);
    await expectService();
  });

  test.each([
    ['a size of 2^64 − 1', [ones(4)]],
    ['an offset of 2^64 − 1', [ones(3), Buffer.of(32, 8)]],
    ['no size', []],
    ['a size beyond the object', [Buffer.of(32, 9)]],
    ['an end beyond the object', [Buffer.of(24, 1), Buffer.of(32, 8)]],
  ])('is not registered with %s over gRPC', async (_, numbers) => {
    using object = new ShmObject(Buffer.alloc(8));
    expect(await overGrpc(object.key, numbers)).toEqual({
      status: '3',
      message: expect.stringMatching(/invalid args/),
    });
    await expectService();
  });

  test('may overlap with other memory, but is read only within its bounds, and only while it is there', async () => {
    using object = new ShmObject(Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]));
    expect(await register({ key: object.key, offset: 2, byte_size: 4 })).toEqual([200, '']);
    const infer = async (offset: number, size: number, shape = [size]) => {
      const parameters = { shared_memory_region: 'r', shared_memory_byte_size: size, shared_memory_offset: offset };
      return post({ body: document({ name: 'x', datatype: 'UINT8', shape, parameters }) });
    };
    expect(JSON.parse((await infer(1, 3)).text).outputs[0].data).toEqual([4, 5, 6]);
    for (const [offset, size] of [
      [2, 3],
      [5, 1],
      [2 ** 53, 1],
      [0, 2 ** 53],
    ] as const)
      expect((await infer(offset, size, [1])).text).toMatch(/Invalid offset|is beyond/);
    object.truncate(3);
    expect(await infer(1, 3)).toEqual({ status: 400, text: expect.stringContaining('become too short') });
    await fetch(`${place()}/unregister`, { method: 'POST' });
    expect((await infer(1, 3)).text).toContain('Unable to find shared memory region');
    await expectService();
  });
});

describe('the server', () => {
  const probes = () => [...server.output().matchAll(/"usedMiB":([\d.]+)/g)].map(([, used]) => Number(used));
  const usedMiB = async () => {
    const { length } = probes();
    server.process.kill('SIGUSR2');
    await expect.poll(() => probes().length, { timeout: 10_000 }).toBe(length + 1);
    return probes().at(-1);
  };

  test('holds no memory for messages that were announced and never came', async () => {
    const before = (await usedMiB()) ?? 0;
    const announced = framed(Buffer.alloc(3), { length: 2 ** 30 });
    await Promise.all(Array.from({ length: 8 }, () => callGrpc(announced, GRPC_INFER)));
    await exchange(
      `${head('Content-Length: 2147483647', 'Connection: close', 'Inference-Header-Content-Length: -1')}{`,
    );
    // One that stayed would be 1024.
    await expect.poll(usedMiB, { timeout: 20_000 }).toBeLessThan(before + 512);
    await expectService();
  }, 30_000);
});
