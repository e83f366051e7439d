import grpc from '@grpc/grpc-js';
import { encodeBytes, InferenceServerError } from '@nereid/core';
import { HoldingEngine } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { addSubRequest, f32, HealthService, serve, unary } from './fixture.ts';

describe('ModelInfer', () => {
  it('answers with raw outputs in their order, the id and the version that ran', async () => {
    await using served = await serve();
    const { code, messages } = await served.unary('ModelInfer', addSubRequest({ id: 'é1' }));
    expect([code, messages[0]]).toEqual([
      'OK',
      {
        model_name: 'addsub',
        model_version: '1',
        id: 'é1',
        outputs: ['OUTPUT__0', 'OUTPUT__1'].map((name) => ({
          name,
          datatype: 'FP32',
          shape: ['1', '3'],
        })),
        raw_output_contents: [f32(1, 2, 3), f32(-1, 0, 1)],
      },
    ]);
  });

  it.each([
    ['BOOL', { bool_contents: [true, false] }, Buffer.from([1, 0])],
    ['INT8', { int_contents: [-128, 127] }, Buffer.from([0x80, 0x7f])],
    ['INT16', { int_contents: [-2, 3] }, Buffer.from([0xfe, 0xff, 3, 0])],
    ['INT32', { int_contents: [-1, 2147483647] }, Buffer.from([255, 255, 255, 255, 255, 255, 255, 127])],
    [
      'INT64',
      { int64_contents: ['-9223372036854775808', '1'] },
      Buffer.from([0, 0, 0, 0, 0, 0, 0, 128, 1, 0, 0, 0, 0, 0, 0, 0]),
    ],
    ['UINT8', { uint_contents: [0, 255] }, Buffer.from([0, 255])],
    ['UINT16', { uint_contents: [1, 65535] }, Buffer.from([1, 0, 255, 255])],
    ['UINT32', { uint_contents: [1, 4294967295] }, Buffer.from([1, 0, 0, 0, 255, 255, 255, 255])],
    [
      'UINT64',
      { uint64_contents: ['18446744073709551615', '0'] },
      Buffer.from([255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0]),
    ],
    ['FP32', { fp32_contents: [1, -2.5] }, f32(1, -2.5)],
    ['FP64', { fp64_contents: [0.1, -1e300] }, Buffer.from(Float64Array.of(0.1, -1e300).buffer)],
    ['BYTES', { bytes_contents: [Buffer.from('ab'), Buffer.alloc(0)] }, Buffer.from([2, 0, 0, 0, 97, 98, 0, 0, 0, 0])],
  ])('takes typed contents of %s', async (datatype, contents, bytes) => {
    await using served = await serve();
    const inputs = [{ name: 'x', datatype, shape: [2], contents }];
    const { code, details, messages } = await served.unary('ModelInfer', {
      model_name: `id_${datatype.toLowerCase()}`,
      inputs,
    });
    expect([code, details]).toEqual(['OK', '']);
    expect(messages[0].raw_output_contents).toEqual([bytes]);
  });

  it('takes thousands of strings as typed contents', async () => {
    await using served = await serve();
    const texts = Array.from({ length: 5000 }, (_, i) => `text ${i}`);
    const contents = { bytes_contents: texts.map((text) => Buffer.from(text)) };
    const inputs = [{ name: 'x', datatype: 'BYTES', shape: [texts.length], contents }];
    const { messages } = await served.unary('ModelInfer', { model_name: 'id_bytes', inputs });
    expect(messages[0].raw_output_contents).toEqual([Buffer.from(encodeBytes(texts))]);
  });

  describe('classification', () => {
    const asks = (parameters: object) => addSubRequest({ outputs: [{ name: 'OUTPUT__0', parameters }] });

    it('answers with classes in place of the output, alone and on a stream', async () => {
      await using served = await serve();
      const request = asks({ classification: { int64_param: 2 } });
      const { messages } = await served.unary('ModelInfer', request);
      const streamed = await served.stream([request]);
      for (const { outputs, raw_output_contents: raw } of [messages[0], streamed.messages[0].infer_response]) {
        expect(outputs).toMatchObject([{ name: 'OUTPUT__0', datatype: 'BYTES', shape: ['1', '2'] }]);
        expect(raw).toEqual([Buffer.from(encodeBytes(['3.000000:2', '2.000000:1']))]);
      }
    });

    it.each([
      ['none', { classification: { int64_param: 0 } }, 'must be 1 or more, found 0'],
      ['fewer than none', { classification: { int64_param: -2 } }, 'must be 0 or more, found -2'],
      ['a text', { classification: { string_param: '2' } }, 'must be given as int64_param, found string_param'],
      [
        'classes in shared memory',
        { classification: { int64_param: 1 }, shared_memory_region: { string_param: 'r' } },
        "cannot combine 'shared_memory_region' with 'classification'",
      ],
    ])('refuses %s', async (_, parameters, fragment) => {
      await using served = await serve();
      const { code, details } = await served.unary('ModelInfer', asks(parameters));
      expect([code, details]).toEqual(['INVALID_ARGUMENT', expect.stringContaining(fragment)]);
    });

    it('is refused in the stream for an output that has no classes', async () => {
      await using served = await serve();
      const bools = {
        model_name: 'id_bool',
        id: 'b',
        inputs: [{ name: 'x', datatype: 'BOOL', shape: [1] }],
        outputs: [{ name: 'OUTPUT__0', parameters: { classification: { int64_param: 1 } } }],
        raw_input_contents: [Buffer.of(1)],
      };
      const { code, messages } = await served.stream([bools]);
      expect([code, messages[0].error_message]).toEqual(['OK', expect.stringContaining('class result not available')]);
    });
  });

  it('hands large tensors on unchanged, both ways', async () => {
    await using served = await serve();
    const values = Buffer.from(Float32Array.from({ length: 1_000_000 }, (_, i) => i).buffer);
    const inputs = [{ name: 'x', datatype: 'FP32', shape: [1_000_000] }];
    const { messages } = await served.unary('ModelInfer', {
      model_name: 'id_fp32',
      inputs,
      raw_input_contents: [values],
    });
    expect(messages[0].raw_output_contents[0].equals(values)).toBe(true);
  });

  it('lays raw contents that come in pieces aligned, whatever stands before them', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const values = Buffer.alloc(400_000, 'x');
    for (const id of ['', 'a', 'ab', 'abc']) {
      const inputs = [{ name: 'x', datatype: 'FP32', shape: [100_000] }];
      const call = served.unary('ModelInfer', { model_name: 'id_fp32', id, inputs, raw_input_contents: [values] });
      const request = await holding.next();
      const data = request.inputs[0]?.data;
      expect([data?.byteLength, (data?.byteOffset ?? 1) % 16]).toEqual([values.length, 0]);
      expect(values.equals(data ?? Buffer.alloc(0))).toBe(true);
      request.fail(new InferenceServerError('INTERNAL', 'seen'));
      expect((await call).code).toBe('INTERNAL');
    }
  });

  it.each([
    ['an unknown model', { model_name: 'nosuch' }, 'NOT_FOUND', /unknown model/],
    ['a version that is not there', { model_version: '7' }, 'NOT_FOUND', /nosuch|version/],
    ['an unknown output', { outputs: [{ name: 'nosuch' }] }, 'INVALID_ARGUMENT', /'nosuch'/],
    [
      'an output named twice',
      { outputs: [{ name: 'OUTPUT__0' }, { name: 'OUTPUT__0' }] },
      'INVALID_ARGUMENT',
      /already requested/,
    ],
    [
      'raw contents that are too few',
      { raw_input_contents: [f32(1, 2, 3)] },
      'INVALID_ARGUMENT',
      /unable to find data for input tensor 'b'/,
    ],
    [
      'raw contents that are too short',
      { raw_input_contents: [f32(1), f32(1, 1, 1)] },
      'INVALID_ARGUMENT',
      /byte size/,
    ],
    ['a reserved parameter', { parameters: { triton_x: { int64_param: 1 } } }, 'INVALID_ARGUMENT', /reserved/],
    [
      'a parameter of the wrong type',
      { parameters: { sequence_start: { int64_param: 1 } } },
      'INVALID_ARGUMENT',
      /bool_param, found int64_param/,
    ],
    [
      'a custom parameter of an unsigned type',
      { parameters: { mine: { uint64_param: 1 } } },
      'INVALID_ARGUMENT',
      /uint64_param/,
    ],
  ])('refuses %s', async (_, extra, code, text) => {
    await using served = await serve();
    const outcome = await served.unary('ModelInfer', addSubRequest(extra));
    expect([outcome.code, outcome.details]).toEqual([code, expect.stringMatching(text)]);
    expect((await served.unary('ModelInfer', addSubRequest())).code).toBe('OK');
  });

  it.each([
    ['of another datatype', { int_contents: [1, 2, 3] }, []],
    ['beside raw ones', { fp32_contents: [1, 2, 3] }, [f32(1, 1, 1)]],
    ['of the wrong number', { fp32_contents: [1, 2] }, []],
    ['of two kinds', { fp32_contents: [1, 2, 3], int_contents: [1] }, []],
  ])('refuses typed contents %s', async (_, contents, raw) => {
    await using served = await serve();
    const tensor = (name: string) => ({ name, datatype: 'FP32', shape: [1, 3], contents });
    const outcome = await served.unary('ModelInfer', {
      model_name: 'addsub',
      inputs: [tensor('a'), tensor('b')],
      raw_input_contents: raw,
    });
    expect(outcome.code).toBe('INVALID_ARGUMENT');
  });

  it('fails with what the model said, whatever characters it has', async () => {
    await using served = await serve();
    const inputs = [{ name: 'x', datatype: 'FP32', shape: [1, 2] }];
    const outcome = await served.unary('ModelInfer', { model_name: 'picky', inputs, raw_input_contents: [f32(-1, 0)] });
    expect([outcome.code, outcome.details]).toEqual(['INTERNAL', expect.stringContaining('négative: 100%')]);
  });

  it('passes priority, timeout, sequence and custom parameters on', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const parameters = {
      priority: { uint64_param: '7' },
      timeout: { int64_param: '2000' },
      sequence_id: { string_param: 's' },
      sequence_start: { bool_param: true },
      sequence_end: { bool_param: false },
      mine: { double_param: 0.5 },
    };
    const pending = served.unary('ModelInfer', addSubRequest({ parameters }));
    const request = await holding.next();
    expect(request).toMatchObject({
      priority: 7,
      timeoutMicroseconds: 2000,
      correlationId: 's',
      sequenceStart: true,
      sequenceEnd: false,
      parameters: new Map([['mine', 0.5]]),
    });
    request.respond({
      modelName: 'addsub',
      modelVersion: '1',
      outputs: [],
      parameters: new Map<string, string | number | boolean | bigint>([
        ['t', ''],
        ['n', -3],
        ['d', 0.25],
        ['b', true],
        ['l', 2n ** 60n],
      ]),
    });
    const { messages } = await pending;
    expect(messages[0].parameters).toMatchObject({
      t: { string_param: '' },
      n: { int64_param: '-3' },
      d: { double_param: 0.25 },
      b: { bool_param: true },
      l: { int64_param: '1152921504606846976' },
    });
  });

  it.each([12, 20_000, 8_000_000])(
    'gives the memory of an answer of %i bytes back when it is written, not before',
    async (bytes) => {
      const holding = new HoldingEngine();
      await using served = await serve({ wrap: holding.wrap });
      const pending = served.unary('ModelInfer', addSubRequest());
      const request = await holding.next();
      const data = new Uint8Array(bytes).fill(7);
      const output = { name: 'o', datatype: 'UINT8', shape: [bytes], data } as const;
      let released = 0;
      const release = () => {
        released++;
        data.fill(0);
      };
      request.respond({ modelName: 'addsub', modelVersion: '1', outputs: [output], release });
      const { messages } = await pending;
      expect(messages[0].raw_output_contents[0].equals(Buffer.alloc(bytes, 7))).toBe(true);
      expect(released).toBe(1);
    },
  );

  it.each([
    ['an answer without outputs twice', 2],
    ['no answer', 0],
  ])('fails when the model gives %s', async (_, count) => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const pending = served.unary('ModelInfer', addSubRequest());
    const request = await holding.next();
    for (let i = 0; i < count; i++) request.respond({ modelName: 'addsub', modelVersion: '1', outputs: [] }, false);
    request.respond(undefined);
    expect((await pending).code).toBe('INTERNAL');
  });

  it('is cancelled by its deadline and by its client, and told to the engine', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const late = served.unary('ModelInfer', addSubRequest(), { deadline: Date.now() + 50 });
    expect((await late).code).toBe('DEADLINE_EXCEEDED');
    await holding.until(() => holding.cancelled.length === 1);
    const controller = new AbortController();
    // biome-ignore lint/suspicious/noExplicitAny: the methods of a client are made from the .proto
    const call = (served.client as any).ModelInfer(addSubRequest(), () => {});
    controller.signal.addEventListener('abort', () => call.cancel());
    await holding.until(() => holding.held.length === 2);
    controller.abort();
    await holding.until(() => holding.cancelled.length === 2);
  });

  it.each(['gzip', 'deflate'])('takes and gives %s', async (encoding) => {
    const algorithm = encoding === 'gzip' ? grpc.compressionAlgorithms.gzip : grpc.compressionAlgorithms.deflate;
    await using served = await serve({
      responseCompression: 'high',
      channel: { 'grpc.default_compression_algorithm': algorithm },
    });
    const { code, messages } = await served.unary('ModelInfer', addSubRequest());
    expect([code, messages[0]?.raw_output_contents]).toEqual(['OK', [f32(1, 2, 3), f32(-1, 0, 1)]]);
  });
});

