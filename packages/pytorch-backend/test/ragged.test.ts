import type { Shape } from '@nereid/core';
import type { BatchInputKind, Init, ModelConfig } from '@nereid/model-config';
import { tensor, valuesOf } from '@nereid/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inputsAndOutputs, ServedModel } from './served-model.ts';

/** A tensor whose every element is the number of its elements. */
function counted(name: string, shape: Shape) {
  const count = shape.reduce((product, size) => product * size, 1);
  return tensor({ name, shape, values: new Array<number>(count).fill(count) });
}

const ragged = (name: string, dims: readonly number[]) => ({
  name,
  dataType: 'TYPE_FP32' as const,
  dims: [...dims],
  allowRaggedBatch: true,
});

const of = (name: string, kind: BatchInputKind, dataType: 'TYPE_INT32' | 'TYPE_FP32' = 'TYPE_FP32') => ({
  kind,
  targetName: [name],
  dataType,
  sourceInput: ['RAGGED_INPUT'],
});

const outputs = (...texts: readonly string[]) => inputsAndOutputs([], texts).output ?? [];

function load(file: string, config: Init<ModelConfig>): Promise<ServedModel> {
  const platform = file.endsWith('.pt2') ? 'torch_aoti' : 'pytorch_libtorch';
  return ServedModel.load({ file, config: { platform, maxBatchSize: 4, ...config } });
}

/** What each request of a batch gets of an output: shape and values. */
async function results(served: ServedModel, output: string, requests: readonly ReturnType<typeof counted>[]) {
  const answers = await served.run(...requests.map((input) => served.request([input])));
  return answers.map((outputs) => {
    const found = outputs.get(output);
    return { shape: found?.shape, values: found && valuesOf(found).map(Number) };
  });
}

function batchInputModel(kind: BatchInputKind, dataType?: 'TYPE_INT32' | 'TYPE_FP32', dims: readonly number[] = [-1]) {
  const type = dataType === 'TYPE_INT32' ? 'INT32' : 'FP32';
  return load('ragged_torchscript/batch_input.pt', {
    input: [ragged('RAGGED_INPUT', dims)],
    batchInput: [of('BATCH_INPUT', kind, dataType), of('BATCH_AND_SIZE_INPUT', 'BATCH_ELEMENT_COUNT')],
    output: outputs(`BATCH ${type} -1`, 'COUNTS FP32 -1', 'RAGGED FP32 -1'),
  });
}

const WORKED = [
  [1, 2],
  [1, 4],
  [1, 1],
  [1, 3],
] as const;

describe('four requests of 2, 4, 1 and 3 elements', () => {
  it('reach the model in one piece, one after the other', async () => {
    await using served = await batchInputModel('BATCH_ELEMENT_COUNT');
    const found = await results(
      served,
      'RAGGED',
      WORKED.map((shape) => counted('RAGGED_INPUT', shape)),
    );
    expect(found).toEqual(WORKED.map(() => ({ shape: [1, 10], values: [2, 2, 4, 4, 4, 4, 1, 3, 3, 3] })));
  });

  it.each([
    ['BATCH_ELEMENT_COUNT', [2, 4, 1, 3]],
    ['BATCH_ACCUMULATED_ELEMENT_COUNT', [2, 6, 7, 10]],
    ['BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO', [0, 2, 6, 7, 10]],
  ] as const)('are told by %s, in both datatypes', async (kind, expected) => {
    for (const dataType of ['TYPE_FP32', 'TYPE_INT32'] as const) {
      await using served = await batchInputModel(kind, dataType);
      const found = await results(
        served,
        'BATCH',
        WORKED.map((shape) => counted('RAGGED_INPUT', shape)),
      );
      expect(found).toEqual(WORKED.map(() => ({ shape: [1, expected.length], values: expected })));
    }
  });

  it('are told by the shape alone of BATCH_MAX_ELEMENT_COUNT_AS_SHAPE', async () => {
    await using served = await batchInputModel('BATCH_MAX_ELEMENT_COUNT_AS_SHAPE');
    const found = await results(
      served,
      'BATCH',
      WORKED.map((shape) => counted('RAGGED_INPUT', shape)),
    );
    expect(found.map(({ shape }) => shape)).toEqual(WORKED.map(() => [1, 4]));
  });
});

