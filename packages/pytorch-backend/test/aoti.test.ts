import type { Tensor } from '@nereid/core';
import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { CollectingLogger } from './collecting-logger.ts';
import { inputsAndOutputs, ServedModel, type ServeOptions } from './served-model.ts';

const ADD = inputsAndOutputs(['INPUT__0 FP32 -1', 'INPUT__1 FP32 -1'], ['OUTPUT__0 FP32 -1', 'OUTPUT__1 FP32 -1']);

const MEAN = inputsAndOutputs(['INPUT__0 FP32 4'], ['OUTPUT__0 FP32 4']);

function load(file: string, config: ServeOptions['config'], options: Partial<ServeOptions> = {}): Promise<ServedModel> {
  return ServedModel.load({ file, config: { platform: 'torch_aoti', ...config }, ...options });
}

function add(maxBatchSize = 8, options: Partial<ServeOptions> = {}): Promise<ServedModel> {
  return load('backend_aoti/add.pt2', { maxBatchSize, ...ADD }, options);
}

function pair(rows: number, width: number, first = 0): Tensor[] {
  const values = Array.from({ length: rows * width }, (_, i) => first + i);
  const shape = [rows, width];
  return [
    tensor({ name: 'INPUT__0', shape, values }),
    tensor({ name: 'INPUT__1', shape, values: values.map((value) => value / 2) }),
  ];
}

describe('batching', () => {
  it.each([1, 4, 8])('runs %i rows of several widths', async (rows) => {
    await using served = await add();
    for (const width of [1, 16, 64]) {
      const [a, b] = pair(rows, width);
      const results = await served.infer(...pair(rows, width));
      const sum = results.get('OUTPUT__0');
      expect(sum?.shape).toEqual([rows, width]);
      expect(sum && valuesOf(sum)).toEqual(a && b && valuesOf(a).map((value) => Number(value) * 1.5));
    }
  });

  it('refuses more rows than max_batch_size', async () => {
    await using served = await add();
    expect((await served.failure(...pair(16, 4))).message).toMatch(/INPUT__0.*16|batch size 16/);
  });

  it.each([
    [
      'a package with a fixed batch',
      'static',
      4,
      ADD,
      "the package does not have a dynamic batch dimension: input 'INPUT__0' was compiled for [2,4]",
    ],
    [
      'a larger batch than the package takes',
      'add',
      9,
      ADD,
      "max_batch_size is 9, but input 'INPUT__0' was compiled for [1..8,1..64]. Set it to at most 8.",
    ],
    [
      'a package that returns one row for all',
      'mean',
      4,
      MEAN,
      "output 'OUTPUT__0' has shape [1,4], but the batch has 2 rows: the package does not have a dynamic batch dimension there",
    ],
  ])('refuses %s at load', async (_, file, maxBatchSize, config, message) => {
    await expect(load(`backend_aoti/${file}.pt2`, { maxBatchSize, ...config })).rejects.toThrow(message);
  });

  it('is proven by every run when the check at load is off', async () => {
    const parameters = new Map([['AOTI_LOAD_CHECK', { stringValue: 'off' }]]);
    await using served = await load('backend_aoti/mean.pt2', { maxBatchSize: 4, ...MEAN, parameters });
    const [input] = pair(3, 4);
    expect(input && (await served.failure(input)).message).toContain('has shape [1,4], but the batch has 3 rows');
    const [one] = pair(1, 4);
    expect(one && (await served.infer(one)).get('OUTPUT__0')?.shape).toEqual([1, 4]);
  });

  it('serves a package with a fixed batch without batching', async () => {
    await using served = await load(
      'backend_aoti/static.pt2',
      inputsAndOutputs(['INPUT__0 FP32 2 4', 'INPUT__1 FP32 2 4'], ['OUTPUT__0 FP32 2 4']),
    );
    expect((await served.infer(...pair(2, 4))).get('OUTPUT__0')?.shape).toEqual([2, 4]);
  });
});

