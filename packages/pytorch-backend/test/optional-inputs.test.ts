import type { Tensor } from '@nereid/core';
import type { Init, ModelConfig } from '@nereid/model-config';
import { tensor, valuesOf } from '@nereid/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadModel } from '../src/index.ts';
import { modelFile, ServedModel } from './served-model.ts';

const MASKED = 'backend_torchscript/masked.pt';

function config(optional: readonly string[], names = ['x', 'mask', 'y', 'bias']): Init<ModelConfig> {
  return {
    maxBatchSize: 8,
    input: names.map((name) => ({ name, dataType: 'TYPE_FP32', dims: [2], optional: optional.includes(name) })),
    output: [{ name: 'OUTPUT__0', dataType: 'TYPE_FP32', dims: [2] }],
  };
}

/** One row of two equal values. */
function row(name: string, value: number): Tensor {
  return tensor({ name, shape: [1, 2], values: [value, value] });
}

interface Values {
  readonly x: number;
  readonly mask?: number | undefined;
  readonly y: number;
  readonly bias?: number | undefined;
}

function inputsOf(values: Values): readonly Tensor[] {
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [row(name, value)]));
}

function expected({ x, mask = 1, y, bias = 0 }: Values): number {
  return (x + y) * mask + bias;
}

function firstOf(outputs: ReadonlyMap<string, Tensor> | undefined): unknown {
  const output = outputs?.get('OUTPUT__0');
  return output === undefined ? undefined : [...valuesOf(output)][0];
}

describe('optional inputs', () => {
  it.each([
    { x: 1, y: 2 },
    { x: 1, mask: 3, y: 2 },
    { x: 1, y: 2, bias: 4 },
    { x: 1, mask: 3, y: 2, bias: 4 },
  ])('%j: those that a request leaves out are None', async (values) => {
    await using served = await ServedModel.load({ file: MASKED, config: config(['mask', 'bias']) });
    expect(firstOf(await served.infer(...inputsOf(values)))).toBe(expected(values));
  });

  it('run only with requests that carry the same', async () => {
    await using served = await ServedModel.load({ file: MASKED, config: config(['mask', 'bias']) });
    const value = fc.integer({ min: 1, max: 9 });
    const values = fc.record({
      x: value,
      mask: fc.option(value, { nil: undefined }),
      y: value,
      bias: fc.option(value, { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(values, { minLength: 1, maxLength: 8 }), async (batch) => {
        const results = await served.run(...batch.map((each) => served.request(inputsOf(each))));
        expect(results.map(firstOf)).toEqual(batch.map(expected));
      }),
      { seed: 7, numRuns: 40 },
    );
    const runs = served.reports.map(
      ({ requests }) =>
        new Set(
          requests.map(({ inputs }) =>
            inputs
              .map(({ name }) => name)
              .sort()
              .join(),
          ),
        ),
    );
    expect(runs.every((names) => names.size === 1)).toBe(true);
    expect(served.reports.some(({ requests }) => requests.length > 1)).toBe(true);
  });

  it('may be left out on the calling thread too', async () => {
    await using served = await ServedModel.load({ file: MASKED, config: config(['mask', 'bias']) });
    const batch = [
      { x: 1, y: 2 },
      { x: 1, mask: 3, y: 2 },
      { x: 5, y: 5 },
    ];
    const requests = batch.map((each) => served.request(inputsOf(each)));
    served.instance().executeInline?.(requests);
    const responses = await Promise.all(requests.map((request) => served.responder.responseOf(request)));
    expect(responses.map(({ outputs: [output] }) => output && [...valuesOf(output)][0])).toEqual(batch.map(expected));
  });

  it('are keys that a dictionary may lack', async () => {
    const keyed = { file: 'backend_torchscript/dict_bias.pt', config: config(['bias'], ['x', 'bias']) };
    await using served = await ServedModel.load(keyed);
    expect(firstOf(await served.infer(row('x', 1)))).toBe(1);
    expect(firstOf(await served.infer(row('x', 1), row('bias', 5)))).toBe(6);
  });

  it('leave the others required', async () => {
    await using served = await ServedModel.load({ file: MASKED, config: config(['mask', 'bias']) });
    const error = await served.failure(row('x', 1), row('mask', 1));
    expect(error.message).toContain(
      "input 'y' is missing; the model takes 'x' FP32 [-1,2], optionally 'mask' FP32 [-1,2]",
    );
    expect((await served.failure(row('x', 1), row('y', 1), row('z', 1))).message).toContain("input 'z' is unknown");
  });

  it('at the end may be missing from the configuration, with or without a default', async () => {
    const names = ['x', 'mask', 'y'];
    await using served = await ServedModel.load({ file: MASKED, config: config([], names) });
    expect(firstOf(await served.infer(row('x', 1), row('mask', 2), row('y', 3)))).toBe(8);
  });

  it('need an argument that can do without them', async () => {
    await expect(ServedModel.load({ file: MASKED, config: config(['y']) })).rejects.toMatchObject({
      code: 'INVALID_ARG',
      message:
        "model 'm': input 'y' is optional, but argument 'y: Tensor' of forward is neither Optional[Tensor] nor has it a default; remove " +
        'optional: true, or change the argument',
    });
  });

  it('are no part of compiled packages', async () => {
    const aoti: Init<ModelConfig> = {
      input: ['INPUT__0', 'INPUT__1'].map((name) => ({
        name,
        dataType: 'TYPE_FP32',
        dims: [-1, -1],
        optional: name === 'INPUT__1',
      })),
      output: [{ name: 'OUTPUT__0', dataType: 'TYPE_FP32', dims: [-1, -1] }],
    };
    await expect(ServedModel.load({ file: 'backend_aoti/add.pt2', config: aoti })).rejects.toThrow(
      "the backend doesn't support optional input 'INPUT__1': a compiled package takes every tensor",
    );
  });

  it('may be left out of a direct run', async () => {
    await using model = await loadModel(modelFile(MASKED));
    expect(model.inputs.map(({ name, optional }) => [name, optional])).toEqual([
      ['x', undefined],
      ['mask', true],
      ['y', undefined],
      ['bias', true],
    ]);
    const [x, y] = [Float32Array.of(1), Float32Array.of(2)];
    expect((await model.run({ x, y })).OUTPUT__0?.data).toEqual(Float32Array.of(3));
    expect((await model.run({ x, y, mask: Float32Array.of(5) })).OUTPUT__0?.data).toEqual(Float32Array.of(15));
  });
});
