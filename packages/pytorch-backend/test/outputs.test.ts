import type { Tensor } from '@nereid/core';
import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { inputsAndOutputs, ServedModel } from './served-model.ts';

const BATCHED = { maxBatchSize: 8, ...inputsAndOutputs(['x FP32 -1'], ['OUTPUT__0 FP32 -1']) };
const SINGLE = inputsAndOutputs(['x FP32 -1 -1'], ['OUTPUT__0 FP32 -1 -1']);

function rows(count: number, width = 2): Tensor {
  return tensor({ name: 'x', shape: [count, width], values: Array.from({ length: count * width }, (_, i) => i) });
}

describe('the batch dimension of outputs', () => {
  it('must have a row for each row of the batch', async () => {
    await using served = await ServedModel.load({ file: 'backend_torchscript/first_row.pt', config: BATCHED });
    const requests = [served.request([rows(2)]), served.request([rows(1)])];
    await served.instance().execute(requests);
    for (const request of requests) {
      const { error } = await served.responder.finalOf(request);
      expect(error).toMatchObject({ code: 'INTERNAL', reason: 'output' });
      expect(error?.message).toContain(
        "failed to split the output tensor 'OUTPUT__0' in responses: expected batch size of at least 3 in model output, got 1",
      );
    }
    expect(served.reports).toEqual([]);
    expect((await served.infer(rows(1))).get('OUTPUT__0')?.shape).toEqual([1, 2]);
  });

  it('must have no row more', async () => {
    await using served = await ServedModel.load({ file: 'backend_torchscript/more_rows.pt', config: BATCHED });
    expect((await served.failure(rows(2))).message).toContain(
      "output 'OUTPUT__0' has shape [4,2], but the batch has 2 rows: forward must return one row per input row",
    );
  });

  it('must be there: a scalar cannot be split', async () => {
    await using served = await ServedModel.load({ file: 'native_torchscript/sum.pt', config: BATCHED });
    expect((await served.failure(rows(1))).message).toBe("output 'OUTPUT__0' is a scalar which is not supported.");
  });

  it('is bounded by max_batch_size', async () => {
    await using served = await ServedModel.load({ file: 'native_torchscript/identity.pt', config: BATCHED });
    const error = await served.failure(rows(9));
    expect(error).toMatchObject({ code: 'INTERNAL', message: "batch size 9 for 'm', max allowed is 8" });
  });

  it('may be empty', async () => {
    await using served = await ServedModel.load({ file: 'native_torchscript/identity.pt', config: BATCHED });
    const [alone] = await served.run(served.request([rows(0)]));
    expect(alone?.get('OUTPUT__0')?.shape).toEqual([0, 0]);
    const results = await served.run(served.request([rows(0)]), served.request([rows(2)]));
    expect(results.map((outputs) => outputs.get('OUTPUT__0')?.shape)).toEqual([
      [0, 2],
      [2, 2],
    ]);
  });
});

