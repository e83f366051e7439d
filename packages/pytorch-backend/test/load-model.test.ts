import { DATATYPES } from '@nereid/core';
import { describe, expect, it } from 'vitest';
import { loadModel } from '../src/index.ts';
import { modelFile } from './served-model.ts';

describe('loadModel', () => {
  it('runs a package by ordinal and by forward names, shapes implied', async () => {
    await using model = await loadModel(modelFile('native_aoti/mlp.pt2'));
    expect(model.inputs).toEqual([
      { name: 'INPUT__0', datatype: 'FP32', shape: [expect.objectContaining({ min: 1, max: 64 }), 64] },
    ]);
    const one = await model.run({ INPUT__0: new Float32Array(64) });
    expect(one).toMatchObject({ OUTPUT__0: { datatype: 'FP32', shape: [1, 10] } });
    expect(one.OUTPUT__0?.data).toBeInstanceOf(Float32Array);
    const three = await model.run({ 'ARGS[0]': new Float32Array(3 * 64) });
    expect(three.OUTPUT__0?.shape).toEqual([3, 10]);
    // Matrix products of other sizes add up in another order.
    for (const [i, value] of [...(one.OUTPUT__0?.data ?? [])].entries()) {
      expect(three.OUTPUT__0?.data[10 + i]).toBeCloseTo(Number(value), 5);
    }
  });

  it('takes the typed array of every datatype', async () => {
    await using model = await loadModel(modelFile('native_aoti/dtypes.pt2'));
    const inputs = model.inputs.map(({ name, datatype }) => [name, new DATATYPES[datatype].array(4)] as const);
    const results = await model.run(Object.fromEntries(inputs));
    for (const [i, { datatype }] of model.inputs.entries()) {
      expect(results[`OUTPUT__${i}`]).toEqual({ datatype, shape: [4], data: new DATATYPES[datatype].array(4) });
    }
  });

  it('runs TorchScript by argument names and positions', async () => {
    await using model = await loadModel(modelFile('backend_torchscript/addsub.pt'));
    expect(model.inputs.map(({ name }) => name)).toEqual(['INPUT0', 'INPUT1']);
    expect(model.outputs).toEqual(['OUTPUT__0', 'OUTPUT__1']);
    const [a, b] = [Float32Array.of(5, 6), Float32Array.of(1, 2)];
    const byName = await model.run({ INPUT1: b, INPUT0: a });
    expect(byName.OUTPUT__0).toEqual({ datatype: 'FP32', shape: [2], data: Float32Array.of(4, 4) });
    const byPosition = await model.run({ INPUT__0: { data: a, shape: [2, 1] }, INPUT__1: { data: b, shape: [1, 2] } });
    expect(byPosition.OUTPUT__1).toEqual({ datatype: 'FP32', shape: [2, 2], data: Float32Array.of(6, 7, 7, 8) });
  });

  it('takes datatypes, dictionaries and results from options', async () => {
    await using model = await loadModel(modelFile('native_torchscript/keyed.pt'), {
      inputs: [
        { name: 'a', datatype: 'INT64' },
        { name: 'b', datatype: 'INT64' },
      ],
      outputs: ['difference'],
    });
    expect(await model.run({ a: BigInt64Array.of(5n), b: BigInt64Array.of(2n) })).toEqual({
      difference: { datatype: 'INT64', shape: [1], data: BigInt64Array.of(3n) },
    });
  });

  it('takes and returns strings', async () => {
    await using model = await loadModel(modelFile('backend_torchscript/shouted.pt'), { outputs: ['OUTPUT__0'] });
    const { OUTPUT__0 } = await model.run({ words: ['hey', 'é'] });
    expect(OUTPUT__0).toEqual({ datatype: 'BYTES', shape: [2], data: ['hey!', 'é!'] });
  });

  it('runs on several instances at once', async () => {
    await using model = await loadModel(modelFile('native_aoti/mlp.pt2'), { instances: 2, threads: 1 });
    expect(model.threads).toBe(1);
    const inputs = Array.from({ length: 20 }, (_, i) => new Float32Array(64).fill(i));
    const together = await Promise.all(inputs.map((input) => model.run({ INPUT__0: input })));
    for (const [i, input] of inputs.entries()) expect(together[i]).toEqual(await model.run({ INPUT__0: input }));
  });

  it('finishes runs in flight when it closes, and refuses later ones', async () => {
    const model = await loadModel(modelFile('native_aoti/mlp.pt2'));
    const running = model.run({ INPUT__0: new Float32Array(64) });
    await model.close();
    await model.close();
    expect((await running).OUTPUT__0?.shape).toEqual([1, 10]);
    await expect(model.run({ INPUT__0: new Float32Array(64) })).rejects.toMatchObject({ reason: 'closed' });
  });

  it.each([
    [
      'another typed array',
      { INPUT__0: new Float64Array(64) },
      "input 'INPUT__0' is FP32: expected a Float32Array, got Float64Array",
    ],
    ['strings', { INPUT__0: ['a'] }, "input 'INPUT__0' is FP32: expected a Float32Array, got Array"],
    [
      'a number of elements that fits no shape',
      { INPUT__0: new Float32Array(65) },
      "input 'INPUT__0' takes shape [-1,64], which 65 elements do not determine",
    ],
    ['a shape outside the declared ranges', { INPUT__0: new Float32Array(65 * 64) }, 'was compiled for'],
    ['an unknown name', { x: new Float32Array(64) }, "has no input 'x'; its inputs are INPUT__0"],
    ['nothing', {}, "input 'INPUT__0' is missing"],
  ])('refuses %s', async (_, inputs, message) => {
    await using model = await loadModel(modelFile('native_aoti/mlp.pt2'));
    await expect(model.run(inputs)).rejects.toThrow(message);
    await expect(model.run(inputs)).rejects.toMatchObject({ code: 'INVALID_ARG', reason: 'request' });
  });

  it.each([
    ['a dictionary', 'native_torchscript/keyed.pt', 'does not tell its inputs; list them in options.inputs'],
    [
      'an open number of results',
      'native_torchscript/tensors.pt',
      'does not tell its outputs; list them in options.outputs',
    ],
  ])('asks for what %s does not tell', async (_, file, message) => {
    await expect(loadModel(modelFile(file))).rejects.toThrow(message);
  });

  it('refuses a file that is no model, and one that is not there', async () => {
    await expect(loadModel(modelFile('archive_files/state_dict.pt'))).rejects.toThrow(/state dict/);
    await expect(loadModel('/nowhere/model.pt')).rejects.toMatchObject({ code: 'UNAVAILABLE', reason: 'file' });
  });
});
