/** TorchScript models on disk, each with a batching library, served by a whole engine. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Logger } from '@nereid/core';
import { PyTorchBackend } from '@nereid/pytorch-backend';
import { ModelRepository } from '@nereid/repository';
import { createEngine, type EngineOptions, type ModelStatistics, type ServingEngine } from '@nereid/serving';
import { RecordingResponder, requestFor, tensor, testModel } from '@nereid/testing';
import { openStrategyLibrary } from '../src/index.ts';

export const CONFIG = `name: "m"
platform: "pytorch_libtorch"
max_batch_size: 16
input [ { name: "a" data_type: TYPE_FP32 dims: [ 4 ] }, { name: "b" data_type: TYPE_FP32 dims: [ 4 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 4 ] }, { name: "OUTPUT__1" data_type: TYPE_FP32 dims: [ 4 ] } ]
dynamic_batching {}
`;

export const parameter = (key: string, value: string) =>
  `parameters { key: "${key}" value { string_value: "${value}" } }\n`;

class RecordingLog implements Logger {
  readonly errors: string[] = [];
  readonly infos: string[] = [];
  debug(): void {}
  info(_: object, message: string): void {
    this.infos.push(message);
  }
  warn(): void {}
  error(_: object, message: string): void {
    this.errors.push(message);
  }
}

export interface Served extends AsyncDisposable {
  readonly engine: ServingEngine;
  readonly directory: string;
  readonly log: RecordingLog;
  /** Why version 1 does not serve. */
  readonly reason: string | undefined;
}

/** @param libraries  where each file is copied to, relative to the model directory */
export async function serve(
  libraries: Readonly<Record<string, string>> = {},
  { config = CONFIG, ...options }: Partial<EngineOptions> & { readonly config?: string } = {},
): Promise<Served> {
  const root = mkdtempSync(join(tmpdir(), 'nereid-strategies-'));
  const directory = join(root, 'm');
  mkdirSync(join(directory, '1'), { recursive: true });
  writeFileSync(join(directory, 'config.pbtxt'), config);
  copyFileSync(join(testModel('addsub'), 'model.pt'), join(directory, '1', 'model.pt'));
  for (const [place, library] of Object.entries(libraries)) {
    mkdirSync(dirname(join(directory, place)), { recursive: true });
    copyFileSync(library, join(directory, place));
  }
  const log = new RecordingLog();
  const engine = createEngine({
    repository: new ModelRepository({ paths: [root] }),
    backends: [new PyTorchBackend({ cores: 1 })],
    batchStrategies: { openLibrary: openStrategyLibrary, backendDirectory: join(directory, 'backends') },
    logger: log,
    ...options,
  });
  await engine.load();
  const dispose = async () => {
    await engine.stop();
    rmSync(root, { recursive: true });
  };
  return { engine, directory, log, reason: engine.index()[0]?.reason, [Symbol.asyncDispose]: dispose };
}

/** Sends so many requests of 32 bytes in one turn of the event loop, and waits until all are answered rightly. */
export async function send(engine: ServingEngine, count: number): Promise<ModelStatistics | undefined> {
  const responder = new RecordingResponder();
  const requests = Array.from({ length: count }, (_, i) => {
    const input = (name: string, value: number) => tensor({ name, shape: [1, 4], values: new Array(4).fill(value) });
    return requestFor({ modelName: 'm', id: `r${i}`, inputs: [input('a', i), input('b', 1)], responder });
  });
  for (const request of requests) engine.infer(request);
  for (const [i, request] of requests.entries()) {
    const { outputs } = await responder.responseOf(request);
    const sum = outputs.find(({ name }) => name === 'OUTPUT__0');
    const first = sum && new DataView(sum.data.buffer, sum.data.byteOffset).getFloat32(0, true);
    if (first !== i + 1) throw new Error(`request ${i} got ${first}, which is another's answer`);
  }
  return engine.statistics('m')[0];
}