describe('names', () => {
  const SPECS = (names: readonly string[]) => names.map((name) => `${name} INT8 16`);

  function int8(name: string, value: number): Tensor {
    return tensor({ name, datatype: 'INT8', shape: [1, 16], values: Array.from({ length: 16 }, () => value) });
  }

  it.each([
    [
      'ordinal',
      ['INPUT__0', 'INPUT__1', 'INPUT__2', 'INPUT__3'],
      ['OUTPUT__0', 'OUTPUT__1', 'OUTPUT__2', 'OUTPUT__3', 'OUTPUT__4', 'OUTPUT__5'],
      [30, -10, 10, 20, 3, 4],
    ],
    [
      'forward',
      ['ARGS[0]', 'ARGS[1]', 'ARGS[2][option1]', 'ARGS[2][option2]'],
      [
        'RESULT[AAA]',
        'RESULT[BBB][0]',
        'RESULT[BBB][1]',
        'RESULT[CCC][option1]',
        'RESULT[CCC][option2]',
        'RESULT[ZZZ]',
      ],
      [30, 10, 20, 3, 4, -10],
    ],
    [
      'mixed, inputs in another order',
      ['ARGS[2][option2]', 'INPUT__1', 'ARGS[2][option1]', 'INPUT__0'],
      ['OUTPUT__5', 'RESULT[AAA]'],
      [4, 30],
    ],
  ])('may be %s, in a nested signature that batches', async (_, inputs, outputs, expected) => {
    await using served = await load('backend_aoti/complex.pt2', {
      maxBatchSize: 8,
      ...inputsAndOutputs(SPECS(inputs), SPECS(outputs)),
    });
    const position = (name: string) =>
      ({ INPUT__0: 0, 'ARGS[0]': 0, INPUT__1: 1, 'ARGS[1]': 1, INPUT__2: 2, 'ARGS[2][option1]': 2 })[name] ?? 3;
    const sent = inputs.map((name) => int8(name, [10, 20, 3, 4][position(name)] ?? 0));
    const results = await served.infer(...sent);
    expect([...results].map(([name, output]) => [name, valuesOf(output)[15]])).toEqual(
      outputs.map((name, i) => [name, expected[i]]),
    );
  });

  it.each([
    ['an unknown input', ['INPUT__0', 'INPUT__9'], ['OUTPUT__0'], 'INPUT__9'],
    ['a missing input', ['INPUT__0'], ['OUTPUT__0'], 'The model takes 2 input tensors, the configuration names 1'],
    [
      'one tensor under two names',
      ['INPUT__0', 'ARGS[0]'],
      ['OUTPUT__0'],
      "input 'INPUT__0' and input 'ARGS[0]' are the same tensor",
    ],
    ['an unknown output', ['INPUT__0', 'INPUT__1'], ['OUTPUT__2'], 'OUTPUT__2'],
    ['no output', ['INPUT__0', 'INPUT__1'], [], 'names no output'],
  ])('refuses %s', async (_, inputs, outputs, message) => {
    const specs = (names: readonly string[]) => names.map((name) => `${name} FP32 -1`);
    const failed = load('backend_aoti/add.pt2', {
      maxBatchSize: 8,
      ...inputsAndOutputs(specs(inputs), specs(outputs)),
    });
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.toThrow("model 'm':");
  });

  it('serves keyword-only models, the model chosen by AOTI_MODEL_NAME', async () => {
    const parameters = new Map([['AOTI_MODEL_NAME', { stringValue: 'keyword_only' }]]);
    const config = inputsAndOutputs(['KWARGS[a] FP32 2 3', 'KWARGS[b] FP32 2 3'], ['RESULT FP32 2 3']);
    await using served = await load('archive_several/model.pt2', { ...config, parameters });
    const six = (name: string, value: number) =>
      tensor({ name, shape: [2, 3], values: Array.from({ length: 6 }, () => value) });
    const result = (await served.infer(six('KWARGS[a]', 5), six('KWARGS[b]', 2))).get('RESULT');
    expect(result && valuesOf(result)).toEqual([3, 3, 3, 3, 3, 3]);
  });

  it('numbers tensors only when values were burnt in, and says which', async () => {
    const logger = new CollectingLogger();
    const parameters = new Map([['AOTI_MODEL_NAME', { stringValue: 'burnt_in' }]]);
    const config = inputsAndOutputs(
      ['INPUT__0 FP32 2 3', 'ARGS[2] FP32 2 3'],
      ['RESULT[scaled] FP32 2 3', 'RESULT[next] FP32 2 3'],
    );
    await using served = await load('archive_several/model.pt2', { ...config, parameters }, { logger });
    const six = (name: string) => tensor({ name, shape: [2, 3], values: [1, 2, 3, 4, 5, 6] });
    const results = await served.infer(six('INPUT__0'), six('ARGS[2]'));
    expect([...results.values()].map((output) => valuesOf(output).slice(0, 2))).toEqual([
      [2.5, 5],
      [2, 3],
    ]);
    expect(logger.lines.filter((line) => line.startsWith('warn')).join()).toContain('ARGS[1] was not a tensor');
  });

  it.each([
    [undefined, 'choose one with parameter AOTI_MODEL_NAME'],
    ['other', "holds no model 'other'"],
  ])('refuses a package of several models with AOTI_MODEL_NAME %s', async (name, message) => {
    const parameters = new Map(name === undefined ? [] : [['AOTI_MODEL_NAME', { stringValue: name }]]);
    await expect(load('archive_several/model.pt2', { ...inputsAndOutputs([], []), parameters })).rejects.toThrow(
      message,
    );
  });
});

