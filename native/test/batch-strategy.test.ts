import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import {
  type BatchStrategyLibrary,
  type BatchStrategyOptions,
  openBatchStrategy,
  type StrategyRequest,
} from '@nereid/native';
import { testLibrary } from '@nereid/testing';
import { expect, test } from 'vitest';

const SILENT = () => {};

async function open(
  name: string,
  { flags = [], ...options }: Partial<BatchStrategyOptions> & { readonly flags?: readonly string[] } = {},
): Promise<BatchStrategyLibrary> {
  const model = { modelName: 'm', modelVersion: '3', modelDirectory: '/models/m', config: '{"name":"m"}' };
  const names = { inputNames: ['x', 'words'], outputNames: ['y', 'z'] };
  return openBatchStrategy({ library: await testLibrary(name, flags), ...model, ...names, onLog: SILENT, ...options });
}

/** A request with one input of so many bytes. */
function request(bytes: number, more: Partial<StrategyRequest> = {}): StrategyRequest {
  return {
    id: '',
    correlationId: 0,
    sequenceStart: false,
    sequenceEnd: false,
    isCancelled: false,
    inputs: [{ name: 'x', datatype: 'UINT8', shape: [1, bytes], data: new Uint8Array(bytes).fill(7) }],
    requestedOutputs: [],
    parameters: new Map(),
    ...more,
  };
}

function volume(bytes: number): Promise<BatchStrategyLibrary> {
  const config = JSON.stringify({ parameters: { MAX_BATCH_VOLUME_BYTES: { string_value: String(bytes) } } });
  return open('volume_strategy', { config });
}

test('a library decides request by request, in several batches at a time', async () => {
  const strategy = await volume(96);
  const [a, b] = [strategy.startBatch(), strategy.startBatch()];
  const joins = [
    ...[40, 40, 40, 16].map((bytes) => strategy.include(a, request(bytes))),
    strategy.include(b, request(96)),
  ];
  expect(joins).toEqual([true, true, false, true, true]);
  strategy.endBatch(a);
  expect(strategy.startBatch()).toBe(a);
  strategy.endBatch(a);
  strategy.endBatch(b);
  strategy.close();
});

test('a library may ask everything that there is to know of the model', async () => {
  const lines: string[] = [];
  const strategy = await open('probe_strategy', { onLog: (level, message) => lines.push(`${level} ${message}`) });
  expect(lines).toEqual([
    'info server 1.34, backend 1.19',
    'info model m 3 0 /models/m',
    'info config 2: (5 Unsupported: model configurations have version 1; version 2 was asked for)',
    'warn config 1: {"name":"m"}',
    'info BOOL 1 BOOL 1',
    'info FP16 10 FP16 2',
    'info BYTES 13 BYTES 0',
    'info BF16 14 BF16 2',
    'info FP8 0 <invalid> 0',
    'debug verbose',
  ]);
  lines.length = 0;
  const batch = strategy.startBatch();
  strategy.endBatch(batch);
  strategy.close();
  strategy.close();
  expect(lines).toEqual(['info batch', 'info finalised']);
});

test('a library may ask everything that there is to know of a request', async () => {
  const lines: string[] = [];
  const strategy = await open('probe_strategy', { onLog: (level, message) => lines.push(`${level} ${message}`) });
  const batch = strategy.startBatch();
  const ask = (more: Partial<StrategyRequest>): readonly string[] => {
    lines.length = 0;
    expect(strategy.include(batch, request(2, more))).toBe(true);
    return lines.map((line) => line.replace(/^info /, ''));
  };

  const words = { name: 'words', datatype: 'BYTES', shape: [2, 3, 5], data: Uint8Array.of(4, 5, 6) };
  expect(
    ask({
      id: 'r1',
      correlationId: 2n ** 63n,
      sequenceStart: true,
      isCancelled: true,
      inputs: [words, ...request(2).inputs],
      requestedOutputs: ['z'],
      parameters: new Map<string, string | number | bigint | boolean>([
        ['s', 'text'],
        ['i', -3],
        ['l', 2n ** 62n],
        ['b', true],
        ['d', 0.5],
      ]),
    }),
  ).toEqual([
    'elsewhere: (4 Unavailable: this can only be asked on the thread that called the strategy)',
    'id r1',
    'correlation number 9223372036854775808',
    'correlation string (3 Invalid argument: the correlation ID of the request is a number)',
    'flags 1 cancelled',
    'input words BYTES [2,3,5] 3 bytes in 1, CPU 0, last byte 6',
    "second buffer: (3 Invalid argument: input 'words' has one buffer, not 2)",
    'input x UINT8 [1,2] 2 bytes in 1, CPU 0, last byte 7',
    "second buffer: (3 Invalid argument: input 'x' has one buffer, not 2)",
    'input out of range: (3 Invalid argument: there is no input 2, the request has 2)',
    "unknown input: (3 Invalid argument: the request has no input 'none')",
    'output z',
    'output out of range: (3 Invalid argument: there is no requested output 1, the request has 1)',
    'parameter s string text',
    'parameter i int -3',
    'parameter l int 4611686018427387904',
    'parameter b bool 1',
    'parameter d double 0.5',
    'parameter out of range: (3 Invalid argument: there is no parameter 5, the request has 5)',
  ]);

  const next = ask({ correlationId: 'chat', sequenceEnd: true });
  expect(next).toContain('correlation number (3 Invalid argument: the correlation ID of the request is a string)');
  expect(next).toEqual(expect.arrayContaining(['id ', 'correlation string chat', 'flags 2', 'output y', 'output z']));
  strategy.endBatch(batch);
  strategy.close();
});

