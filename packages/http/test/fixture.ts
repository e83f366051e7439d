/** Real engine, real fastify, real sockets; the models are computed by the fake backend. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DATATYPES,
  type Datatype,
  type InferenceRequest,
  type InferenceResponse,
  InferenceServerError,
  type Logger,
  type WeightsSource,
} from '@nereid/core';
import { ModelRepository } from '@nereid/repository';
import { createEngine, type InferenceEngine } from '@nereid/serving';
import { addSub, FakeBackend, type FakeModelOptions, identity } from '@nereid/testing';
import fastify, { type FastifyInstance } from 'fastify';
import { createServerFactory, nereidHttp, type ServerFactoryOptions } from '../src/index.ts';

class RecordingLogger implements Logger {
  readonly errors: { fields: object; message: string }[] = [];
  debug() {}
  info() {}
  warn() {}
  error(fields: object, message: string) {
    this.errors.push({ fields, message });
  }
}

const io = (kind: string, name: string, type: string, dims: string) =>
  `${kind} [ { name: "${name}" data_type: ${type} dims: [ ${dims} ] } ]\n`;

/** Configurations by model; `id_*` give their input `x` back as `OUTPUT__0`. */
const CONFIGS = new Map<string, string>([
  [
    'addsub',
    'max_batch_size: 4\nversion_policy: { all { } }\n' +
      ['a', 'b'].map((name) => io('input', name, 'TYPE_FP32', '3')).join('') +
      ['OUTPUT__0', 'OUTPUT__1'].map((name) => io('output', name, 'TYPE_FP32', '3')).join(''),
  ],
  ['picky', `max_batch_size: 4\n${io('input', 'x', 'TYPE_FP32', '2')}${io('output', 'OUTPUT__0', 'TYPE_FP32', '2')}`],
  [
    'repeat',
    `model_transaction_policy { decoupled: true }\n${io('input', 'x', 'TYPE_FP32', '2')}${io('output', 'OUTPUT__0', 'TYPE_FP32', '2')}`,
  ],
  ['broken', `${io('input', 'x', 'TYPE_FP32', '2')}${io('output', 'OUTPUT__0', 'TYPE_FP32', '2')}`],
]);
for (const [datatype, { configName }] of Object.entries(DATATYPES)) {
  CONFIGS.set(
    `id_${datatype.toLowerCase()}`,
    io('input', 'x', configName, '-1') + io('output', 'OUTPUT__0', configName, '-1'),
  );
}

const ADD_SUB: FakeModelOptions = { compute: addSub({ inputs: ['a', 'b'], outputs: ['OUTPUT__0', 'OUTPUT__1'] }) };

function refuseNegative(request: InferenceRequest) {
  const [x] = request.inputs;
  if (x !== undefined && ((x.data[3] ?? 0) & 0x80) !== 0) throw new InferenceServerError('INTERNAL', 'negative');
  return identity(['OUTPUT__0'])(request);
}

function writeRepository(): string {
  const root = mkdtempSync(join(tmpdir(), 'nereid-http-'));
  for (const [name, config] of CONFIGS) {
    for (const version of name === 'addsub' ? ['1', '3'] : ['1']) {
      mkdirSync(join(root, name, version), { recursive: true });
      writeFileSync(join(root, name, version, 'model.fake'), '');
    }
    writeFileSync(join(root, name, 'config.pbtxt'), `backend: "fake"\n${config}`);
  }
  return root;
}

export interface Served extends AsyncDisposable {
  readonly app: FastifyInstance;
  readonly log: RecordingLogger;
  readonly engine: InferenceEngine;
  /** Base address; '' when it does not listen. */
  readonly url: string;
  readonly port: number;
}

export type ServeOptions = Partial<ServerFactoryOptions> & {
  /** Whether inference goes through the server factory (default) or fastify's router. */
  readonly factory?: boolean;
  /** Stands between the front end and the engine. */
  readonly wrap?: (engine: InferenceEngine) => InferenceEngine;
};

/** Serves the models over a socket of 127.0.0.1. */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const { factory = true, wrap = (engine) => engine, ...rest } = options;
  const root = writeRepository();
  const updateWeights = async (source: WeightsSource) => ({ updated: [JSON.stringify(source)], kept: [], ignored: [] });
  const models = {
    addsub: { ...ADD_SUB, updateWeights },
    picky: { compute: refuseNegative },
    broken: { compute: () => [] },
    repeat: { responses: { of: (request: InferenceRequest) => [request, request].map(identity(['OUTPUT__0'])) } },
  };
  const backend = new FakeBackend({ compute: identity(['OUTPUT__0']), models });
  const serving = createEngine({ repository: new ModelRepository({ paths: [root] }), backends: [backend] });
  await serving.load();
  const log = new RecordingLogger();
  const engine = wrap(serving);
  const front = { engine, logger: log, ...rest };
  const app = factory ? fastify({ serverFactory: createServerFactory(front) }) : fastify();
  await app.register(nereidHttp, front);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const dispose = async () => {
    app.server.closeAllConnections();
    await app.close();
    await serving.stop();
    rmSync(root, { recursive: true, force: true });
  };
  const { port } = app.server.address() as AddressInfo;
  return { app, log, engine, url, port, [Symbol.asyncDispose]: dispose };
}

export function responseOf(request: InferenceRequest, init: Partial<InferenceResponse> = {}): InferenceResponse {
  return { modelName: request.modelName, modelVersion: '1', outputs: [], ...init };
}

export const f32 = (...values: number[]) => Buffer.from(Float32Array.from(values).buffer);

/** `a` and `b` of addsub as JSON: 0, 1, 2 … and ones. */
export const ADD_SUB_JSON = {
  inputs: [
    { name: 'a', datatype: 'FP32', shape: [1, 3], data: [0, 1, 2] },
    { name: 'b', datatype: 'FP32', shape: [1, 3], data: [1, 1, 1] },
  ],
};

/** A JSON header and blobs as the body and headers of a request. */
export function binaryBody(header: object, ...blobs: readonly Uint8Array[]) {
  const text = Buffer.from(JSON.stringify(header));
  return {
    body: Buffer.concat([text, ...blobs]),
    headers: { 'inference-header-content-length': String(text.length), 'content-type': 'application/octet-stream' },
  };
}

export function binaryInput(name: string, datatype: Datatype, shape: readonly number[], bytes: number) {
  return { name, datatype, shape, parameters: { binary_data_size: bytes } };
}