describe('declared shapes', () => {
  it.each([
    [
      'another rank',
      ['INPUT__0 FP32 4 4', 'INPUT__1 FP32 -1'],
      "input 'INPUT__0' has shape [-1,4,4] in the configuration (the first dimension is the batch), but the package was compiled for [1..8,1..64]",
    ],
    ['a size outside the range', ['INPUT__0 FP32 65', 'INPUT__1 FP32 65'], "input 'INPUT__0' has shape [-1,65]"],
    [
      'another datatype',
      ['INPUT__0 FP64 -1', 'INPUT__1 FP32 -1'],
      "input 'INPUT__0' is TYPE_FP64 in the configuration, but the package was compiled for TYPE_FP32",
    ],
  ])('are held against the configuration at load: %s', async (_, inputs, message) => {
    const config = { maxBatchSize: 8, ...inputsAndOutputs(inputs, ['OUTPUT__0 FP32 -1']) };
    await expect(load('backend_aoti/add.pt2', config)).rejects.toThrow(message);
  });

  it.each([
    ['a size outside the range', [pair(1, 65)[0], pair(1, 65)[1]], '[1,65]'],
    ['sizes that must be equal', [pair(1, 4)[0], pair(1, 5)[1]], "must equal that of 'INPUT__0', which is 4"],
  ])('are held against requests: %s', async (_, inputs, message) => {
    await using served = await add();
    const request = served.request(inputs.filter((input) => input !== undefined));
    expect(() => served.model.validate?.(request)).toThrow(message);
    await served.instance().execute([request]);
    const { error } = await served.responder.finalOf(request);
    expect(error).toMatchObject({ code: 'INVALID_ARG', reason: 'request' });
    expect(served.model.validate).toBeDefined();
  });
});

describe('a package', () => {
  it('may be loaded twice at once', async () => {
    const both = await Promise.all([add(), add()]);
    for (const served of both) {
      const sum = (await served.infer(...pair(1, 2))).get('OUTPUT__0');
      expect(sum && valuesOf(sum)).toEqual([0, 1.5]);
      await served.close();
    }
  });

  it('runs on all instances at once, each answering its own requests', async () => {
    await using served = await add(8, { instances: 4 });
    const requests = Array.from({ length: 64 }, (_, i) => served.request(pair(1, 8, i)));
    await Promise.all(requests.map((request, i) => served.instance(i % 4).execute([request])));
    for (const [i, request] of requests.entries()) {
      const [sum] = (await served.responder.responseOf(request)).outputs;
      expect(sum && valuesOf(sum)).toEqual(Array.from({ length: 8 }, (_, column) => (i + column) * 1.5));
    }
  });
});
