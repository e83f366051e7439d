/** An engine with models of several kinds behind both protocols, traced. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, elements, InferenceServerError, type RequestOrigin } from '@nereid/core';
import { GrpcServer } from '@nereid/grpc';
import { createServerFactory, nereidHttp } from '@nereid/http';
import { ModelRepository } from '@nereid/repository';
import { createEngine } from '@nereid/serving';
import { FakeBackend, type FakeModelOptions } from '@nereid/testing';
import { fastify } from 'fastify';
import { createTracer, parseTraceConfig, type TracerOptions } from '../src/index.ts';
import { inferOverGrpc, streamOverGrpc } from './grpc-request.ts';

const CONFIG = `backend: "fake"
max_batch_size: 4
input { name: "x" data_type: TYPE_FP32 dims: [ 2 ] }
output { name: "x" data_type: TYPE_FP32 dims: [ 2 ] }
dynamic_batching { }
`;
const nowMicros = () => performance.now() * 1000;
const clock: Clock = {
  nowMicros,
  at(micros, callback) {
    const timer = setTimeout(callback, Math.max(0, (micros - nowMicros()) / 1000));
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Models beside `m`, by what their configuration and behaviour say more. */
const MODELS: Readonly<Record<string, { readonly config: string; readonly model: FakeModelOptions }>> = {
  /** As many responses as the second value says. */
  decoupled: {
    config: `${CONFIG}model_transaction_policy { decoupled: true }`,
    model: {
      responses: {
        of: ({ inputs: [x] }) =>
          Array.from({ length: x === undefined ? 0 : (elements(x)[1] as number) }, () => (x === undefined ? [] : [x])),
      },
    },
  },
  sequences: { config: CONFIG.replace('dynamic_batching { }', 'sequence_batching { }'), model: {} },
  /** One request at a time, and one more may wait. */
  slow: {
    config: CONFIG.replace('{ }', '{ default_queue_policy { max_queue_size: 1 } }').replace(': 4', ': 1'),
    model: { serviceMicros: 400_000 },
  },
  /** One request at a time; others have no time to wait. */
  hasty: {
    config: CONFIG.replace('{ }', '{ default_queue_policy { default_timeout_microseconds: 1000 } }').replace(
      ': 4',
      ': 1',
    ),
    model: { serviceMicros: 400_000 },
  },
  broken: {
    config: CONFIG,
    model: {
      compute: () => {
        throw new InferenceServerError('INTERNAL', 'the cat sat on the keyboard');
      },
    },
  },
};

type TracedOptions = Pick<TracerOptions, 'maxResponses'>;

/** @param settings  for `--trace-config`, from a directory for files */
export async function traced(settings: (directory: string) => readonly string[], options: TracedOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'nereid-tracing-'));
  mkdirSync(join(directory, 'models', 'm', '1'), { recursive: true });
  writeFileSync(join(directory, 'models', 'm', 'config.pbtxt'), CONFIG);
  for (const [name, { config }] of Object.entries(MODELS)) {
    mkdirSync(join(directory, 'models', name, '1'), { recursive: true });
    writeFileSync(join(directory, 'models', name, 'config.pbtxt'), config);
  }
  const repository = new ModelRepository({ paths: [join(directory, 'models')] });
  const traceparents: (string | undefined)[] = [];
  const origins: (RequestOrigin | undefined)[] = [];
  const engine = createEngine({
    repository,
    backends: [
      new FakeBackend({
        clock,
        models: Object.fromEntries(Object.entries(MODELS).map(([name, { model }]) => [name, model])),
      }),
    ],
    clock,
    onFinished: ({ request }) => {
      origins.push(request.origin);
      traceparents.push(request.traceparent);
    },
  });
  await engine.load();
  const tracer = await createTracer({ config: parseTraceConfig({ settings: settings(directory) }), clock, ...options });
  const front = { engine, tracer };
  const app = fastify({ serverFactory: createServerFactory(front) });
  await app.register(nereidHttp, front);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const grpcServer = new GrpcServer(front);
  const grpcPort = await grpcServer.listen({ host: '127.0.0.1', port: 0 });
  const stop = async () => {
    app.server.closeAllConnections();
    await grpcServer.close();
    await app.close();
    await engine.stop();
    await tracer.close();
  };
  return {
    directory,
    /** Where each request came from, as the engine is told. */
    origins,
    /** What a model is told of the span of each request. */
    traceparents,
    tracer,
    /** How many requests of a model run, and how many wait. */
    load: (model: string) => engine.statistics(model).flatMap(({ executing, pending }) => [executing, pending]),
    url,
    stop,
    infer: (id: string, headers: Record<string, string> = {}) => infer(url, id, headers),
    /** The same request over gRPC; resolves with the status. */
    inferOverGrpc: (id: string, metadata: Record<string, string> = {}, modelName = 'm') =>
      inferOverGrpc(`127.0.0.1:${grpcPort}`, { id, metadata, modelName }),
    /** Requests on one stream; resolves with what came back. */
    streamOverGrpc: (requests: readonly object[]) => streamOverGrpc(`127.0.0.1:${grpcPort}`, requests),
    /** A request over HTTP, read to its end; resolves with the status and the body. */
    post: (path: string, body: object, signal?: AbortSignal) => post(`${url}/v2/models/${path}`, body, signal),
    settings: (path: string, body?: object) => settingsOf(`${url}/v2${path}/trace/setting`, body),
    remove: () => rmSync(directory, { recursive: true }),
  };
}

async function infer(url: string, id: string, headers: Record<string, string>): Promise<number> {
  const inputs = [{ name: 'x', datatype: 'FP32', shape: [1, 2], data: [1, 2.5] }];
  const body = JSON.stringify({ id, inputs });
  const response = await fetch(`${url}/v2/models/m/infer`, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

async function post(url: string, body: object, signal?: AbortSignal) {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body), signal: signal ?? null });
  return { status: response.status, text: await response.text() };
}

async function settingsOf(url: string, body?: object) {
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, json: JSON.parse(await response.text()) };
}
