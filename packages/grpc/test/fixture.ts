/** Real engine, real HTTP/2 sockets, the client of grpc-js; the models are computed by the fake backend. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { DATATYPES, type InferenceRequest, InferenceServerError } from '@nereid/core';
import { ModelRepository } from '@nereid/repository';
import { createEngine, type InferenceEngine } from '@nereid/serving';
import { addSub, FakeBackend, identity, tensor, valuesOf } from '@nereid/testing';
import { GrpcServer, type GrpcServerOptions } from '../src/index.ts';

const io = (kind: string, name: string, type: string, dims: string) =>
  `${kind} [ { name: "${name}" data_type: ${type} dims: [ ${dims} ] } ]\n`;

const CONFIGS = new Map([
  [
    'addsub',
    `max_batch_size: 4\n${['a', 'b'].map((name) => io('input', name, 'TYPE_FP32', '3')).join('')}` +
      ['OUTPUT__0', 'OUTPUT__1'].map((name) => io('output', name, 'TYPE_FP32', '3')).join(''),
  ],
  [
    'repeat',
    `model_transaction_policy { decoupled: true }\n${io('input', 'x', 'TYPE_FP32', '-1')}${io('output', 'OUTPUT__0', 'TYPE_FP32', '-1')}`,
  ],
  ['picky', `max_batch_size: 4\n${io('input', 'x', 'TYPE_FP32', '2')}${io('output', 'OUTPUT__0', 'TYPE_FP32', '2')}`],
]);
for (const [datatype, { configName }] of Object.entries(DATATYPES)) {
  CONFIGS.set(
    `id_${datatype.toLowerCase()}`,
    io('input', 'x', configName, '-1') + io('output', 'OUTPUT__0', configName, '-1'),
  );
}

function refuseNegative(request: InferenceRequest) {
  const [x] = request.inputs;
  if (x !== undefined && ((x.data[3] ?? 0) & 0x80) !== 0) throw new InferenceServerError('INTERNAL', 'négative: 100%');
  return identity(['OUTPUT__0'])(request);
}

/** Responses of a request to `repeat` that may be unreleased. */
export const REPEAT_WINDOW = 4;

/** The model `repeat` gives each value of `x` as a response of its own, as many of it as `size` says; a negative one is a failure. */
function eachValue(request: InferenceRequest) {
  const [x] = request.inputs;
  const size = Number(request.parameters.get('size') ?? 1);
  return (x === undefined ? [] : valuesOf(x)).map((value) =>
    Number(value) < 0
      ? new InferenceServerError('INTERNAL', 'negative')
      : [tensor({ name: 'OUTPUT__0', values: new Array(size).fill(value) })],
  );
}

function writeRepository(): string {
  const root = mkdtempSync(join(tmpdir(), 'nereid-grpc-'));
  for (const [name, config] of CONFIGS) {
    mkdirSync(join(root, name, '1'), { recursive: true });
    writeFileSync(join(root, name, '1', 'model.fake'), '');
    writeFileSync(join(root, name, 'config.pbtxt'), `backend: "fake"\n${config}`);
  }
  return root;
}

const proto = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const definition = grpc.loadPackageDefinition(
  loadSync([proto('../proto/grpc_service.proto'), proto('../proto/health.proto')], {
    keepCase: true,
    longs: String,
    enums: String,
    includeDirs: [proto('../../model-config/proto'), proto('../proto')],
  }),
);

/** A service of a loaded definition; what it has depends on the .proto, which TypeScript does not read. */
function service(path: readonly string[]): grpc.ServiceClientConstructor {
  const found = path.reduce<unknown>((level, name) => (level as Record<string, unknown>)[name], definition);
  return found as grpc.ServiceClientConstructor;
}

export const InferenceService = service(['inference', 'GRPCInferenceService']);
export const HealthService = service(['grpc', 'health', 'v1', 'Health']);