test('every datatype of the protocol has the number that libraries know', async () => {
  const lines: string[] = [];
  const strategy = await open('probe_strategy', { onLog: (_, message) => lines.push(message) });
  const batch = strategy.startBatch();
  const datatypes = 'BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FP16 FP32 FP64 BYTES BF16'.split(' ');
  const data = new Uint8Array(8);
  const inputs = datatypes.map((datatype) => ({ name: 'x', datatype, shape: [1, 1], data }));
  strategy.include(batch, request(0, { inputs }));
  expect(lines.filter((line) => line.startsWith('input x')).map((line) => line.split(' ')[2])).toEqual(datatypes);
  strategy.endBatch(batch);
  strategy.close();
});

test('a library that is linked with the server library of the original finds it here', async () => {
  const flags = [
    '-Wl,--no-as-needed',
    `-L${fileURLToPath(new URL('../build/Release', import.meta.url))}`,
    '-ltritonserver',
  ];
  const strategy = await open('single_strategy', { flags });
  const batch = strategy.startBatch();
  expect([0, 1].map((bytes) => strategy.include(batch, request(bytes)))).toEqual([true, false]);
  strategy.endBatch(batch);
  strategy.close();
});

test.each([
  [
    'that lacks a function is refused, and the function named',
    '-DIS_PARTIAL',
    'INVALID_ARG',
    'it does not define all required custom batching functions; these are missing: TRITONBACKEND_ModelBatchIncludeRequest',
  ],
  [
    'whose initialisation fails is refused with its error',
    '-DFAILS_TO_INITIALIZE',
    'UNSUPPORTED',
    'this strategy knows no such model',
  ],
  ['that throws is refused with what it threw', '-DTHROWS', 'INTERNAL', 'thrown by the library'],
])('a library %s', async (_, flag, code, message) => {
  await expect(open('single_strategy', { flags: [flag] })).rejects.toMatchObject({ code, message });
});

test('a file that is missing or no library is refused', async () => {
  await expect(open('single_strategy', { library: '/nowhere/batchstrategy.so' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: 'no such file: /nowhere/batchstrategy.so',
  });
  await expect(open('single_strategy', { library: import.meta.filename })).rejects.toMatchObject({
    code: 'INVALID_ARG',
    message: expect.stringContaining('the library cannot be opened'),
  });
});

test('what fails for one batch is thrown, with the code of the library, and says so', async () => {
  const starting = await open('single_strategy', { flags: ['-DFAILS_TO_START'] });
  expect(() => starting.startBatch()).toThrow(
    expect.objectContaining({ code: 'UNAVAILABLE', message: 'no batch today' }),
  );
  starting.close();

  const including = await open('single_strategy', { flags: ['-DFAILS_TO_INCLUDE'] });
  const batch = including.startBatch();
  expect(() => including.include(batch, request(1))).toThrow(
    expect.objectContaining({ code: 'INTERNAL', message: 'cannot tell' }),
  );
  including.endBatch(batch);
  including.close();

  const finishing = await open('single_strategy', { flags: ['-DFAILS_TO_FINISH'] });
  expect(() => finishing.endBatch(finishing.startBatch())).toThrow('the batch does not end');
  expect(() => finishing.close()).toThrow('the strategy does not end');
  expect(() => finishing.close()).not.toThrow();
});

test('calls that make no sense are refused', async () => {
  const strategy = await open('single_strategy');
  expect(() => strategy.include(99, request(1))).toThrow(new TypeError('batch must be what startBatch returned'));
  const batch = strategy.startBatch();
  const stranger = { name: 'stranger', datatype: 'FP32', shape: [1], data: new Uint8Array(4) };
  expect(() => strategy.include(batch, request(1, { inputs: [stranger] }))).toThrow(
    new TypeError("'stranger' is not among the inputs that the strategy was opened with"),
  );
  strategy.endBatch(batch);
  strategy.close();
  expect(() => strategy.startBatch()).toThrow(
    expect.objectContaining({ code: 'UNAVAILABLE', message: 'the batching strategy is closed' }),
  );
});

test('a log that throws disturbs nobody', async () => {
  const onLog = () => {
    throw new Error('the log is full');
  };
  const strategy = await open('probe_strategy', { onLog });
  const batch = strategy.startBatch();
  expect(strategy.include(batch, request(1))).toBe(true);
  strategy.endBatch(batch);
  strategy.close();
});

test('a request of many inputs and dimensions is shown whole', async () => {
  const strategy = await volume(1000);
  const batch = strategy.startBatch();
  const shape = new Array<number>(30).fill(1);
  const inputs = Array.from({ length: 10 }, () => ({ name: 'x', datatype: 'UINT8', shape, data: new Uint8Array(100) }));
  expect(strategy.include(batch, request(0, { inputs }))).toBe(true);
  expect(strategy.include(batch, request(1))).toBe(false);
  strategy.endBatch(batch);
  strategy.close();
});

/** Opens a library, begins a batch, and goes without a word. */
const PROGRAM = `
  import { workerData } from 'node:worker_threads';
  const { openBatchStrategy } = await import(workerData.addon);
  openBatchStrategy({ ...workerData.options, onLog() {} }).startBatch();
`;

test('a worker may end with a strategy open, and others go on', async () => {
  const strategy = await volume(10);
  const model = { modelName: 'm', modelVersion: '1', modelDirectory: '/models/m', config: '{}' };
  const options = { library: await testLibrary('single_strategy'), ...model, inputNames: [], outputNames: [] };
  const workerData = { addon: new URL('../loader.js', import.meta.url).href, options };
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`), { workerData });
  expect(await once(worker, 'exit')).toEqual([0]);
  const batch = strategy.startBatch();
  expect(strategy.include(batch, request(10))).toBe(true);
  strategy.endBatch(batch);
  strategy.close();
});
