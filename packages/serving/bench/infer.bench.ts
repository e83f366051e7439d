/**
 * What the engine costs per request: look-up, check, scheduler, statistics, around a backend that answers at once. `cached` requests carry a
 * signature that passed before, `checked` ones none. `backend alone` is the floor: the same request and answer without the engine.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Backend, InferenceRequest, type ModelInstance, RequestSignature, type Responder } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { ModelRepository } from '@nereid/repository';
import { tensor } from '@nereid/testing';
import { bench, describe } from 'vitest';
import { createEngine, type EngineOptions, type ServingEngine } from '../src/index.ts';

const REQUESTS = 1000;
const responder: Responder = { respond() {}, fail() {} };
const inputs = [
  tensor({ name: 'a', values: [1, 2, 3], shape: [1, 3] }),
  tensor({ name: 'b', values: [1, 2, 3], shape: [1, 3] }),
];
const response = { modelName: 'm', modelVersion: '1', outputs: [] };
const settled = Promise.resolve();

const instance = (
  report: Parameters<Awaited<ReturnType<Backend<ModelConfig>['load']>>['createInstance']>[0]['report'],
): ModelInstance => {
  const execution = {
    requests: [] as readonly InferenceRequest[],
    batchSize: 1,
    computeInputNs: 10,
    computeInferNs: 10,
    computeOutputNs: 10,
  };
  return {
    name: 'm_0',
    capacity: 1,
    execute(batch) {
      report({ ...execution, requests: batch });
      for (const request of batch) request.respond(response);
      return settled;
    },
    close: async () => {},
  };
};

const directory = mkdtempSync(join(tmpdir(), 'nereid-bench-'));
mkdirSync(join(directory, 'm/1'), { recursive: true });
writeFileSync(
  join(directory, 'm/config.pbtxt'),
  `backend: "noop" max_batch_size: 8
   input [ { name: "a" data_type: TYPE_FP32 dims: [ 3 ] }, { name: "b" data_type: TYPE_FP32 dims: [ 3 ] } ]
   output [ { name: "y" data_type: TYPE_FP32 dims: [ 3 ] } ]`,
);
const noop: Backend<ModelConfig> = {
  name: 'noop',
  load: async () => ({ createInstance: async ({ report }) => instance(report), close: async () => {} }),
};
async function loaded(measures: Partial<EngineOptions> = {}): Promise<ServingEngine> {
  const repository = new ModelRepository({ paths: [directory] });
  const made = createEngine({ repository, backends: [noop], ...measures });
  const report = await made.load();
  if (!report.isComplete) throw new Error(report.failures[0]?.reason);
  return made;
}
const engine = await loaded();
const withHistogram = await loaded({ measureFirstResponses: true });
const withSummaries = await loaded({
  summarizeLatencies: [
    { quantile: 0.5, error: 0.05 },
    { quantile: 0.9, error: 0.01 },
    { quantile: 0.95, error: 0.001 },
    { quantile: 0.99, error: 0.001 },
    { quantile: 0.999, error: 0.001 },
  ],
});
rmSync(directory, { recursive: true });

const alone = instance(() => {});
/** One for each engine: a signature remembers who accepted it. */
const signature = new RequestSignature();

function request(withSignature: RequestSignature | undefined): InferenceRequest {
  const init = { modelName: 'm', modelVersion: '', id: '', inputs, requestedOutputs: [], signature: withSignature };
  return new InferenceRequest(init, responder);
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe(`${REQUESTS} requests`, () => {
  bench('backend alone', async () => {
    for (let i = 0; i < REQUESTS; i++) await alone.execute([request(undefined)]);
    await nextTurn();
  });

  bench('engine, cached', async () => {
    for (let i = 0; i < REQUESTS; i++) engine.infer(request(signature));
    await nextTurn();
  });

  bench('engine, cached, with the histogram of first responses', async () => {
    for (let i = 0; i < REQUESTS; i++) withHistogram.infer(request(signature));
    await nextTurn();
  });

  bench('engine, cached, with summaries', async () => {
    for (let i = 0; i < REQUESTS; i++) withSummaries.infer(request(signature));
    await nextTurn();
  });

  bench('engine, checked', async () => {
    for (let i = 0; i < REQUESTS; i++) engine.infer(request(undefined));
    await nextTurn();
  });
});
