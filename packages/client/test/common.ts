/** What every client must do, whatever it speaks. */
import { DATATYPES, type Datatype, isDatatype } from '@nereid/core';
import { HoldingEngine, ShmObject } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ClientError,
  type ClientOptions,
  type InferenceClient,
  type InferRequest,
  type InputValues,
  type OutputValues,
  Sequence,
  tensor,
  valuesOf,
} from '../src/index.ts';
import { type Served, serve } from './fixture.ts';

type MakeClient = (served: Pick<Served, 'url' | 'grpcUrl'>, options?: ClientOptions) => InferenceClient;

const a = tensor({ name: 'a', datatype: 'FP32', shape: [1, 3], values: [0, 1, 2] });
const b = tensor({ name: 'b', datatype: 'FP32', shape: [1, 3], values: Float32Array.of(1, 1, 1) });
/** As each protocol expects it. */
const KEY = { key: 'secret', 'triton-grpc-protocol-key': 'secret' };
const addSub: InferRequest = { model: 'addsub', inputs: [a, b] };

/** Values of each datatype, as they are given and as they come back. */
const VALUES: { readonly [D in Datatype]: readonly [InputValues[D], OutputValues[D]] } = {
  BOOL: [[true, false], Uint8Array.of(1, 0)],
  UINT8: [[0, 255], Uint8Array.of(0, 255)],
  UINT16: [Uint16Array.of(65_535), Uint16Array.of(65_535)],
  UINT32: [[4_294_967_295], Uint32Array.of(4_294_967_295)],
  UINT64: [[18_446_744_073_709_551_615n, 1], BigUint64Array.of(18_446_744_073_709_551_615n, 1n)],
  INT8: [[-128, 127], Int8Array.of(-128, 127)],
  INT16: [[-32_768], Int16Array.of(-32_768)],
  INT32: [Int32Array.of(-1, 7), Int32Array.of(-1, 7)],
  INT64: [[-9_223_372_036_854_775_808n], BigInt64Array.of(-9_223_372_036_854_775_808n)],
  FP16: [[0.5, -65_504, Number.POSITIVE_INFINITY], Float32Array.of(0.5, -65_504, Number.POSITIVE_INFINITY)],
  FP32: [[0.1, Number.NaN], Float32Array.of(0.1, Number.NaN)],
  FP64: [[0.1, -1e300], Float64Array.of(0.1, -1e300)],
  BYTES: [
    ['', 'é😀', new Uint8Array([0, 65])],
    ['', 'é😀', '\u0000A'],
  ],
  BF16: [[1.5, -3], Float32Array.of(1.5, -3)],
};

/** The error that a promise rejects with. */
export async function failureOf(call: Promise<unknown>): Promise<ClientError> {
  const thrown: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof ClientError) return thrown;
  throw new Error(`expected a ClientError, got ${String(thrown)}`);
}