/** What a call brought: its status, and its messages with bytes as Buffers and 64-bit integers as text. */
export interface Outcome {
  readonly code: string;
  readonly details: string;
  // biome-ignore lint/suspicious/noExplicitAny: messages are what the .proto says
  readonly messages: readonly any[];
}

export interface Served extends AsyncDisposable {
  readonly server: GrpcServer;
  readonly engine: InferenceEngine;
  readonly port: number;
  readonly client: grpc.Client;
  /** One message each way. */
  unary(rpc: string, request: object, options?: grpc.CallOptions): Promise<Outcome>;
  /** The requests, then the end of them; everything that comes back. */
  stream(requests: readonly object[], metadata?: grpc.Metadata): Promise<Outcome>;
}

export type ServeOptions = Partial<GrpcServerOptions> & {
  /** Stands between the front end and the engine. */
  readonly wrap?: (engine: InferenceEngine) => InferenceEngine;
  readonly channel?: grpc.ChannelOptions;
};

export async function serve({ wrap = (engine) => engine, channel = {}, ...rest }: ServeOptions = {}): Promise<Served> {
  const root = writeRepository();
  const models = {
    addsub: { compute: addSub({ inputs: ['a', 'b'], outputs: ['OUTPUT__0', 'OUTPUT__1'] }) },
    picky: { compute: refuseNegative },
    repeat: { responses: { of: eachValue, window: REPEAT_WINDOW } },
  };
  const backend = new FakeBackend({ compute: identity(['OUTPUT__0']), models });
  const serving = createEngine({ repository: new ModelRepository({ paths: [root] }), backends: [backend] });
  await serving.load();
  const engine = wrap(serving);
  const server = new GrpcServer({ engine, ...rest });
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  const client = new InferenceService(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    ...channel,
  });
  const dispose = async () => {
    client.close();
    server.abort();
    await server.close();
    await serving.stop();
    rmSync(root, { recursive: true, force: true });
  };
  return {
    server,
    engine,
    port,
    client,
    unary: (rpc, request, options) => unary(client, rpc, { request, options }),
    stream: (requests, metadata) => stream(client, requests, metadata),
    [Symbol.asyncDispose]: dispose,
  };
}

export function unary(
  client: grpc.Client,
  rpc: string,
  { request, options = {} }: { readonly request: object; readonly options?: grpc.CallOptions | undefined },
): Promise<Outcome> {
  return new Promise((resolve) => {
    // biome-ignore lint/suspicious/noExplicitAny: the methods of a client are made from the .proto
    (client as any)[rpc](request, options, (error: grpc.ServiceError | null, response: unknown) => {
      if (error) resolve({ code: grpc.status[error.code] ?? '', details: error.details, messages: [] });
      else resolve({ code: 'OK', details: '', messages: [response] });
    });
  });
}

function stream(client: grpc.Client, requests: readonly object[], metadata = new grpc.Metadata()): Promise<Outcome> {
  return new Promise((resolve) => {
    // biome-ignore lint/suspicious/noExplicitAny: the methods of a client are made from the .proto
    const call = (client as any).ModelStreamInfer(metadata) as grpc.ClientDuplexStream<object, unknown>;
    const messages: unknown[] = [];
    call.on('data', (message) => messages.push(message));
    call.on('error', () => {});
    call.on('status', ({ code, details }) => resolve({ code: grpc.status[code] ?? '', details, messages }));
    for (const request of requests) call.write(request);
    call.end();
  });
}

export const f32 = (...values: number[]) => Buffer.from(Float32Array.from(values).buffer);

/** A request for addsub: 0, 1, 2 and ones. */
export function addSubRequest(extra: object = {}): object {
  const input = (name: string) => ({ name, datatype: 'FP32', shape: [1, 3] });
  return {
    model_name: 'addsub',
    inputs: [input('a'), input('b')],
    raw_input_contents: [f32(0, 1, 2), f32(1, 1, 1)],
    ...extra,
  };
}