describe('item shapes', () => {
  it('are one row per item, of which each request gets its own', async () => {
    await using served = await load('ragged_torchscript/item_shape.pt', {
      input: [ragged('RAGGED_INPUT', [-1, -1])],
      batchInput: [of('BATCH_INPUT', 'BATCH_ITEM_SHAPE')],
      output: outputs('SHAPES FP32 2'),
    });
    const shapes = [
      [2, 1, 2],
      [1, 1, 2],
      [1, 2, 2],
    ];
    const found = await results(
      served,
      'SHAPES',
      shapes.map((shape) => counted('RAGGED_INPUT', shape)),
    );
    expect(found.map(({ values }) => values)).toEqual([
      [1, 2, 1, 2],
      [1, 2],
      [2, 2],
    ]);
  });

  it('stand one after the other in BATCH_ITEM_SHAPE_FLATTEN', async () => {
    await using served = await batchInputModel('BATCH_ITEM_SHAPE_FLATTEN', 'TYPE_FP32', [-1, -1]);
    const shapes = [
      [1, 4, 1],
      [1, 1, 2],
      [1, 1, 2],
      [1, 2, 2],
    ];
    const found = await results(
      served,
      'BATCH',
      shapes.map((shape) => counted('RAGGED_INPUT', shape)),
    );
    expect(found.map(({ values }) => values)).toEqual(shapes.map(() => [4, 1, 1, 2, 1, 2, 2, 2]));
  });
});

describe('a batch input', () => {
  it('may have several targets with the same contents', async () => {
    await using served = await load('ragged_torchscript/batch_input.pt', {
      input: [ragged('RAGGED_INPUT', [-1])],
      batchInput: [
        { ...of('BATCH_INPUT', 'BATCH_ELEMENT_COUNT'), targetName: ['BATCH_INPUT', 'BATCH_AND_SIZE_INPUT'] },
      ],
      output: outputs('A FP32 -1', 'B FP32 -1'),
    });
    const inputs = [counted('RAGGED_INPUT', [1, 3]), counted('RAGGED_INPUT', [1, 5])];
    for (const output of ['A', 'B']) {
      expect((await results(served, output, inputs)).map(({ values }) => values)).toEqual([
        [3, 5],
        [3, 5],
      ]);
    }
  });

  it('is not given by clients', async () => {
    await using served = await batchInputModel('BATCH_ELEMENT_COUNT');
    const error = await served.failure(counted('RAGGED_INPUT', [1, 2]), counted('BATCH_INPUT', [1, 1]));
    expect(error.message).toContain("input 'BATCH_INPUT' is unknown");
  });

  it('tells of lists of strings too', async () => {
    await using served = await load('ragged_torchscript/words.pt', {
      input: [{ name: 'WORDS', dataType: 'TYPE_STRING', dims: [-1], allowRaggedBatch: true }],
      batchInput: [{ ...of('COUNTS', 'BATCH_ELEMENT_COUNT'), sourceInput: ['WORDS'] }],
      output: [{ name: 'TOTAL', dataType: 'TYPE_FP32', dims: [], reshape: { shape: [] } }],
    });
    const words = (...values: string[]) =>
      served.request([tensor({ name: 'WORDS', datatype: 'BYTES', shape: [1, values.length], values })]);
    const answers = await served.run(words('a', 'b\0'), words('c'), words('d', '', 'f'));
    expect(answers.map((outputs) => [...outputs.values()].flatMap(valuesOf))).toEqual([[6], [6], [6]]);
  });
});

function scatterModel(file: string, dims: readonly number[] = [-1]) {
  return load(`ragged_torchscript/${file}.pt`, {
    input: [ragged('INPUT', dims)],
    output: [{ name: 'OUTPUT', dataType: 'TYPE_FP32', dims: [...dims] }],
    batchOutput: [{ targetName: ['OUTPUT'], kind: 'BATCH_SCATTER_WITH_INPUT_SHAPE', sourceInput: ['INPUT'] }],
  });
}