describe('results of forward', () => {
  it.each([
    ['a scalar, without batching', 'sum', [], [6]],
    ['a transposed view', 'transposed', [2, 2], [0, 2, 1, 3]],
    ['no elements', 'narrowed', [0, 2], []],
    ['a lazily negated view', 'imaginary', [2, 2], [-0, -1, -2, -3]],
    ['a list of tensors', 'tensors', [2, 2], [1, 2, 3, 4]],
    ['a named tuple', 'named', [2, 2], [1, 2, 3, 4]],
  ])('may be %s', async (_, file, shape, values) => {
    await using served = await ServedModel.load({ file: `native_torchscript/${file}.pt`, config: SINGLE });
    const output = (await served.infer(rows(2))).get('OUTPUT__0');
    expect(output?.shape).toEqual(shape);
    expect(output && valuesOf(output)).toEqual(values);
  });

  it.each([
    ['a number', 'number', 'PyTorch execute failure: '],
    ['None', 'nothing', 'PyTorch execute failure: '],
    [
      'complex numbers',
      'complex',
      "configuration expects datatype TYPE_FP32 for output 'OUTPUT__0', model provides TYPE_INVALID",
    ],
  ])('may not be %s', async (_, file, message) => {
    await using served = await ServedModel.load({ file: `native_torchscript/${file}.pt`, config: SINGLE });
    expect((await served.failure(rows(1))).message).toContain(message);
  });

  it('must have the configured datatype', async () => {
    const config = inputsAndOutputs(['x FP32 -1 -1'], ['OUTPUT__0 INT32 -1 -1']);
    await using served = await ServedModel.load({ file: 'native_torchscript/identity.pt', config });
    expect(await served.failure(rows(1))).toMatchObject({
      code: 'INVALID_ARG',
      message: "configuration expects datatype TYPE_INT32 for output 'OUTPUT__0', model provides TYPE_FP32",
    });
  });

  it('must be as many as the highest index asks for, when their number is known at run time only', async () => {
    const config = inputsAndOutputs(['x FP32 -1 -1'], ['OUTPUT__3 FP32 -1 -1']);
    await using served = await ServedModel.load({ file: 'native_torchscript/tensors.pt', config });
    expect((await served.failure(rows(1))).message).toBe(
      "The output OUTPUT__3 in the model configuration refers to an output index which doesn't exist. This model has 3 outputs",
    );
  });

  it('need not have the configured dims', async () => {
    const config = inputsAndOutputs(['x FP32 -1 -1'], ['OUTPUT__0 FP32 4']);
    await using served = await ServedModel.load({ file: 'native_torchscript/identity.pt', config });
    expect((await served.infer(rows(2))).get('OUTPUT__0')?.shape).toEqual([2, 2]);
  });

  it('do not alias the bytes of the inputs', async () => {
    await using served = await ServedModel.load({ file: 'native_torchscript/identity.pt', config: SINGLE });
    const input = rows(64, 64);
    const output = (await served.infer(input)).get('OUTPUT__0');
    input.data.fill(255);
    expect(output && valuesOf(output)[5]).toBe(5);
  });
});

describe('reshape', () => {
  it('reaches the model in its shape and the client in dims', async () => {
    const config = {
      maxBatchSize: 4,
      input: [{ name: 'x', dataType: 'TYPE_FP32', dims: [2, -1, 3], reshape: { shape: [-1, 6] } }],
      output: [
        { name: 'OUTPUT__0', dataType: 'TYPE_INT64', dims: [2] },
        { name: 'OUTPUT__1', dataType: 'TYPE_FP32', dims: [2, -1, 3], reshape: { shape: [-1, 6] } },
      ],
    } as const;
    await using served = await ServedModel.load({ file: 'backend_torchscript/shape.pt', config });
    const values = Array.from({ length: 30 }, (_, i) => i);
    const results = await served.infer(tensor({ name: 'x', shape: [1, 2, 5, 3], values }));
    const [shape, x] = [results.get('OUTPUT__0'), results.get('OUTPUT__1')];
    expect(shape && valuesOf(shape)).toEqual([5n, 6n]);
    expect(x?.shape).toEqual([1, 2, 5, 3]);
    expect(x && valuesOf(x)).toEqual(values);
  });

  it('may drop every dimension but the batch', async () => {
    const config = {
      maxBatchSize: 4,
      input: [{ name: 'x', dataType: 'TYPE_FP32', dims: [1], reshape: { shape: [] } }],
      output: [{ name: 'OUTPUT__0', dataType: 'TYPE_FP32', dims: [1], reshape: { shape: [] } }],
    } as const;
    await using served = await ServedModel.load({ file: 'native_torchscript/double.pt', config });
    const output = (await served.infer(tensor({ name: 'x', shape: [3, 1], values: [1, 2, 3] }))).get('OUTPUT__0');
    expect(output?.shape).toEqual([3, 1]);
    expect(output && valuesOf(output)).toEqual([2, 4, 6]);
  });

  it('of an output must fit what the model returns', async () => {
    const config = {
      ...SINGLE,
      output: [{ name: 'OUTPUT__0', dataType: 'TYPE_FP32', dims: [6], reshape: { shape: [2, 3] } }],
    } as const;
    await using served = await ServedModel.load({ file: 'native_torchscript/identity.pt', config });
    expect((await served.infer(rows(2, 3))).get('OUTPUT__0')?.shape).toEqual([6]);
    expect((await served.failure(rows(2, 2))).message).toContain('reshape [2,3] to [6] does not fit');
  });
});
