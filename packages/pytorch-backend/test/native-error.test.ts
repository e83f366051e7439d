import { describe, expect, it } from 'vitest';
import type { ModelPlan } from '../src/model-plan.ts';
import { executionError, loadError } from '../src/native-error.ts';

function plan(engine: ModelPlan['engine']): ModelPlan {
  const spec = { name: 'y', datatype: 'FP32', dims: [1], reshape: undefined } as const;
  return {
    modelName: 'm',
    modelVersion: '1',
    engine,
    maxBatchSize: 0,
    inputs: [],
    outputs: [{ spec, index: 1, key: '' }],
    isPlain: true,
  };
}

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

describe('executionError', () => {
  it.each([
    ['torchscript', 'PyTorch execute failure: bad'],
    ['aoti', 'Inductor model instance "m_0" execution failure: bad'],
  ] as const)('begins as users of %s know it', (engine, message) => {
    const thrown = coded(
      'INTERNAL',
      'bad\nException raised from run at a.cpp:1 (most recent call first):\nframe #0: x',
    );
    const error = executionError({ plan: plan(engine), instanceName: 'm_0', thrown });
    expect(error).toMatchObject({ code: 'INTERNAL', reason: 'execution', message, cause: thrown });
  });

  it('names the output whose result is not there', () => {
    const text =
      "The output at index 1 in the model configuration refers to an output index which doesn't exist. This model has 1 outputs";
    const error = executionError({
      plan: plan('torchscript'),
      instanceName: 'm_0',
      thrown: coded('INVALID_ARG', text),
    });
    expect(error).toMatchObject({ code: 'INVALID_ARG', reason: 'output', message: text.replace('at index 1', 'y') });
  });
});

describe('loadError', () => {
  it.each([
    [coded('UNSUPPORTED', 'no GPU'), 'UNSUPPORTED', 'no GPU'],
    [coded('ENOENT', 'gone'), 'INTERNAL', 'gone'],
    ['a string', 'INTERNAL', 'a string'],
  ])('keeps the status of %o where it is one', (thrown, code, text) => {
    expect(loadError('m', thrown)).toMatchObject({
      code,
      reason: 'load',
      message: `failed to load model 'm': ${text}`,
      cause: thrown,
    });
  });
});
