import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InferenceRequest, Tensor } from '@nereid/core';
import { PyTorchBackend } from '@nereid/pytorch-backend';
import { ModelRepository } from '@nereid/repository';
import { createEngine, type EngineOptions, type LoadFailure, type ServingEngine } from '@nereid/serving';
import { RecordingResponder, requestFor } from '@nereid/testing';
import { type ModelTree, writeModelTree } from './model-tree.ts';

/** A model of one file with this configuration. */
export interface RealModel {
  readonly name: string;
  readonly config: string;
  /** Path of the model file below the test models, e.g. `addsub/model.pt`. */
  readonly file: string;
}

/** What a request to a real engine may state; the engine's own responder gets the answers. */
type Sent = { readonly inputs: readonly Tensor[] } & Parameters<typeof requestFor>[0];

export interface RealRepository extends AsyncDisposable {
  readonly engine: ServingEngine;
  readonly responder: RecordingResponder;
  readonly failures: readonly LoadFailure[];
  /** What was logged so far, as `level: sentence`. */
  readonly log: readonly string[];
  /** Sends a request; its answer comes to `responder`. */
  send(init: Sent & { readonly modelName: string }): InferenceRequest;
  /** Sends a request that must succeed; its outputs by name. */
  infer(modelName: string, ...inputs: readonly Tensor[]): Promise<ReadonlyMap<string, Tensor>>;
}

export interface RealEngine extends AsyncDisposable {
  readonly engine: ServingEngine;
  readonly responder: RecordingResponder;
  /** Sends a request; its answer comes to `responder`. */
  send(init: Sent): InferenceRequest;
  /** `id` or `id CODE` per answer so far, in order. */
  answered(): string[];
}

/** A real engine with the PyTorch backend over a repository of these models. Stopped and removed when disposed. */
export async function serveRepository(
  models: readonly ModelTree[],
  options: Partial<EngineOptions> = {},
): Promise<RealRepository> {
  const path = mkdtempSync(join(tmpdir(), 'nereid-real-'));
  for (const model of models) writeModelTree(path, model);
  const log: string[] = [];
  const engine = createEngine({
    repository: new ModelRepository({ paths: [path] }),
    backends: [new PyTorchBackend()],
    logger: loggerInto(log),
    ...options,
  });
  const { failures } = await engine.load();
  const responder = new RecordingResponder();
  const send = (init: Sent) => {
    const request = requestFor({ responder, ...init });
    engine.infer(request);
    return request;
  };
  const infer = async (modelName: string, ...inputs: readonly Tensor[]) => {
    const { outputs } = await responder.responseOf(send({ modelName, inputs }));
    return new Map(outputs.map((output) => [output.name, output]));
  };
  const dispose = async () => {
    await engine.stop({ timeoutMs: 10_000 });
    rmSync(path, { recursive: true });
  };
  return { engine, responder, failures, log, send, infer, [Symbol.asyncDispose]: dispose };
}

function loggerInto(log: string[]) {
  const level = (name: string) => (_fields: object, message: string) => void log.push(`${name}: ${message}`);
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') };
}

/** The same with one model, which must load. */
export async function serveReal(
  { name, config, file }: RealModel,
  scheduler: EngineOptions['scheduler'] = {},
): Promise<RealEngine> {
  const real = await serveRepository([{ name, config, versions: { 1: file } }], { scheduler });
  const [failure] = real.failures;
  if (failure !== undefined) {
    await real[Symbol.asyncDispose]();
    throw new Error(failure.reason);
  }
  const { engine, responder } = real;
  return {
    engine,
    responder,
    send: (init) => real.send({ modelName: name, ...init }),
    answered: () => responder.answers.map(({ request, error }) => (error ? `${request.id} ${error.code}` : request.id)),
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
}