describe('an output that is cut by the shapes of an input', () => {
  it('gives each request its own vector back', async () => {
    await using served = await scatterModel('identity');
    const inputs = WORKED.map((shape) => counted('INPUT', shape));
    expect(await results(served, 'OUTPUT', inputs)).toEqual(
      WORKED.map((shape) => ({ shape, values: new Array<number>(shape[1]).fill(shape[1]) })),
    );
  });

  it('takes every variable dimension from the same place of the input, rows included', async () => {
    await using served = await scatterModel('identity', [-1, 2]);
    const shapes = [
      [2, 1, 2],
      [1, 3, 2],
    ];
    const found = await results(
      served,
      'OUTPUT',
      shapes.map((shape) => counted('INPUT', shape)),
    );
    expect(found.map(({ shape }) => shape)).toEqual(shapes);
  });

  it('fails only the requests whose part is not there', async () => {
    await using served = await scatterModel('shorter');
    const requests = [
      [1, 2],
      [1, 3],
    ].map((shape) => served.request([counted('INPUT', shape)]));
    await served.instance().execute(requests);
    const [first, last] = await Promise.all(requests.map((request) => served.responder.finalOf(request)));
    expect(first?.response?.outputs.map(valuesOf)).toEqual([[2, 2]]);
    expect(last?.error).toMatchObject({ code: 'INTERNAL', reason: 'output' });
    expect(last?.error?.message).toContain("failed to split the output tensor 'OUTPUT' in responses");
  });

  it('fails the batch when something is left over', async () => {
    await using served = await scatterModel('longer');
    const requests = WORKED.map((shape) => served.request([counted('INPUT', shape)]));
    await served.instance().execute(requests);
    for (const request of requests) {
      const { error } = await served.responder.finalOf(request);
      expect(error?.message).toContain('the requests take 10 of its 11 elements');
    }
  });

  it('is refused for strings', async () => {
    const loading = load('ragged_torchscript/identity.pt', {
      input: [ragged('INPUT', [-1])],
      output: [{ name: 'OUTPUT', dataType: 'TYPE_STRING', dims: [-1] }],
      batchOutput: [{ targetName: ['OUTPUT'], kind: 'BATCH_SCATTER_WITH_INPUT_SHAPE', sourceInput: ['INPUT'] }],
    });
    await expect(loading).rejects.toThrow('only numbers are cut by the shapes of an input');
  });
});

describe('a large result that is cut by shapes', () => {
  it('goes back when the last of its requests is released, those that failed not counted', async () => {
    await using served = await scatterModel('shorter');
    const requests = [
      [1, 2000],
      [1, 2000],
    ].map((shape) => served.request([counted('INPUT', shape)]));
    await served.instance().execute(requests);
    const [first] = await Promise.all(requests.map((request) => served.responder.finalOf(request)));
    const output = first?.response?.outputs[0];
    expect(output?.data.byteLength).toBe(8000);
    first?.response?.release?.();
    expect(output?.data.byteLength).toBe(0);
  });
});

describe('a compiled package', () => {
  let served: ServedModel;

  beforeAll(async () => {
    served = await load('ragged_aoti/ragged.pt2', {
      input: [ragged('ARGS[0]', [-1])],
      batchInput: [{ ...of('INPUT__1', 'BATCH_ELEMENT_COUNT', 'TYPE_INT32'), sourceInput: ['ARGS[0]'] }],
      output: outputs('RESULT[0] FP32 -1', 'RESULT[1] INT32 1'),
      batchOutput: [{ targetName: ['RESULT[0]'], kind: 'BATCH_SCATTER_WITH_INPUT_SHAPE', sourceInput: ['ARGS[0]'] }],
    });
  });

  afterAll(() => served.close());

  it('takes ragged inputs and batch inputs under all of their names', async () => {
    const answers = await served.run(...WORKED.map((shape) => served.request([counted('ARGS[0]', shape)])));
    expect(answers.map((outputs) => [...outputs.values()].map(({ shape }) => shape))).toEqual(
      WORKED.map((shape) => [shape, [1, 1]]),
    );
    expect(answers.map((outputs) => [...outputs.values()].map((output) => valuesOf(output)[0]))).toEqual(
      WORKED.map(([, count]) => [count * 2, count]),
    );
  });

  it('gives every request what it gets alone', async () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 });
    const property = fc.asyncProperty(lengths, async (counts) => {
      const make = () => counts.map((count) => counted('ARGS[0]', [1, count]));
      const together = await results(served, 'RESULT[0]', make());
      for (const [i, input] of make().entries()) {
        expect(await results(served, 'RESULT[0]', [input])).toEqual([together[i]]);
      }
    });
    await fc.assert(property, { seed: 11, numRuns: 20 });
  });

  it('is not run with more elements together than it was compiled for', async () => {
    const requests = [40, 40].map((count) => served.request([counted('ARGS[0]', [1, count])]));
    await served.instance().execute(requests);
    for (const request of requests) {
      const { error } = await served.responder.finalOf(request);
      expect(error?.code).toBe('INVALID_ARG');
      expect(error?.message).toContain('of the whole batch, input');
    }
  });

  it('is refused when it takes the ragged input in more than one dimension', async () => {
    const loading = load('backend_aoti/mean.pt2', {
      input: [ragged('INPUT__0', [-1])],
      output: outputs('OUTPUT__0 FP32 4'),
    });
    await expect(loading).rejects.toThrow("input 'INPUT__0' is ragged: it reaches the package with one dimension");
  });
});
