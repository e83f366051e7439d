/**
 * A 64→128→10 MLP, one row per request, `REQUESTS` requests per iteration.
 *
 * - `addon alone`: one batch at a time without requests and responses, the floor of what an instance can do;
 * - `execute`, `executeInline`: one request at a time;
 * - `N clients, depth D`: clients that wait for their answers; what came together forms a batch of at most `MAX_BATCH`, and at most D batches are at
 *   the instance. The depth that pays is the instance's `capacity`.
 */
import type { InferenceRequest, ModelInstance, Responder } from '@nereid/core';
import { createModelConfig } from '@nereid/model-config';
import { type Instance, loadAoti } from '@nereid/native';
import { requestFor, tensor, testModel } from '@nereid/testing';
import { afterAll, bench, describe } from 'vitest';
import { PyTorchBackend } from '../src/index.ts';

const REQUESTS = 500;
const MAX_BATCH = 32;
const OPTIONS = { time: 1000, warmupTime: 200 };

const directory = testModel('native_aoti');
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const input = tensor({ name: 'INPUT__0', shape: [1, 64], values: Array.from({ length: 64 }, (_, i) => i / 64) });
const spec = { name: 'mlp_0', kind: 'KIND_CPU', deviceId: 0 } as const;

const model = await new PyTorchBackend().load({
  name: 'mlp',
  version: '1',
  modelDirectory: directory,
  versionDirectory: directory,
  config: createModelConfig({
    platform: 'torch_aoti',
    defaultModelFilename: 'mlp.pt2',
    maxBatchSize: MAX_BATCH,
    input: [{ name: 'INPUT__0', dataType: 'TYPE_FP32', dims: [64] }],
    output: [{ name: 'OUTPUT__0', dataType: 'TYPE_FP32', dims: [10] }],
  }),
  instances: [spec],
  logger: silent,
});
const instance = await model.createInstance({ spec, report() {} });
const addon = await rawInstance();

afterAll(async () => {
  await Promise.all([instance.close(), addon.instance.close()]);
  await model.close();
});

describe('one at a time', () => {
  bench('addon alone', () => addon.run(REQUESTS), OPTIONS);
  bench('execute', () => runClients(instance, { clients: 1, depth: 1 }), OPTIONS);
  bench('executeInline', () => runInline(instance), OPTIONS);
});

describe.each([8, 32, 64])('%i clients', (clients) => {
  for (const depth of [1, 2, 4, 8]) bench(`depth ${depth}`, () => runClients(instance, { clients, depth }), OPTIONS);
});

async function rawInstance() {
  const opened = await loadAoti({ path: `${directory}/mlp.pt2`, modelName: 'model', numRunners: 1, device: -1 });
  let done = () => {};
  const raw: Instance = opened.createInstance({
    name: 'raw',
    intraOpThreads: model.threads,
    inferenceMode: true,
    optimizedExecution: true,
    inputs: [{ datatype: 11, key: '' }],
    outputs: [{ index: 0, key: '' }],
    batching: true,
    onComplete: () => done(),
  });
  const batch = { buffers: [input.data], rows: [1], shapes: [2, 1, 64] };
  const run = (count: number) =>
    new Promise<void>((resolve) => {
      let left = count;
      done = () => (--left === 0 ? resolve() : raw.execute(batch));
      raw.execute(batch);
    });
  return { instance: raw, run };
}

function runInline({ executeInline }: ModelInstance): void {
  const responder = { respond() {}, fail() {} };
  for (let i = 0; i < REQUESTS; i++) executeInline?.([requestFor({ inputs: [input], responder })]);
}

/** Every answered client asks again until all requests were sent; batches form from those that wait. */
function runClients(target: ModelInstance, load: { readonly clients: number; readonly depth: number }): Promise<void> {
  return new Promise((resolve) => {
    const waiting: InferenceRequest[] = [];
    let unsent = REQUESTS;
    let unanswered = REQUESTS;
    let running = 0;
    const responder: Responder = {
      respond() {
        unanswered--;
        ask();
      },
      fail(_request, error) {
        throw error;
      },
    };
    const ask = () => {
      if (unsent === 0) return;
      unsent--;
      waiting.push(requestFor({ inputs: [input], responder }));
    };
    const dispatch = () => {
      if (unanswered === 0) resolve();
      while (running < load.depth && waiting.length > 0) {
        running++;
        void target.execute(waiting.splice(0, MAX_BATCH)).then(() => {
          running--;
          dispatch();
        });
      }
    };
    for (let i = 0; i < load.clients; i++) ask();
    dispatch();
  });
}
