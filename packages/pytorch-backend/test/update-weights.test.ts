import { join } from 'node:path';
import type { Tensor } from '@nereid/core';
import type { Init, ModelConfig } from '@nereid/model-config';
import { tensor, testModel, valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { loadModel } from '../src/index.ts';
import { CollectingLogger } from './collecting-logger.ts';
import { inputsAndOutputs, modelFile, ServedModel } from './served-model.ts';

const SCALED = 'weights/scaled.pt2';
const CONFIG: Init<ModelConfig> = {
  ...inputsAndOutputs(['INPUT__0 FP32 512'], ['OUTPUT__0 FP32 16']),
  maxBatchSize: 64,
};

const file = (name: string) => ({ file: join(testModel('weights'), name) });
const ones = (rows: number) => tensor({ name: 'INPUT__0', shape: [rows, 512], values: Array(rows * 512).fill(1) });

/** Weight and bias of value v make v + v: 2, 4 or 6, and 3 or 5 if they came from different sets. */
const SETS = [
  [file('ones.pt'), 2],
  [file('twos.pt'), 4],
] as const;

async function resultsOf(served: ServedModel, index: number, rows: number): Promise<ReadonlySet<unknown>> {
  const request = served.request([ones(rows)]);
  await served.instance(index).execute([request]);
  const response = await served.responder.responseOf(request);
  const [output] = response.outputs;
  const values = new Set(output === undefined ? [] : valuesOf(output));
  response.release?.();
  return values;
}

describe('new weights', () => {
  it.each([
    ['as they are', SCALED],
    ['with constants that the package computes from them', 'weights/folded.pt2'],
  ])(
    'are exchanged under load, %s: no run fails, each has one set whole, none has the old one afterwards',
    async (_, path) => {
      await using served = await ServedModel.load({ file: path, config: CONFIG, instances: 4 });
      await served.model.updateWeights(file('ones.pt'));
      const seen = new Map<unknown, number>();
      let isOver = false;
      const client = async (number: number) => {
        for (let turn = 0; !isOver; turn++) {
          const values = await resultsOf(served, number % 4, 1 + ((number + turn) % 3));
          expect(values.size).toBe(1);
          for (const value of values) seen.set(value, (seen.get(value) ?? 0) + 1);
          // As a client on a socket would, each comes back in a later turn of the loop, which reads the weights meanwhile.
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const clients = Promise.all(Array.from({ length: 32 }, (_, number) => client(number)));
      for (let swap = 0; swap < 20; swap++) {
        const [source, expected] = SETS[(swap + 1) % 2] ?? SETS[0];
        await served.model.updateWeights(source);
        const after = await Promise.all([0, 1, 2, 3].map((index) => resultsOf(served, index, 2)));
        expect(after.map((values) => [...values])).toEqual(Array(4).fill([expected]));
      }
      isOver = true;
      await clients;
      expect([...seen.keys()].sort()).toEqual([2, 4]);
      expect(Math.min(...seen.values())).toBeGreaterThan(32);
    },
  );

  it('come from a dict, an OrderedDict, safetensors or memory', async () => {
    await using served = await ServedModel.load({ file: SCALED, config: CONFIG });
    const tensors: readonly Tensor[] = [
      tensor({ name: 'weight', shape: [16, 512], values: Array(8192).fill(5) }),
      tensor({ name: 'bias', shape: [16], values: Array(16).fill(5) }),
      tensor({ name: 'scale', shape: [16], values: Array(16).fill(2) }),
    ];
    for (const [source, expected] of [
      [file('twos.pt'), 4],
      [file('threes.safetensors'), 6],
      [{ tensors }, 15],
      [file('ones.pt'), 2],
    ] as const) {
      const report = await served.model.updateWeights(source);
      expect(report).toEqual({ updated: ['bias', 'scale', 'weight'], kept: [], ignored: [] });
      expect(await resultsOf(served, 0, 1)).toEqual(new Set([expected]));
    }
  });

  it('that are given at a time are taken one after the other', async () => {
    await using served = await ServedModel.load({ file: SCALED, config: CONFIG, instances: 2 });
    await Promise.all([...SETS, ...SETS].map(([source]) => served.model.updateWeights(source)));
    expect(await resultsOf(served, 1, 1)).toEqual(new Set([4]));
  });

  it('hold for the calling thread too', async () => {
    await using served = await ServedModel.load({ file: SCALED, config: CONFIG });
    await served.model.updateWeights(file('twos.pt'));
    const request = served.request([ones(1)]);
    served.instance().executeInline?.([request]);
    const [output] = (await served.responder.responseOf(request)).outputs;
    expect(output && [...valuesOf(output)]).toEqual(Array(16).fill(4));
  });

  it('may lack buffers, which keep their value, or hold the counter of a batch norm; the log says which', async () => {
    const logger = new CollectingLogger();
    await using served = await ServedModel.load({ file: SCALED, config: CONFIG, logger });
    const scale = tensor({ name: 'scale', shape: [16], values: Array(16).fill(3) });
    const rest = ['weight', 'bias'].map((name, i) =>
      tensor({ name, shape: i === 0 ? [16, 512] : [16], values: Array(i === 0 ? 8192 : 16).fill(1) }),
    );
    await served.model.updateWeights({ tensors: [...rest, scale] });
    const report = await served.model.updateWeights(file('no_buffer.pt'));
    expect(report).toEqual({ updated: ['bias', 'weight'], kept: ['scale'], ignored: [] });
    expect(await resultsOf(served, 0, 1)).toEqual(new Set([2 * 3 + 2]));
    expect(await served.model.updateWeights(file('extra.pt'))).toMatchObject({ ignored: ['norm.num_batches_tracked'] });
    expect(logger.lines.filter((line) => line.includes('exchanged')).slice(1)).toEqual([
      "info: model 'm': 2 weights were exchanged (kept: scale)",
      "info: model 'm': 3 weights were exchanged (not used by the package: norm.num_batches_tracked)",
    ]);
  });

  it.each([
    ['narrow.pt', "'weight' is FP32 [16,3], the package has parameter 'weight' FP32 [16,512]"],
    ['double.pt', "'weight' is FP64 [16,512], the package has parameter 'weight' FP32 [16,512]"],
    [
      'misspelt.pt',
      "they lack parameter 'bias' FP32 [16]; they hold 'bais', which the package does not have: the model does not use it",
    ],
  ])('that do not fit (%s) are refused with both sides, and nothing changes', async (name, message) => {
    await using served = await ServedModel.load({ file: SCALED, config: CONFIG });
    await served.model.updateWeights(file('twos.pt'));
    await expect(served.model.updateWeights(file(name))).rejects.toMatchObject({
      code: 'INVALID_ARG',
      reason: 'weights',
      message: expect.stringContaining(`model 'm': the new weights do not fit: ${message}`),
    });
    expect(await resultsOf(served, 0, 1)).toEqual(new Set([4]));
  });

  it('with other bytes than their shape takes are refused', async () => {
    await using served = await ServedModel.load({ file: SCALED, config: CONFIG });
    const weight = { name: 'weight', datatype: 'FP32', shape: [16, 512], data: new Uint8Array(12) } as const;
    await expect(served.model.updateWeights({ tensors: [weight] })).rejects.toThrow(
      "they lack parameter 'bias' FP32 [16]; 'weight' FP32 [16,512] needs 32768 bytes, got 12",
    );
  });

  it('that are no weights are refused with what the file is', async () => {
    await using served = await ServedModel.load({ file: SCALED, config: CONFIG });
    await expect(served.model.updateWeights(file('scaled.pt2'))).rejects.toThrow(
      /^model 'm': '.*scaled\.pt2' holds no weights/,
    );
    await expect(served.model.updateWeights(file('none.pt'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('are for packages only', async () => {
    const config = inputsAndOutputs(['x FP32 -1'], ['OUTPUT__0 FP32 -1']);
    await using served = await ServedModel.load({ file: 'identity/model.pt', config });
    await expect(served.model.updateWeights(file('ones.pt'))).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      reason: 'weights',
    });
  });

  it('of a model that is being closed are waited for', async () => {
    const served = await ServedModel.load({ file: SCALED, config: CONFIG });
    const update = served.model.updateWeights(file('twos.pt'));
    await Promise.all([served.close(), update]);
  });

  it('reach a model that is run directly', async () => {
    await using model = await loadModel(modelFile(SCALED), { instances: 2 });
    const run = async () => (await model.run({ INPUT__0: new Float32Array(512).fill(1) })).OUTPUT__0?.data;
    expect(await run()).not.toEqual(new Float32Array(16).fill(6));
    await model.updateWeights(file('threes.safetensors'));
    expect(await run()).toEqual(new Float32Array(16).fill(6));
  });
});
