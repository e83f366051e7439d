import { SharedMemoryRegions } from '@nereid/shared-memory';
import { HoldingEngine, ShmObject } from '@nereid/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { f32, type Served, serve } from './fixture.ts';

let served: Served;
let regions: SharedMemoryRegions;

const inMemory = (name: string, size: number, offset = 0, region = 'r') => ({
  name,
  parameters: {
    shared_memory_region: { string_param: region },
    shared_memory_byte_size: { int64_param: size },
    ...(offset > 0 && { shared_memory_offset: { int64_param: offset } }),
  },
});

const input = (name: string, more: object = {}) => ({ name, datatype: 'FP32', shape: [1, 3], ...more });

/** `a` of addsub at the beginning of the region, `b` in the message. */
const request = (more: object = {}) => ({
  model_name: 'addsub',
  inputs: [input('a', inMemory('a', 12)), input('b')],
  raw_input_contents: [f32(1, 1, 1)],
  ...more,
});

describe('where clients may not register shared memory', () => {
  beforeAll(async () => {
    served = await serve();
  });
  afterAll(() => served[Symbol.asyncDispose]());

  it.each([
    ['SystemSharedMemoryStatus', {}, 'OK'],
    ['CudaSharedMemoryStatus', {}, 'OK'],
    ['SystemSharedMemoryStatus', { name: 'r' }, 'NOT_FOUND'],
    ['CudaSharedMemoryStatus', { name: 'r' }, 'NOT_FOUND'],
    ['SystemSharedMemoryRegister', { name: 'r', key: '/nosuch', byte_size: 16 }, 'UNIMPLEMENTED'],
    ['CudaSharedMemoryRegister', { name: 'r', byte_size: 16 }, 'UNIMPLEMENTED'],
    ['SystemSharedMemoryUnregister', {}, 'UNIMPLEMENTED'],
    ['CudaSharedMemoryUnregister', {}, 'UNIMPLEMENTED'],
    ['ModelInfer', request(), 'NOT_FOUND'],
  ])('%s %j: %s', async (rpc, message, code) => {
    expect((await served.unary(rpc, message)).code).toBe(code);
  });
});

