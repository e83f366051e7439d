/** An engine with one model behind both protocols, traced. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestOrigin } from '@nereid/core';
import { GrpcServer } from '@nereid/grpc';
import { createServerFactory, nereidHttp } from '@nereid/http';
import { ModelRepository } from '@nereid/repository';
import { createEngine } from '@nereid/serving';
import { FakeBackend } from '@nereid/testing';
import { fastify } from 'fastify';
import { createTracer, parseTraceConfig } from '../src/index.ts';
import { inferOverGrpc } from './grpc-request.ts';

const CONFIG = `backend: "fake"
max_batch_size: 4
input { name: "x" data_type: TYPE_FP32 dims: [ 2 ] }
output { name: "x" data_type: TYPE_FP32 dims: [ 2 ] }
dynamic_batching { }
`;
const clock = { nowMicros: () => performance.now() * 1000, at: () => ({ cancel() {} }) };

export async function traced(settings: (directory: string) => readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'nereid-tracing-'));
  mkdirSync(join(directory, 'models', 'm', '1'), { recursive: true });
  writeFileSync(join(directory, 'models', 'm', 'config.pbtxt'), CONFIG);
  const repository = new ModelRepository({ paths: [join(directory, 'models')] });
  const origins: (RequestOrigin | undefined)[] = [];
  const engine = createEngine({
    repository,
    backends: [new FakeBackend()],
    onFinished: ({ request }) => origins.push(request.origin),
  });
  await engine.load();
  const tracer = await createTracer({ config: parseTraceConfig({ settings: settings(directory) }), clock });
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
    tracer,
    url,
    stop,
    infer: (id: string, headers: Record<string, string> = {}) => infer(url, id, headers),
    /** The same request over gRPC; resolves with the status. */
    inferOverGrpc: (id: string, metadata: Record<string, string> = {}) =>
      inferOverGrpc(`127.0.0.1:${grpcPort}`, id, metadata),
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

async function settingsOf(url: string, body?: object) {
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, json: JSON.parse(await response.text()) };
}
