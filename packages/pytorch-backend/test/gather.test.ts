import { type Datatype, RequestSignature } from '@nereid/core';
import { requestFor, tensor } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { gather } from '../src/gather.ts';
import type { ModelPlan } from '../src/model-plan.ts';

function planOf(datatype: Datatype): ModelPlan {
  const spec = { name: 'x', datatype, dims: [-1], reshape: undefined, optional: false };
  const input = { spec, key: '', declared: undefined };
  return {
    modelName: 'm',
    modelVersion: '1',
    engine: 'aoti',
    maxBatchSize: 8,
    inputs: [input],
    outputs: [],
    isPlain: true,
  };
}

const row = (values: readonly number[], signature?: RequestSignature) =>
  requestFor({
    inputs: [tensor({ name: 'x', values: [...values], shape: [1, values.length] })],
    ...(signature && { signature }),
  });

describe('requests of one signature', () => {
  it('run together, each with its own bytes', () => {
    const plan = planOf('FP32');
    const signature = new RequestSignature();
    const requests = [row([1, 2], signature), row([3, 4], signature), row([5, 6], signature)];
    const { batch, refused } = gather(plan, requests);
    expect(refused).toEqual([]);
    expect(batch?.crossing.shapes).toEqual([2, 1, 2]);
    expect(batch?.crossing.buffers).toEqual(requests.map(({ inputs }) => inputs[0]?.data));
  });

  it('are checked by every model for itself', () => {
    const signature = new RequestSignature();
    expect(gather(planOf('FP32'), [row([1], signature)]).refused).toHaveLength(0);
    const { refused } = gather(planOf('INT32'), [row([1], signature)]);
    expect(refused[0]?.error.message).toContain('the model takes INT32');
    expect(gather(planOf('FP32'), [row([1], signature)]).refused).toHaveLength(0);
  });
});

describe('requests of different signatures', () => {
  it('are held against the first of the batch, however often each was seen', () => {
    const plan = planOf('FP32');
    const [narrow, wide] = [new RequestSignature(), new RequestSignature()];
    for (const [values, signature] of [
      [[1], narrow],
      [[1, 2], wide],
    ] as const)
      gather(plan, [row(values, signature)]);
    const { batch, refused } = gather(plan, [row([1], narrow), row([1, 2], wide), row([3], narrow)]);
    expect(batch?.rows).toEqual([1, 1]);
    expect(refused.map(({ error }) => error.message)).toEqual([
      expect.stringContaining('only equal shapes run together'),
    ]);
  });
});