describe.each([
  ['at once', 65_536],
  ['beside the event loop', 0],
])('shared memory, copied %s', (_how, syncBytes) => {
  let object: ShmObject;
  beforeAll(async () => {
    regions = new SharedMemoryRegions({ syncBytes });
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
    const region = { name: 's', key: object.key, offset: '4', byte_size: '8' };
    expect((await served.unary('SystemSharedMemoryRegister', region)).code).toBe('OK');
    expect((await served.unary('SystemSharedMemoryStatus', { name: 's' })).messages[0]).toEqual({
      regions: { s: region },
    });
    expect((await served.unary('SystemSharedMemoryRegister', region)).code).toBe('ALREADY_EXISTS');
    expect((await served.unary('SystemSharedMemoryUnregister', { name: 's' })).code).toBe('OK');
    const left = (await served.unary('SystemSharedMemoryStatus', {})).messages[0];
    expect(Object.keys(left.regions)).toEqual(['r']);
    expect((await served.unary('CudaSharedMemoryUnregister', {})).code).toBe('OK');
    expect((await served.unary('CudaSharedMemoryRegister', { name: 'c' })).code).toBe('INVALID_ARGUMENT');
    expect((await served.unary('SystemSharedMemoryUnregister', {})).code).toBe('OK');
    expect((await served.unary('SystemSharedMemoryStatus', {})).messages[0]).toEqual({});
    expect((await served.unary('ServerMetadata', {})).messages[0].extensions).toContain('system_shared_memory');
  });

  it('holds inputs and outputs beside others of the same request', async () => {
    const outputs = [inMemory('OUTPUT__1', 16, 20), { name: 'OUTPUT__0' }];
    const { messages } = await served.unary('ModelInfer', request({ outputs }));
    expect(messages[0].outputs).toMatchObject([
      { name: 'OUTPUT__0', datatype: 'FP32', shape: ['1', '3'] },
      { name: 'OUTPUT__1', datatype: 'FP32', shape: ['1', '3'] },
    ]);
    expect(messages[0].raw_output_contents).toEqual([f32(1, 2, 3), Buffer.alloc(0)]);
    expect(object.bytes.subarray(0, 12)).toEqual(f32(0, 1, 2));
    expect(object.bytes.subarray(20, 32)).toEqual(f32(-1, 0, 1));
  });

  const part = (more: object) => input('a', { parameters: { ...inMemory('a', 12).parameters, ...more } });

  it.each<[string, object, string, string]>([
    ['an unknown region', part({ shared_memory_region: { string_param: 'x' } }), 'NOT_FOUND', "'x'"],
    ['an offset beyond the end', input('a', inMemory('a', 12, 65)), 'INVALID_ARGUMENT', 'Invalid offset for'],
    ['an end beyond the end', input('a', inMemory('a', 12, 53)), 'INVALID_ARGUMENT', 'Invalid offset + byte size'],
    ['a negative offset', part({ shared_memory_offset: { int64_param: -1 } }), 'INVALID_ARGUMENT', '0 or more'],
    ['a region by number', part({ shared_memory_region: { int64_param: 1 } }), 'INVALID_ARGUMENT', 'string_param'],
    ['a size as text', part({ shared_memory_byte_size: { string_param: '1' } }), 'INVALID_ARGUMENT', 'int64_param'],
    ['a size that does not fit', input('a', inMemory('a', 8)), 'INVALID_ARGUMENT', 'byte size mismatch'],
    [
      'no size',
      input('a', { parameters: { shared_memory_region: { string_param: 'r' } } }),
      'INVALID_ARGUMENT',
      "without 'shared_memory_byte_size'",
    ],
    [
      'no region',
      input('a', { parameters: { shared_memory_offset: { int64_param: 1 } } }),
      'INVALID_ARGUMENT',
      "no 'shared_memory_region'",
    ],
    [
      'contents as well',
      input('a', { ...inMemory('a', 12), contents: { fp32_contents: [1, 2, 3] } }),
      'INVALID_ARGUMENT',
      'must not be specified when using shared memory',
    ],
  ])('is refused with %s, and the next request served', async (_, first, code, text) => {
    expect(await served.unary('ModelInfer', request({ inputs: [first, input('b')] }))).toMatchObject({
      code,
      details: expect.stringContaining(text),
    });
    expect((await served.unary('ModelInfer', request())).code).toBe('OK');
  });

  it('is refused for an output that is too large, with both sizes', async () => {
    const answer = await served.unary('ModelInfer', request({ outputs: [inMemory('OUTPUT__0', 8, 20)] }));
    expect(answer).toMatchObject({
      code: 'INTERNAL',
      details: expect.stringContaining('(8 bytes) should be at least 12'),
    });
    expect(object.bytes.subarray(12)).toEqual(Buffer.alloc(52));
  });

  it('counts less than the model: one that is not there is told first', async () => {
    const message = request({ model_name: 'nosuch', inputs: [input('a', inMemory('a', 12, 65))] });
    expect((await served.unary('ModelInfer', message)).details).toContain('unknown model');
  });

  it('that its owner shortens fails the requests that need what is gone, and no other', async () => {
    object.truncate(12);
    const beyond = request({ inputs: [input('a', inMemory('a', 12, 4)), input('b')] });
    expect((await served.unary('ModelInfer', beyond)).details).toContain('has become too short');
    const { messages } = await served.stream([beyond, request({ id: 'good' })]);
    expect(
      messages.map((message) => [`${message.error_message}`.includes('too short'), message.infer_response.id]),
    ).toEqual([
      [true, undefined],
      [false, 'good'],
    ]);
    const out = request({ outputs: [inMemory('OUTPUT__0', 12, 12)] });
    expect((await served.unary('ModelInfer', out)).code).toBe('INVALID_ARGUMENT');
    expect((await served.stream([out])).messages[0].error_message).toContain('has become too short');
    expect(object.bytes).toHaveLength(12);
  });

  it('keeps the order of a stream, with requests in memory and in messages by turns', async () => {
    const rows = Array.from({ length: 12 }, (_, i) =>
      i % 2 === 0
        ? request({ id: String(i), outputs: [inMemory('OUTPUT__0', 12, 16), { name: 'OUTPUT__1' }] })
        : request({
            id: String(i),
            inputs: [input('a'), input('b')],
            raw_input_contents: [f32(i, i, i), f32(1, 1, 1)],
          }),
    );
    const { code, messages } = await served.stream(rows);
    expect(code).toBe('OK');
    expect(messages.map((message) => [message.error_message ?? '', message.infer_response.id])).toEqual(
      rows.map((_, i) => ['', String(i)]),
    );
    expect(messages[3].infer_response.raw_output_contents).toEqual([f32(4, 4, 4), f32(2, 2, 2)]);
    expect(messages[4].infer_response.raw_output_contents).toEqual([Buffer.alloc(0), f32(-1, 0, 1)]);
    expect(object.bytes.subarray(16, 28)).toEqual(f32(1, 2, 3));
  });

  it('hands the requests of a stream to the engine in their order', async () => {
    const holding = new HoldingEngine();
    await using other = await serve({ sharedMemory: regions, wrap: holding.wrap });
    const plain = { inputs: [input('a'), input('b')], raw_input_contents: [f32(1, 2, 3), f32(1, 1, 1)] };
    const answers = other.stream([request({ id: '1' }), request({ id: '2', ...plain }), request({ id: '3' })]);
    const requests = [await holding.next(), await holding.next(), await holding.next()];
    expect(requests.map(({ id }) => id)).toEqual(['1', '2', '3']);
    for (const held of requests.reverse()) {
      held.respond({ modelName: 'addsub', modelVersion: '1', outputs: [] });
    }
    expect((await answers).messages.map(({ infer_response }) => infer_response.id)).toEqual(['1', '2', '3']);
  });

  it.each(['unary', 'stream'] as const)(
    'that is unregistered while a request runs takes its outputs, and the memory of the answer goes back once (%s)',
    async (kind) => {
      const holding = new HoldingEngine();
      await using other = await serve({ sharedMemory: regions, wrap: holding.wrap });
      const message = request({ outputs: [inMemory('OUTPUT__0', 12, 20)] });
      const answer = kind === 'unary' ? other.unary('ModelInfer', message) : other.stream([message]);
      const held = await holding.next();
      expect(held.inputs[0]?.data).toEqual(f32(0, 1, 2));
      regions.unregister();
      const release = vi.fn();
      const output = { name: 'OUTPUT__0', datatype: 'FP32', shape: [1, 3], data: f32(7, 8, 9) } as const;
      held.respond({ modelName: 'addsub', modelVersion: '1', outputs: [output], release });
      expect((await answer).code).toBe('OK');
      expect(object.bytes.subarray(20, 32)).toEqual(f32(7, 8, 9));
      expect(release).toHaveBeenCalledTimes(1);
    },
  );

  it.each(['unary', 'stream'] as const)(
    'stays as it was when the client has gone before the answer (%s)',
    async (kind) => {
      const holding = new HoldingEngine();
      await using other = await serve({ sharedMemory: regions, wrap: holding.wrap });
      const message = request({ outputs: [inMemory('OUTPUT__0', 12, 20)] });
      const answer = kind === 'unary' ? other.unary('ModelInfer', message) : other.stream([message]);
      const held = await holding.next();
      other.client.close();
      other.server.abort();
      await answer;
      await holding.until(() => holding.cancelled.length > 0);
      const release = vi.fn();
      const output = { name: 'OUTPUT__0', datatype: 'FP32', shape: [1, 3], data: f32(7, 8, 9) } as const;
      held.respond({ modelName: 'addsub', modelVersion: '1', outputs: [output], release });
      await vi.waitFor(() => expect(release).toHaveBeenCalledTimes(1));
      expect(object.bytes.subarray(20, 32)).toEqual(Buffer.alloc(12));
    },
  );
});