export function runClientSuite(makeClient: MakeClient): void {
  let served: Served;
  let client: InferenceClient;
  beforeAll(async () => {
    served = await serve();
    client = makeClient(served);
  });
  afterAll(async () => {
    await client?.close();
    await served?.[Symbol.asyncDispose]();
  });

  describe('inference', () => {
    it('brings outputs as typed arrays', async () => {
      const result = await client.infer({ ...addSub, id: '7' });
      expect(result).toMatchObject({ modelName: 'addsub', modelVersion: '3', id: '7', isFinal: true });
      expect(result.values('sum', 'FP32')).toEqual(Float32Array.of(1, 2, 3));
      expect(result.values('difference', 'FP32')).toEqual(Float32Array.of(-1, 0, 1));
      expect(result.output('sum').shape).toEqual([1, 3]);
    });

    it.each(Object.keys(DATATYPES).filter(isDatatype))('carries %s both ways', async (datatype) => {
      const [given, expected] = VALUES[datatype];
      const x = tensor({ name: 'x', datatype, values: given } as Parameters<typeof tensor>[0]);
      const result = await client.infer({ model: `id_${datatype.toLowerCase()}`, inputs: [x] });
      expect(valuesOf(result.output('y'))).toEqual(expected);
      const empty = await client.infer({
        model: `id_${datatype.toLowerCase()}`,
        inputs: [{ ...x, shape: [0], data: new Uint8Array() }],
      });
      expect(empty.output('y')).toMatchObject({ shape: [0], data: expect.objectContaining({ byteLength: 0 }) });
    });

    it('runs the version that is named, and returns the outputs that are named', async () => {
      const result = await client.infer({ ...addSub, version: '1', outputs: ['difference'] });
      expect(result.modelVersion).toBe('1');
      expect(result.outputs.map(({ name }) => name)).toEqual(['difference']);
    });

    it('returns classes in place of an output', async () => {
      const result = await client.infer({ ...addSub, outputs: [{ name: 'sum', classes: 2 }] });
      expect(result.values('sum', 'BYTES')).toEqual(['3.000000:2', '2.000000:1']);
    });

    it('takes large tensors in any alignment', async () => {
      const memory = new Uint8Array(4 * 200_000 + 1).subarray(1);
      memory.fill(7);
      const result = await client.infer({
        model: 'id_fp32',
        inputs: [{ name: 'x', datatype: 'FP32', shape: [200_000], data: memory }],
      });
      expect(Buffer.compare(result.output('y').data, memory)).toBe(0);
      expect(result.values('y', 'FP32')).toHaveLength(200_000);
    });

    it('reads and writes shared memory that is registered', async () => {
      using object = new ShmObject(new Uint8Array(4096));
      const place = (offset: number) => ({ region: 'r', offset, byteSize: 12 });
      await client.registerSystemSharedMemory({ name: 'r', key: object.key, offset: 0, byteSize: 4096 });
      const expected = { name: 'r', key: object.key, offset: 0, byteSize: 4096 };
      expect(await client.systemSharedMemoryStatus()).toEqual([expected]);
      expect(await client.systemSharedMemoryStatus({ name: 'r' })).toEqual([expected]);
      const result = await client.infer({
        model: 'addsub',
        inputs: [{ name: 'a', datatype: 'FP32', shape: [1, 3], sharedMemory: place(12) }, b],
        outputs: [{ name: 'sum', sharedMemory: place(24) }, 'difference'],
      });
      expect(result.output('sum').data).toHaveLength(0);
      expect(result.values('difference', 'FP32')).toEqual(Float32Array.of(-1, -1, -1));
      expect(new Float32Array(new Uint8Array(object.bytes).buffer).subarray(6, 9)).toEqual(Float32Array.of(1, 1, 1));
      await client.unregisterSystemSharedMemory({ name: 'r' });
      await client.unregisterSystemSharedMemory();
      expect(await client.systemSharedMemoryStatus()).toEqual([]);
    });

    it('sends parameters, priority, queue timeout and sequence', async () => {
      const engine = new HoldingEngine();
      await using held = await serve({ wrap: engine.wrap });
      await using other = makeClient(held);
      const answer = other.infer({
        ...addSub,
        parameters: { text: 'é', real: 0.5, whole: 3, wide: 2n ** 60n, flag: true },
        priority: 2,
        queueTimeoutMicroseconds: 5000,
        sequence: { id: 2n ** 62n, start: true },
      });
      const request = await engine.next();
      expect(Object.fromEntries(request.parameters)).toEqual({
        text: 'é',
        real: 0.5,
        whole: 3,
        wide: 2n ** 60n,
        flag: true,
      });
      expect(request).toMatchObject({
        priority: 2,
        timeoutMicroseconds: 5000,
        correlationId: 2n ** 62n,
        sequenceStart: true,
        sequenceEnd: false,
      });
      request.respond({ modelName: 'addsub', modelVersion: '3', outputs: [], parameters: new Map([['k', 1.5]]) }, true);
      expect((await answer).parameters.get('k')).toBe(1.5);
    });

    it('keeps the requests of a sequence in order, and marks its start and end', async () => {
      const engine = new HoldingEngine();
      await using held = await serve({ wrap: engine.wrap });
      await using other = makeClient(held);
      const sequence = new Sequence(other, 'addsub');
      const answers = [sequence.infer(addSub), sequence.infer(addSub), sequence.infer(addSub, { last: true })];
      const marks: unknown[] = [];
      for (const _ of answers) {
        const request = await engine.next();
        expect(engine.held).toEqual([]);
        marks.push([request.correlationId, request.sequenceStart, request.sequenceEnd]);
        request.respond({ modelName: 'addsub', modelVersion: '3', outputs: [] }, true);
      }
      await Promise.all(answers);
      expect(marks).toEqual([
        [sequence.id, true, false],
        [sequence.id, false, false],
        [sequence.id, false, true],
      ]);
    });
  });

  describe('what the server tells', () => {
    it('is health', async () => {
      expect([await client.isServerLive(), await client.isServerReady()]).toEqual([true, true]);
      expect(await client.isModelReady('addsub')).toBe(true);
      expect(await client.isModelReady({ model: 'addsub', version: '2' })).toBe(false);
      expect(await client.isModelReady('nosuch')).toBe(false);
    });

    it('is metadata and configuration', async () => {
      expect(await client.serverMetadata()).toMatchObject({
        name: 'nereid',
        extensions: expect.arrayContaining(['sequence']),
      });
      expect(await client.modelMetadata({ model: 'addsub', version: '1' })).toMatchObject({
        name: 'addsub',
        versions: ['1'],
        inputs: [
          { name: 'a', datatype: 'FP32', shape: [-1, 3] },
          { name: 'b', datatype: 'FP32', shape: [-1, 3] },
        ],
      });
      const config = await client.modelConfig('addsub');
      expect(config).toMatchObject({ name: 'addsub', backend: 'fake', max_batch_size: 4 });
      expect(config.input).toMatchObject([{ name: 'a', data_type: 'TYPE_FP32', dims: [3] }, { name: 'b' }]);
    });

    it('is statistics', async () => {
      await client.infer({ ...addSub, version: '1' });
      const [one] = await client.statistics({ model: { model: 'addsub', version: '1' } });
      expect(one).toMatchObject({ name: 'addsub', version: '1', fail: { count: 0 }, memoryUsage: [] });
      expect(one?.success.count).toBeGreaterThan(0);
      expect(one?.success.ns).toBeGreaterThan(0);
      expect(one?.batches[0]).toMatchObject({ batchSize: 1, computeInfer: { count: one?.executionCount } });
      expect((await client.statistics()).length).toBe(17);
    });

    it('is the index of the repository', async () => {
      const all = await client.repositoryIndex();
      expect(all).toContainEqual({ name: 'addsub', version: '3', state: 'READY' });
      expect(await client.repositoryIndex({ ready: true })).toEqual(all);
    });

    it('is settings of traces and the log, which can be changed', async () => {
      expect(await client.traceSettings()).toMatchObject({ trace_rate: '1000', trace_level: ['OFF'] });
      const changed = await client.updateTraceSettings(
        { trace_level: ['TIMESTAMPS'], trace_rate: '5' },
        { model: 'addsub' },
      );
      expect(changed).toMatchObject({ trace_rate: '5', trace_level: ['TIMESTAMPS'] });
      expect(await client.updateTraceSettings({ trace_rate: null }, { model: 'addsub' })).toMatchObject({
        trace_rate: '1000',
      });
      expect(await client.updateLogSettings({ log_verbose_level: 2, log_info: false })).toMatchObject({
        log_verbose_level: 2,
        log_info: false,
        log_format: 'default',
      });
      expect(await client.logSettings()).toMatchObject({ log_verbose_level: 2 });
    });
  });

  describe('failures', () => {
    it.each<[what: string, call: () => Promise<unknown>, expected: Partial<ClientError>, message: string]>([
      [
        'an unknown model',
        () => client.infer({ ...addSub, model: 'nosuch' }),
        { code: 'NOT_FOUND' },
        "unknown model: 'nosuch'",
      ],
      [
        'a wrong shape',
        () => client.infer({ ...addSub, inputs: [a] }),
        { code: 'INVALID_ARG' },
        'expected 2 inputs but got 1',
      ],
      ['metadata of none', () => client.modelMetadata('nosuch'), { code: 'NOT_FOUND' }, 'nosuch'],
      [
        'a decoupled model',
        () => client.infer({ model: 'repeat', inputs: [tensor({ name: 'x', datatype: 'FP32', values: [1] })] }),
        { code: 'UNSUPPORTED' },
        'decoupled',
      ],
      [
        'an unknown region',
        () => client.systemSharedMemoryStatus({ name: 'x' }),
        { code: 'NOT_FOUND' },
        'shared memory region',
      ],
      [
        'a load that is not allowed',
        () => client.loadModel('addsub', { config: '{}', files: { '1/m': Uint8Array.of(1) } }),
        { code: 'UNAVAILABLE' },
        'not allowed',
      ],
      [
        'an unload that is not allowed',
        () => client.unloadModel('addsub', { unloadDependents: true }),
        { code: 'UNAVAILABLE' },
        'not allowed',
      ],
      [
        'memory of a GPU where none is',
        () => client.registerCudaSharedMemory({ name: 'g', rawHandle: new Uint8Array(64), deviceId: 0, byteSize: 4 }),
        { code: 'INVALID_ARG' },
        'GPU',
      ],
    ])('of the server are told as they are: %s', async (_, call, expected, message) => {
      const error = await failureOf(call());
      expect(error).toMatchObject({ reason: 'refused', ...expected });
      expect(error.status).toBeGreaterThan(0);
      expect(error.serverMessage).toContain(message);
      expect(error.message).toContain(error.serverMessage ?? '?');
    });

    it('of the arguments are found before anything is sent', async () => {
      const wrong = { ...a, shape: [2, 3] };
      expect(await failureOf(client.infer({ ...addSub, inputs: [wrong, b] }))).toMatchObject({
        reason: 'usage',
        code: 'INVALID_ARG',
        message: "input 'a' has 12 bytes, FP32 [2,3] takes 24",
      });
      expect(await failureOf(client.infer({ ...addSub, model: '' }))).toMatchObject({ reason: 'usage' });
    });

    it('of nobody who listens say so, and are sent again', async () => {
      await using other = makeClient(
        { url: 'http://127.0.0.1:2', grpcUrl: 'grpc://127.0.0.1:2' },
        { retry: { attempts: 3, baseDelayMs: 1 } },
      );
      const error = await failureOf(other.infer(addSub));
      expect(error).toMatchObject({ reason: 'connection', code: 'UNAVAILABLE', isNotTaken: true, status: undefined });
    });
  });

  describe('a call that takes long', () => {
    it('ends with its deadline, and the server learns of it', async () => {
      const engine = new HoldingEngine();
      await using held = await serve({ wrap: engine.wrap });
      await using other = makeClient(held, { timeoutMs: 100 });
      expect(await failureOf(other.infer(addSub))).toMatchObject({ reason: 'timeout', code: 'UNAVAILABLE' });
      await engine.until(() => engine.cancelled.length === 1);
      expect(engine.held).toHaveLength(1);
    });

    it('ends with its signal, and the server learns of it', async () => {
      const engine = new HoldingEngine();
      await using held = await serve({ wrap: engine.wrap });
      await using other = makeClient(held);
      const controller = new AbortController();
      const answer = failureOf(other.infer(addSub, { signal: controller.signal }));
      await engine.until(() => engine.held.length === 1);
      const why = new Error('the user went away');
      controller.abort(why);
      expect(await answer).toMatchObject({ reason: 'cancelled', code: 'CANCELLED', cause: why });
      await engine.until(() => engine.cancelled.length === 1);
    });

    it('is not begun with a signal that is aborted already', async () => {
      const answer = await failureOf(client.infer(addSub, { signal: AbortSignal.abort() }));
      expect(answer.reason).toBe('cancelled');
    });
  });

  it('sends its headers with every call, and those of the call', async () => {
    await using restricted = await serve({
      restricted: [{ categories: ['inference'], key: 'key', value: 'secret' }],
    });
    await using open = makeClient(restricted, { retry: { attempts: 1 } });
    expect(await failureOf(open.infer(addSub))).toMatchObject({ reason: 'refused' });
    expect((await open.infer(addSub, { headers: KEY })).modelName).toBe('addsub');
    await using keyed = makeClient(restricted, { headers: KEY });
    expect((await keyed.infer(addSub)).modelName).toBe('addsub');
  });

  it.each(['gzip', 'deflate'] as const)('compresses requests with %s', async (requestCompression) => {
    await using other = makeClient(served, { requestCompression });
    const values = new Float32Array(10_000).fill(0.5);
    const x = tensor({ name: 'x', datatype: 'FP32', values });
    expect((await other.infer({ model: 'id_fp32', inputs: [x] })).values('y', 'FP32')).toEqual(values);
  });
}
