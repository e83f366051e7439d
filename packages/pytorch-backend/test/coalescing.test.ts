import type { InferenceRequest } from '@nereid/core';
import { tensor, valuesOf } from '@nereid/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inputsAndOutputs, ServedModel } from './served-model.ts';

/** One request: its width is that of the batch, its rows and first value are its own. */
const ROWS = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: -50, max: 50 })), {
  minLength: 1,
  maxLength: 5,
});

function request(
  served: ServedModel,
  init: { readonly rows: number; readonly width: number; readonly first: number },
): InferenceRequest {
  const shape = [init.rows, init.width];
  const values = Array.from({ length: init.rows * init.width }, (_, i) => init.first + i / 4);
  return served.request([
    tensor({ name: 'INPUT__0', shape, values }),
    tensor({ name: 'INPUT__1', shape, values: values.map((value) => value * value) }),
  ]);
}

describe.each([
  ['TorchScript', 'backend_torchscript/addsub.pt', 'pytorch_libtorch'],
  ['AOTInductor', 'backend_aoti/add.pt2', 'torch_aoti'],
])('a coalesced batch of %s', (_, file, platform) => {
  let served: ServedModel;

  beforeAll(async () => {
    const names = inputsAndOutputs(
      ['INPUT__0 FP32 -1', 'INPUT__1 FP32 -1'],
      ['OUTPUT__0 FP32 -1', 'OUTPUT__1 FP32 -1'],
    );
    served = await ServedModel.load({ file, config: { platform, maxBatchSize: 8, ...names } });
  });

  afterAll(() => served.close());

  it('gives every request the rows that it gets alone', async () => {
    const property = fc.asyncProperty(ROWS, fc.integer({ min: 1, max: 6 }), async (parts, width) => {
      fc.pre(parts.reduce((sum, [rows]) => sum + rows, 0) <= 8);
      const make = () => parts.map(([rows, first]) => request(served, { rows, width, first }));
      const together = await served.run(...make());
      for (const [i, alone] of make().entries()) {
        const [single] = await served.run(alone);
        for (const name of ['OUTPUT__0', 'OUTPUT__1']) {
          const [a, b] = [together[i]?.get(name), single?.get(name)];
          expect(a?.shape[0]).toBe(parts[i]?.[0]);
          expect(a && valuesOf(a)).toEqual(b && valuesOf(b));
        }
      }
    });
    await fc.assert(property, { seed: 7, numRuns: 60 });
  });
});
