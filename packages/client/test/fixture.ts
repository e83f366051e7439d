/** Real engine and real sockets; the models are computed by the fake backend. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DATATYPES,
  type InferenceRequest,
  InferenceServerError,
  type LogChanges,
  type LogControl,
  type LogSettings,
} from '@nereid/core';
import { type GrpcAddress, type GrpcOptions, GrpcServer } from '@nereid/grpc';
import { createServerFactory, type NereidHttpOptions, nereidHttp } from '@nereid/http';
import { ModelRepository } from '@nereid/repository';
import { createEngine, type InferenceEngine } from '@nereid/serving';
import { SharedMemoryRegions } from '@nereid/shared-memory';
import { addSub, FakeBackend, identity, tensor, valuesOf } from '@nereid/testing';
import { createTracer, parseTraceConfig } from '@nereid/tracing';
import { fastify } from 'fastify';

const io = (kind: string, name: string, type: string, dims: string) =>
  `${kind} [ { name: "${name}" data_type: ${type} dims: [ ${dims} ] } ]\n`;

/** `id_*` give their input `x` back as `y`; `repeat` answers with each value of `x`, a negative one is a failure. */
const CONFIGS = new Map<string, string>([
  [
    'addsub',
    'max_batch_size: 4\nversion_policy: { all { } }\n' +
      ['a', 'b'].map((name) => io('input', name, 'TYPE_FP32', '3')).join('') +
      ['sum', 'difference'].map((name) => io('output', name, 'TYPE_FP32', '3')).join(''),
  ],
  [
    'repeat',
    `model_transaction_policy { decoupled: true }\n${io('input', 'x', 'TYPE_FP32', '-1')}${io('output', 'y', 'TYPE_FP32', '-1')}`,
  ],
]);
for (const [datatype, { configName }] of Object.entries(DATATYPES))
  CONFIGS.set(`id_${datatype.toLowerCase()}`, io('input', 'x', configName, '-1') + io('output', 'y', configName, '-1'));

function eachValue(request: InferenceRequest) {
  const [x] = request.inputs;
  return (x === undefined ? [] : valuesOf(x)).map((value) =>
    Number(value) < 0
      ? new InferenceServerError('INTERNAL', 'a negative value')
      : [tensor({ name: 'y', values: [Number(value)] })],
  );
}

function writeRepository(root: string): void {
  for (const [name, config] of CONFIGS) {
    for (const version of name === 'addsub' ? ['1', '3'] : ['1']) {
      mkdirSync(join(root, name, version), { recursive: true });
      writeFileSync(join(root, name, version, 'model.fake'), '');
    }
    writeFileSync(join(root, name, 'config.pbtxt'), `backend: "fake"\n${config}`);
  }
}

class Log implements LogControl {
  settings: LogSettings = { file: '', info: true, warning: true, error: true, verboseLevel: 0, format: 'default' };
  update(changes: LogChanges): void {
    this.settings = { ...this.settings, ...changes };
  }
}

const clock = { nowMicros: () => performance.now() * 1000, at: () => ({ cancel() {} }) };

export interface Served extends AsyncDisposable {
  readonly engine: InferenceEngine;
  readonly url: string;
  readonly grpcUrl: string;
}

export type ServeOptions = Partial<NereidHttpOptions> & {
  /** Calls that take a key, over both protocols. */
  readonly restricted?: NereidHttpOptions['restrictedApis'];
  readonly responseCompression?: GrpcOptions['responseCompression'];
  /** Where gRPC listens; default: a free port. */
  readonly grpcPlace?: GrpcAddress;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Stands between the front ends and the engine. */
  readonly wrap?: (engine: InferenceEngine) => InferenceEngine;
};

/** Serves the models over sockets of 127.0.0.1. */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const { wrap = (engine) => engine, restricted = [], responseCompression = 'none', tls, ...more } = options;
  const { grpcPlace = { host: '127.0.0.1', port: 0 }, ...rest } = more;
  const root = mkdtempSync(join(tmpdir(), 'nereid-client-'));
  writeRepository(root);
  const models = {
    addsub: {
      compute: addSub({ inputs: ['a', 'b'], outputs: ['sum', 'difference'] }),
      updateWeights: async () => ({ updated: ['w'], kept: [], ignored: [] }),
    },
    repeat: { responses: { of: eachValue } },
  };
  const backend = new FakeBackend({ compute: identity(['y']), models });
  const serving = createEngine({ repository: new ModelRepository({ paths: [root] }), backends: [backend] });
  await serving.load();
  const engine = wrap(serving);
  const config = parseTraceConfig({ settings: [`triton,file=${join(root, 'trace.json')}`] });
  const tracer = await createTracer({ config, clock });
  const front = {
    ...(tls && { tls }),
    engine,
    tracer,
    log: new Log(),
    sharedMemory: new SharedMemoryRegions({ isEnabled: true }),
    allowWeightUpdates: true,
    restrictedApis: restricted,
    ...rest,
  };
  const grpc = new GrpcServer({
    engine,
    tracer,
    log: front.log,
    sharedMemory: front.sharedMemory,
    restrictedProtocols: restricted,
    responseCompression,
    ...(tls && { tls }),
  });
  const grpcPort = await grpc.listen(grpcPlace);
  const app = fastify({ serverFactory: createServerFactory(front) });
  await app.register(nereidHttp, front);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const dispose = async () => {
    app.server.closeAllConnections();
    await app.close();
    grpc.abort();
    await grpc.close();
    await serving.stop();
    await tracer.close();
    rmSync(root, { recursive: true, force: true });
  };
  return { engine, url, grpcUrl: `grpc://127.0.0.1:${grpcPort}`, [Symbol.asyncDispose]: dispose };
}

export interface Scripted extends AsyncDisposable {
  readonly url: string;
  /** Paths of the requests so far. */
  readonly seen: readonly string[];
}

/** A server that answers as it is told, for what ours does not do. */
export async function scripted(
  listener: (...call: [...Parameters<RequestListener>, number]) => void,
): Promise<Scripted> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    request.resume();
    listener(request, response, seen.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dispose = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, [Symbol.asyncDispose]: dispose };
}
