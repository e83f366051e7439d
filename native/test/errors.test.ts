import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAoti, loadTorchScript } from '@nereid/native';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  bytes,
  CPU,
  compiled,
  DEFAULTS,
  numbers,
  openAoti,
  openTorchScript,
  Session,
  scripted,
  TYPE_FP32,
  TYPE_STRING,
  vectors,
} from './support.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'nereid-native-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const script = (path: string) => loadTorchScript({ path, inferenceMode: true, device: CPU });
const aoti = (path: string) => loadAoti({ path, modelName: 'model', numRunners: 1, device: CPU });

const ENGINES = [
  { engine: 'TorchScript', load: script, whole: () => scripted('double') },
  { engine: 'AOTInductor', load: aoti, whole: () => compiled('mlp') },
];

test.each(ENGINES)('$engine: a file that is not there is NOT_FOUND and named', async ({ load }) => {
  await expect(load('/nonexistent/model')).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: 'no such file: /nonexistent/model',
  });
});

test.each(ENGINES)('$engine: a directory is INVALID_ARG', async ({ load }) => {
  await expect(load(directory)).rejects.toMatchObject({ code: 'INVALID_ARG' });
});

test.each(ENGINES)(
  '$engine: a truncated or foreign file is INTERNAL with the text of torch',
  async ({ engine, load, whole }) => {
    const whole_ = readFileSync(whole());
    for (const [name, content] of [
      ['half', whole_.subarray(0, whole_.length / 2)],
      ['foreign', Buffer.from('not a model')],
      ['empty', Buffer.alloc(0)],
    ] as const) {
      const path = join(directory, `${engine}-${name}`);
      writeFileSync(path, content);
      const error: unknown = await load(path).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Error);
      expect(error).toMatchObject({ code: 'INTERNAL', message: expect.stringMatching(/./) });
    }
  },
);

test('a module without forward is INVALID_ARG', async () => {
  await expect(script(scripted('no_forward'))).rejects.toMatchObject({
    code: 'INVALID_ARG',
    message: expect.stringContaining("no method 'forward'"),
  });
});

test('a model that the package does not hold is an error', async () => {
  await expect(
    loadAoti({ path: compiled('mlp'), modelName: 'other', numRunners: 1, device: CPU }),
  ).rejects.toMatchObject({ code: 'INTERNAL' });
});

test('a GPU that is not there is UNAVAILABLE', async () => {
  await expect(loadTorchScript({ path: scripted('double'), inferenceMode: true, device: 99 })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
});

test('an exception of forward fails its batch and nothing else', async () => {
  await using session = await Session.torchScript('positive');
  const runs = [bytes(1), bytes(-1), bytes(2)].map((input) => session.run(vectors(input)));
  const [first, second, third] = await Promise.allSettled(runs);
  expect(first).toMatchObject({ status: 'fulfilled' });
  expect(second).toMatchObject({
    status: 'rejected',
    reason: { code: 'INTERNAL', message: expect.stringContaining('negative input') },
  });
  expect(third?.status === 'fulfilled' && numbers(third.value.outputs[0])).toEqual([2]);
});

test('executeSync throws what execute reports', async () => {
  await using session = await Session.torchScript('positive');
  const thrown = (() => {
    try {
      return session.instance.executeSync(vectors(bytes(-1)));
    } catch (error) {
      return error;
    }
  })();
  expect(thrown).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('negative input') });
  expect(numbers(session.instance.executeSync(vectors(bytes(1))).outputs[0])).toEqual([1]);
});

test('an instance whose slots the compiled model cannot take is refused', async () => {
  const model = await openAoti('mlp');
  const input = { datatype: TYPE_FP32, key: '' };
  const create = (options: object) => () => model.createInstance({ ...DEFAULTS, ...options, onComplete: () => {} });
  expect(create({ inputs: [input, input] })).toThrow('the compiled model takes 1 tensors, the instance gives it 2');
  expect(create({ inputs: [{ datatype: TYPE_FP32, key: 'x' }] })).toThrow('by position');
  expect(create({ inputs: [{ datatype: TYPE_STRING, key: '' }] })).toThrow('tensors only');
  expect(create({ outputs: [{ index: -1, key: 'y' }] })).toThrow('by position');
  await model.close();
});

test('keys need a forward that takes a dictionary', async () => {
  const model = await openTorchScript('double');
  const inputs = [{ datatype: TYPE_FP32, key: 'x' }];
  expect(() => model.createInstance({ ...DEFAULTS, inputs, onComplete: () => {} })).toThrow(
    'does not take a single dictionary',
  );
  await model.close();
});

test('arguments of the wrong type are TypeErrors that name them', async () => {
  await using session = await Session.torchScript('double');
  const run = (batch: object) => () => Reflect.apply(session.instance.execute, session.instance, [batch]);
  expect(run({ buffers: [new Float32Array(1)], rows: [1], shapes: [1, 1] })).toThrow(
    /buffers must be an array of Uint8Array/,
  );
  expect(run({ buffers: 1, rows: [1], shapes: [1, 1] })).toThrow(TypeError);
  expect(run({ buffers: [], rows: ['1'], shapes: [1, 1] })).toThrow(/rows must be an array of numbers/);
  await expect(() => Reflect.apply(loadTorchScript, undefined, [{ path: 1 }])).rejects.toThrow(/path must be a string/);
  await expect(() =>
    Reflect.apply(loadAoti, undefined, [{ path: '', modelName: '', numRunners: 0, device: -1 }]),
  ).rejects.toThrow(/numRunners must be an integer from 1/);
});
