import { SharedMemoryRegions } from '@nereid/shared-memory';
import { HoldingEngine, ShmObject } from '@nereid/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { binaryBody, binaryInput, f32, responseOf, type Served, serve } from './fixture.ts';

const SYSTEM = '/v2/systemsharedmemory';
const CUDA = '/v2/cudasharedmemory';
const ADD = '/v2/models/addsub/infer';

let served: Served;
let regions: SharedMemoryRegions;

async function call(method: string, path: string, body?: object | Buffer, headers: Record<string, string> = {}) {
  const answer = await fetch(served.url + path, {
    method,
    headers,
    ...(body !== undefined && { body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, type: answer.headers.get('content-type'), json: text === '' ? '' : JSON.parse(text) };
}

const refusal = (status: number, text: string) => ({ status, json: { error: expect.stringContaining(text) } });

const inMemory = (name: string, byteSize: number, offset = 0, region = 'r') => ({
  name,
  parameters: {
    shared_memory_region: region,
    shared_memory_byte_size: byteSize,
    ...(offset > 0 && { shared_memory_offset: offset }),
  },
});

const input = (name: string, shape: readonly number[], byteSize: number, offset = 0) => ({
  ...inMemory(name, byteSize, offset),
  datatype: 'FP32',
  shape,
});

const ONES = { name: 'b', datatype: 'FP32', shape: [1, 3], data: [1, 1, 1] };

describe('where clients may not register shared memory', () => {
  beforeAll(async () => {
    served = await serve();
  });
  afterAll(() => served[Symbol.asyncDispose]());

  it.each([
    ['GET', `${SYSTEM}/status`, 200, ''],
    ['GET', `${CUDA}/status`, 200, ''],
    ['GET', `${SYSTEM}/region/r/status`, 404, "Unable to find system shared memory region: 'r'"],
    ['GET', `${CUDA}/region/r/status`, 404, "Unable to find cuda shared memory region: 'r'"],
    ['POST', `${SYSTEM}/region/r/register`, 501, 'Client shared memory is disabled'],
    ['POST', `${CUDA}/region/r/register`, 501, 'Client shared memory is disabled'],
    ['POST', `${SYSTEM}/region/r/unregister`, 501, 'Client shared memory is disabled'],
    ['POST', `${SYSTEM}/unregister`, 501, 'Client shared memory is disabled'],
    ['POST', `${CUDA}/unregister`, 501, 'Client shared memory is disabled'],
  ])('%s %s: %i', async (method, path, status, text) => {
    const answer = await call(method, path);
    if (text === '') expect(answer).toMatchObject({ status, json: [] });
    else expect(answer).toMatchObject(refusal(status, text));
  });

  it('a request that names a region is refused', async () => {
    const answer = await call('POST', ADD, { inputs: [input('a', [1, 3], 12), ONES] });
    expect(answer).toMatchObject(refusal(404, "Unable to find shared memory region: 'r'"));
  });
});

describe('shared memory', () => {
  let object: ShmObject;
  beforeAll(async () => {
    regions = new SharedMemoryRegions({ syncBytes: 1024 });
    served = await serve({ sharedMemory: regions });
  });
  afterAll(() => served[Symbol.asyncDispose]());
  beforeEach(() => {
    object = new ShmObject(Buffer.concat([f32(0, 1, 2), Buffer.alloc(52)]));
    regions.register({ name: 'r', key: object.key, offset: 0, byteSize: 64 });
  });
  afterEach(() => {
    regions.unregister();
    object[Symbol.dispose]();
  });

  it('is registered, told and forgotten, one region and all', async () => {
    const body = { key: object.key, byte_size: 8 };
    expect(await call('POST', `${SYSTEM}/region/a%20b/register`, body)).toEqual({
      status: 200,
      type: 'application/json',
      json: '',
    });
    const row = { name: 'a b', key: object.key, offset: 0, byte_size: 8 };
    expect((await call('GET', `${SYSTEM}/region/a%20b/status`)).json).toEqual([row]);
    expect((await call('GET', `${SYSTEM}/status`)).json).toEqual([{ ...row, name: 'r', byte_size: 64 }, row]);
    expect((await call('POST', `${SYSTEM}/region/r/unregister`)).status).toBe(200);
    expect((await call('POST', `${SYSTEM}/region/nosuch/unregister`)).status).toBe(200);
    expect((await call('GET', `${SYSTEM}/status`)).json).toEqual([row]);
    expect((await call('POST', `${SYSTEM}/unregister`)).status).toBe(200);
    expect((await call('GET', `${SYSTEM}/status`)).json).toEqual([]);
    expect((await call('GET', '/v2')).json.extensions).toContain('system_shared_memory');
  });

  it.each([
    ['a name that is taken', 'r', { key: '/x', byte_size: 1 }, 400, 'already in manager'],
    ['an object that is not there', 's', { key: '/nosuch', byte_size: 1 }, 500, 'Unable to open shared memory region'],
    ['a way out', 's', { key: '/../x', byte_size: 1 }, 400, 'one name'],
    ['too many bytes', 's', { byte_size: 65 }, 400, 'invalid args'],
    ['no size', 's', {}, 400, "Unable to parse 'byte_size'"],
    ['a key that is none', 's', { key: 1 }, 400, "Unable to parse 'key'"],
    ['an offset that is none', 's', { offset: '0', byte_size: 1 }, 400, "Unable to parse 'offset'"],
    ['an array', 's', [], 400, 'the body must be'],
  ])('is not registered with %s', async (_, name, body, status, text) => {
    const whole = Array.isArray(body) ? body : { key: object.key, ...body };
    expect(await call('POST', `${SYSTEM}/region/${name}/register`, whole)).toMatchObject(refusal(status, text));
  });

  it.each([
    ['POST', `${SYSTEM}/status`, 405],
    ['GET', `${SYSTEM}/unregister`, 405],
    ['POST', `${SYSTEM}/register`, 404],
    ['POST', `${SYSTEM}/region//register`, 404],
    ['POST', `${SYSTEM}/region/r/register/x`, 404],
    ['GET', SYSTEM, 404],
  ])('has no call %s %s', async (method, path, status) => {
    expect((await call(method, path)).status).toBe(status);
  });

  it('of CUDA is that of a server without GPUs', async () => {
    const body = { raw_handle: { b64: 'AAAA' }, device_id: 0, byte_size: 4 };
    expect(await call('POST', `${CUDA}/region/c/register`, body)).toMatchObject(refusal(400, 'GPUs not supported'));
    expect((await call('POST', `${CUDA}/unregister`)).status).toBe(200);
    expect((await call('GET', `${CUDA}/status`)).json).toEqual([]);
    expect((await call('GET', `${SYSTEM}/status`)).json).toHaveLength(1);
  });

  it('holds inputs and outputs beside others of the same request', async () => {
    const header = {
      id: '7',
      inputs: [input('a', [1, 3], 12), binaryInput('b', 'FP32', [1, 3], 12)],
      outputs: [inMemory('OUTPUT__1', 16, 20), { name: 'OUTPUT__0' }],
    };
    const { body, headers } = binaryBody(header, f32(1, 1, 1));
    for (let i = 0; i < 3; i++) {
      const answer = await call('POST', ADD, body, headers);
      expect(answer).toMatchObject({
        type: 'application/json',
        json: {
          id: '7',
          outputs: [
            { name: 'OUTPUT__0', datatype: 'FP32', shape: [1, 3], data: [1, 2, 3] },
            { name: 'OUTPUT__1', datatype: 'FP32', shape: [1, 3] },
          ],
        },
      });
      expect(Object.keys(answer.json.outputs[1])).toEqual(['name', 'datatype', 'shape']);
    }
    expect(object.bytes.subarray(0, 12)).toEqual(f32(0, 1, 2));
    expect(object.bytes.subarray(20, 32)).toEqual(f32(-1, 0, 1));
  });

  it('holds large tensors, beside the event loop, many requests at a time', async () => {
    const values = Buffer.alloc(200_000, 7);
    using large = new ShmObject(Buffer.concat([values, Buffer.alloc(20 * values.length)]));
    regions.register({ name: 'large', key: large.key, offset: 0, byteSize: large.bytes.length });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        call('POST', '/v2/models/id_uint8/infer', {
          inputs: [{ ...inMemory('x', values.length, 0, 'large'), datatype: 'UINT8', shape: [values.length] }],
          outputs: [inMemory('OUTPUT__0', values.length, values.length * (i + 1), 'large')],
        }),
      ),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(large.bytes.every((byte) => byte === 7)).toBe(true);
  });

  it.each<[string, object, number, string]>([
    ['an unknown region', { inputs: [{ ...input('a', [1, 3], 12), ...inMemory('a', 12, 0, 'x') }, ONES] }, 404, "'x'"],
    ['an offset beyond the end', { inputs: [input('a', [1, 3], 12, 65), ONES] }, 400, 'Invalid offset for'],
    ['an end beyond the end', { inputs: [input('a', [1, 3], 12, 53), ONES] }, 400, 'Invalid offset + byte size'],
    ['an offset of 2^64 - 1', { inputs: [input('a', [1, 3], 12, 2 ** 64 - 2048), ONES] }, 400, 'Invalid offset'],
    ['a size that does not fit the shape', { inputs: [input('a', [1, 3], 8), ONES] }, 400, 'byte size mismatch'],
    [
      'no size',
      { inputs: [{ ...ONES, name: 'a', data: undefined, parameters: { shared_memory_region: 'r' } }] },
      400,
      'without',
    ],
    ['data as well', { inputs: [{ ...input('a', [1, 3], 12), data: [1, 2, 3] }, ONES] }, 400, 'found 2'],
    [
      'a part that is too small for its output',
      { inputs: [input('a', [1, 3], 12), ONES], outputs: [inMemory('OUTPUT__0', 8, 20)] },
      500,
      "output 'OUTPUT__0' (8 bytes) should be at least 12 bytes",
    ],
    ['a model that is not there', { inputs: [] }, 404, 'unknown model'],
  ])('is refused with %s', async (name, body, status, text) => {
    const path = name.startsWith('a model') ? ADD.replace('addsub', 'nosuch') : ADD;
    expect(await call('POST', path, body)).toMatchObject(refusal(status, text));
    expect(object.bytes).toEqual(Buffer.concat([f32(0, 1, 2), Buffer.alloc(52)]));
    expect((await call('POST', ADD, { inputs: [input('a', [1, 3], 12), ONES] })).status).toBe(200);
  });

  it('that its owner shortens fails the requests that need what is gone, and no other', async () => {
    object.truncate(12);
    expect(await call('POST', ADD, { inputs: [input('a', [1, 3], 12, 4), ONES] })).toMatchObject(
      refusal(400, 'has become too short'),
    );
    const toTheEnd = { inputs: [input('a', [1, 3], 12), ONES], outputs: [inMemory('OUTPUT__0', 12, 12)] };
    expect(await call('POST', ADD, toTheEnd)).toMatchObject(refusal(400, 'has become too short'));
    expect(object.bytes).toHaveLength(12);
    expect((await call('POST', ADD, { inputs: [input('a', [1, 3], 12), ONES] })).status).toBe(200);
  });

  it('that is unregistered while a request runs takes its outputs, and the memory of the answer goes back once', async () => {
    const holding = new HoldingEngine();
    await using other = await serve({ sharedMemory: regions, wrap: holding.wrap });
    const body = JSON.stringify({
      inputs: [input('a', [1, 3], 12), ONES],
      outputs: [inMemory('OUTPUT__0', 12, 20)],
    });
    const answer = fetch(other.url + ADD, { method: 'POST', body });
    const request = await holding.next();
    expect(request.inputs[0]?.data).toEqual(f32(0, 1, 2));
    regions.unregister();
    const release = vi.fn();
    const output = { name: 'OUTPUT__0', datatype: 'FP32', shape: [1, 3], data: f32(7, 8, 9) } as const;
    request.respond(responseOf(request, { outputs: [output], release }));
    expect((await answer).status).toBe(200);
    expect(object.bytes.subarray(20, 32)).toEqual(f32(7, 8, 9));
    expect(release).toHaveBeenCalledTimes(1);
  });

  it('stays as it was when the client has gone before the answer, whose memory goes back all the same', async () => {
    const holding = new HoldingEngine();
    await using other = await serve({ sharedMemory: regions, wrap: holding.wrap });
    const body = JSON.stringify({
      inputs: [input('a', [1, 3], 12), ONES],
      outputs: [inMemory('OUTPUT__0', 12, 20)],
    });
    const client = new AbortController();
    const answer = fetch(other.url + ADD, { method: 'POST', body, signal: client.signal });
    const request = await holding.next();
    client.abort();
    await expect(answer).rejects.toThrow();
    await holding.until(() => holding.cancelled.length > 0);
    const release = vi.fn();
    const output = { name: 'OUTPUT__0', datatype: 'FP32', shape: [1, 3], data: f32(7, 8, 9) } as const;
    request.respond(responseOf(request, { outputs: [output], release }));
    expect(release).toHaveBeenCalledTimes(1);
    expect(object.bytes.subarray(20, 32)).toEqual(Buffer.alloc(12));
  });
});
