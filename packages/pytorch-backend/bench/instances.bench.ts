/**
 * Four instances of a model whose operators can use several threads, each with two requests in flight; an iteration is `REQUESTS` requests.
 *
 * - `usable cores / instances`: threads of each run by the rule of this backend;
 * - `torch's default`: as many threads as cores for each run, so that the instances have four times as many threads as there are cores.
 */
import { availableParallelism } from 'node:os';
import { silentLogger } from '@nereid/core';
import { createModelConfig } from '@nereid/model-config';
import { RecordingResponder, requestFor, tensor, testModel } from '@nereid/testing';
import { afterAll, bench, describe } from 'vitest';
import { PyTorchBackend, usableCores } from '../src/index.ts';

const INSTANCES = 4;
const IN_FLIGHT = 2;
const REQUESTS = 32;
const OPTIONS = { time: 4000, warmupTime: 500 };

const directory = testModel('backend_torchscript');
const specs = Array.from(
  { length: INSTANCES },
  (_, i) => ({ name: `products_${i}`, kind: 'KIND_CPU', deviceId: 0 }) as const,
);
const input = tensor({ name: 'x', shape: [64, 1024], values: Array(64 * 1024).fill(0.5) });

const shared = await open({});
const all = await open({ INTRA_OP_THREAD_COUNT: String(availableParallelism()) });

afterAll(() => Promise.all([shared.close(), all.close()]));

describe(`${INSTANCES} instances on ${usableCores()} usable cores`, () => {
  bench(`usable cores / instances: ${shared.threads} threads each`, () => shared.run(), OPTIONS);
  bench(`torch's default: ${all.threads} threads each`, () => all.run(), OPTIONS);
});

async function open(parameters: Readonly<Record<string, string>>) {
  const entries = Object.entries(parameters).map(([key, stringValue]) => [key, { stringValue }] as const);
  const model = await new PyTorchBackend().load({
    name: 'products',
    version: '1',
    modelDirectory: directory,
    versionDirectory: directory,
    config: createModelConfig({
      platform: 'pytorch_libtorch',
      defaultModelFilename: 'products.pt',
      input: [{ name: 'x', dataType: 'TYPE_FP32', dims: [64, 1024] }],
      output: [{ name: 'OUTPUT__0', dataType: 'TYPE_FP32', dims: [1, 1024] }],
      parameters: new Map(entries),
    }),
    instances: specs,
    logger: silentLogger,
  });
  const instances = await Promise.all(specs.map((spec) => model.createInstance({ spec, report() {} })));
  const responder = new RecordingResponder();
  const run = async () => {
    let left = REQUESTS;
    const clients = instances.flatMap((instance) =>
      Array.from({ length: IN_FLIGHT }, async () => {
        while (left-- > 0) await instance.execute([requestFor({ inputs: [input], responder })]);
      }),
    );
    await Promise.all(clients);
  };
  const close = async () => {
    await Promise.all(instances.map((instance) => instance.close()));
    await model.close();
  };
  return { run, close, threads: model.threads };
}
