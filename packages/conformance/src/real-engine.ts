import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InferenceRequest, Tensor } from '@nereid/core';
import { PyTorchBackend } from '@nereid/pytorch-backend';
import { ModelRepository } from '@nereid/repository';
import { createEngine, type EngineOptions, type ServingEngine } from '@nereid/serving';
import { RecordingResponder, requestFor, testModel } from '@nereid/testing';

/** A model of one file with this configuration. */
export interface RealModel {
  readonly name: string;
  readonly config: string;
  /** Path of the model file below the test models, e.g. `addsub/model.pt`. */
  readonly file: string;
}

export interface RealEngine extends AsyncDisposable {
  readonly engine: ServingEngine;
  readonly responder: RecordingResponder;
  /** Sends a request; its answer comes to `responder`. */
  send(init: { readonly inputs: readonly Tensor[] } & Parameters<typeof requestFor>[0]): InferenceRequest;
  /** `id` or `id CODE` per answer so far, in order. */
  answered(): string[];
}

/** A real engine with the PyTorch backend and one model. Stopped and removed when disposed. */
export async function serveReal(
  { name, config, file }: RealModel,
  scheduler: EngineOptions['scheduler'] = {},
): Promise<RealEngine> {
  const path = mkdtempSync(join(tmpdir(), 'nereid-real-'));
  mkdirSync(join(path, name, '1'), { recursive: true });
  writeFileSync(join(path, name, 'config.pbtxt'), config);
  const [model = '', ...rest] = file.split('/');
  cpSync(join(testModel(model), ...rest), join(path, name, '1', 'model.pt'));
  const engine = createEngine({
    repository: new ModelRepository({ paths: [path] }),
    backends: [new PyTorchBackend()],
    scheduler,
  });
  const { failures } = await engine.load();
  if (failures[0] !== undefined) throw new Error(failures[0].reason);
  const responder = new RecordingResponder();
  return {
    engine,
    responder,
    send: (init) => {
      const request = requestFor({ modelName: name, responder, ...init });
      engine.infer(request);
      return request;
    },
    answered: () => responder.answers.map(({ request, error }) => (error ? `${request.id} ${error.code}` : request.id)),
    [Symbol.asyncDispose]: async () => {
      await engine.stop({ timeoutMs: 10_000 });
      rmSync(path, { recursive: true });
    },
  };
}
