import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Backend, InferenceRequest, Logger } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { ModelRepository } from '@nereid/repository';
import { addSub, FakeBackend, RecordingResponder, requestFor, tensor } from '@nereid/testing';
import { createEngine, type EngineOptions, type ServingEngine } from '../src/index.ts';

/** Files to create: their content, `null` for a directory, or where a link leads. */
export type Tree = Readonly<Record<string, string | null | { readonly link: string }>>;

/** A batching model with two FP32 inputs and two outputs, run by the fake backend. */
export const ADD_SUB = `backend: "fake"
max_batch_size: 4
input [ { name: "a" data_type: TYPE_FP32 dims: [ 3 ] }, { name: "b" data_type: TYPE_FP32 dims: [ 3 ] } ]
output [ { name: "sum" data_type: TYPE_FP32 dims: [ 3 ] }, { name: "diff" data_type: TYPE_FP32 dims: [ 3 ] } ]
`;

export const GOOD: Tree = { 'good/config.pbtxt': ADD_SUB, 'good/1/model.fake': '' };

export class RecordingLogger implements Logger {
  readonly lines: string[] = [];
  /** Of each line. */
  readonly fields: object[] = [];
  debug = (fields: object, message: string): void => this.#take(fields, `debug ${message}`);
  info = (fields: object, message: string): void => this.#take(fields, `info ${message}`);
  warn = (fields: object, message: string): void => this.#take(fields, `warn ${message}`);
  error = (fields: object, message: string): void => this.#take(fields, `error ${message}`);

  at(level: 'info' | 'warn' | 'error'): string[] {
    return this.lines.filter((line) => line.startsWith(`${level} `)).map((line) => line.slice(level.length + 1));
  }

  #take(fields: object, line: string): void {
    this.fields.push(fields);
    this.lines.push(line);
  }
}

export interface Served extends AsyncDisposable {
  readonly path: string;
  readonly engine: ServingEngine;
  readonly backend: FakeBackend;
  readonly log: RecordingLogger;
}

export interface ServeOptions extends Partial<Omit<EngineOptions, 'repository' | 'backends' | 'logger'>> {
  readonly backend?: FakeBackend;
  readonly backends?: readonly Backend<ModelConfig>[];
  readonly configName?: string;
}

/** An engine over a repository on disk, not loaded yet; stopped and removed when disposed. */
export function serve(tree: Tree, options: ServeOptions = {}): Served {
  const path = mkdtempSync(join(tmpdir(), 'nereid-serving-'));
  for (const [name, content] of Object.entries(tree)) create(join(path, name), content);
  const { backend = new FakeBackend({ compute: addSub() }), backends = [backend], configName, ...rest } = options;
  const log = new RecordingLogger();
  const repository = new ModelRepository({ paths: [path], configName });
  const engine = createEngine({ ...rest, repository, backends, logger: log });
  const dispose = async (): Promise<void> => {
    await engine.stop({ timeoutMs: 5000 });
    rmSync(path, { recursive: true, force: true });
  };
  return { path, engine, backend, log, [Symbol.asyncDispose]: dispose };
}

/** As `serve`, and loaded. */
export async function loaded(tree: Tree, options: ServeOptions = {}): Promise<Served> {
  const served = serve(tree, options);
  await served.engine.load();
  return served;
}

function create(path: string, content: Tree[string] | undefined): void {
  mkdirSync(content === null ? path : dirname(path), { recursive: true });
  if (typeof content === 'string') writeFileSync(path, content);
  else if (content !== null && content !== undefined) symlinkSync(content.link, path);
}

/** A request that fits `ADD_SUB`. */
export function addSubRequest(
  init: Parameters<typeof requestFor>[0] & { readonly rows?: number } = {},
): InferenceRequest {
  const { rows = 1, ...rest } = init;
  const values = Array.from({ length: rows * 3 }, (_, i) => i);
  const shape = [rows, 3];
  const inputs = [tensor({ name: 'a', values, shape }), tensor({ name: 'b', values, shape })];
  return requestFor({ modelName: 'good', inputs, ...rest });
}

/** Sends a request and waits for its final answer. */
export function ask(engine: ServingEngine, init: Parameters<typeof addSubRequest>[0] = {}) {
  const responder = new RecordingResponder();
  const request = addSubRequest({ ...init, responder });
  engine.infer(request);
  return responder.finalOf(request);
}