describe('the other calls', () => {
  it('tell live, ready, metadata, configuration, statistics and index', async () => {
    await using served = await serve({ serverName: 'me', serverVersion: '1.2', extensions: ['x'] });
    await served.unary('ModelInfer', addSubRequest());
    const first = async (rpc: string, request: object = {}) => (await served.unary(rpc, request)).messages[0];
    expect(await first('ServerLive')).toEqual({ live: true });
    expect(await first('ServerReady')).toEqual({ ready: true });
    expect(await first('ServerMetadata')).toEqual({ name: 'me', version: '1.2', extensions: ['x'] });
    expect(await first('ModelReady', { name: 'addsub', version: '1' })).toEqual({ ready: true });
    expect(await first('ModelReady', { name: 'nosuch' })).toEqual({});
    expect((await first('ModelMetadata', { name: 'addsub' })).inputs).toEqual(
      ['a', 'b'].map((name) => ({ name, datatype: 'FP32', shape: ['-1', '3'] })),
    );
    const { config } = await first('ModelConfig', { name: 'addsub' });
    expect([config.name, config.max_batch_size, config.input[0].dims]).toEqual(['addsub', 4, ['3']]);
    const { model_stats: rows } = await first('ModelStatistics', { name: 'addsub' });
    expect([rows[0].inference_count, rows[0].inference_stats.success.count, rows[0].batch_stats.length]).toEqual([
      '1',
      '1',
      1,
    ]);
    const { models } = await first('RepositoryIndex', { ready: true });
    expect(models.find(({ name }: { name: string }) => name === 'addsub')).toMatchObject({
      version: '1',
      state: 'READY',
    });
  });

  it.each([
    ['ModelMetadata', { name: 'nosuch' }, 'NOT_FOUND'],
    ['ModelReady', { name: 'addsub', version: 'x' }, 'INVALID_ARGUMENT'],
    ['ModelStatistics', { name: 'nosuch' }, 'INVALID_ARGUMENT'],
    ['RepositoryModelLoad', { model_name: 'addsub' }, 'UNAVAILABLE'],
    ['RepositoryIndex', { repository_name: 'r' }, 'UNIMPLEMENTED'],
    ['SystemSharedMemoryStatus', { name: 'r' }, 'NOT_FOUND'],
    ['SystemSharedMemoryRegister', { name: 'r', key: '/k', byte_size: 1 }, 'UNIMPLEMENTED'],
    ['TraceSetting', {}, 'UNAVAILABLE'],
  ])('%s %j: %s', async (rpc, request, code) => {
    await using served = await serve();
    expect((await served.unary(rpc, request)).code).toBe(code);
  });

  it('health is that of the server', async () => {
    await using served = await serve();
    const client = new HealthService(`127.0.0.1:${served.port}`, grpc.credentials.createInsecure());
    const { messages } = await unary(client, 'Check', { request: { service: 'any' } });
    client.close();
    expect(messages).toEqual([{ status: 'SERVING' }]);
  });
});

it('a message of a call that runs no model has a limit of its own', async () => {
  await using served = await serve();
  const name = 'x'.repeat(1024 * 1024);
  expect(await served.unary('ModelReady', { name })).toMatchObject({
    code: 'RESOURCE_EXHAUSTED',
    details: expect.stringContaining('more than the limit of 1048576'),
  });
  expect(await served.unary('ModelReady', { name: 'addsub' })).toMatchObject({ code: 'OK' });
});
