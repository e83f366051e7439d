/** Recorded calls as a client of ours makes them, and recorded answers as it receives them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync, inflateSync } from 'node:zlib';
import grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { HttpExchange, HttpReply, HttpTransport, InferRequest } from '@nereid/client';
import { type DecodedRequest, parseJson, RequestDecoder } from '@nereid/protocol';
import type { GrpcExchange } from './grpc-recording.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** An exchange with every number as it was written. */
export interface RecordedExchange {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly answer: {
    readonly status: number;
    readonly json?: unknown;
    readonly text?: string;
    readonly binary?: string;
  };
}

export function readRecorded(): readonly RecordedExchange[] {
  const lines = readFileSync(path('../golden/http.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => parseJson(line) as unknown as RecordedExchange);
}

const decoder = new RequestDecoder();

/** What a body of an inference says, whichever of its forms it has. */
export function decodeBody(url: string, headers: Readonly<Record<string, string>>, body: Uint8Array): DecodedRequest {
  const [, model = '', version = ''] = /\/v2\/models\/([^/]+)(?:\/versions\/(\d+))?\/infer$/.exec(url) ?? [];
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const length = named['inference-header-content-length'];
  const encoding = named['content-encoding'];
  const plain = encoding === 'gzip' ? gunzipSync(body) : encoding === 'deflate' ? inflateSync(body) : body;
  return decoder.decode({
    target: { modelName: decodeURIComponent(model), modelVersion: version },
    body: plain,
    headerLength: length === undefined ? undefined : Number(length),
  });
}

/** The call of a client that says the same. */
export function requestOf(decoded: DecodedRequest): InferRequest {
  const { id, inputs, requestedOutputs, parameters, classes } = decoded;
  return {
    model: decoded.modelName,
    version: decoded.modelVersion,
    id,
    inputs,
    outputs: [...(requestedOutputs ?? [])].map((name) => {
      const count = classes?.get(name);
      return count === undefined ? name : { name, classes: count };
    }),
    parameters: Object.fromEntries(parameters),
    priority: Number(decoded.priority),
    queueTimeoutMicroseconds: Number(decoded.timeoutMicroseconds),
    ...(decoded.correlationId !== 0 && {
      sequence: { id: decoded.correlationId, start: decoded.sequenceStart, end: decoded.sequenceEnd },
    }),
  };
}

/** Answers each exchange as the original answered the recorded one of the same method and path. */
export class RecordedTransport implements HttpTransport {
  readonly sent: HttpExchange[] = [];
  readonly #exchanges: readonly RecordedExchange[];

  constructor(exchanges: readonly RecordedExchange[]) {
    this.#exchanges = exchanges;
  }

  async send(exchange: HttpExchange): Promise<HttpReply> {
    this.sent.push(exchange);
    const { pathname } = new URL(exchange.url);
    const found = this.#exchanges.find(({ method, path }) => method === exchange.method && path === pathname);
    if (found === undefined) throw new Error(`nobody sent ${exchange.method} ${pathname} to the original`);
    const { json, text = '', binary, status } = found.answer;
    const head = Buffer.from(json === undefined ? text : jsonText(json));
    const body = Buffer.concat([head, Buffer.from(binary ?? '', 'base64')]);
    const length = binary === undefined ? undefined : String(head.length);
    return {
      status,
      header: (name) => (name === 'inference-header-content-length' ? length : undefined),
      bytes: async () => new Uint8Array(body),
      chunks: async function* () {
        yield new Uint8Array(body);
      },
    };
  }
}

/** JSON as the original writes it: bigints as integers, NaN and the infinities as words. */
function jsonText(value: unknown): string {
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${jsonText(inner)}`)
    .join(',')}}`;
}

export interface RecordedGrpcServer extends AsyncDisposable {
  readonly url: string;
  /** What came, as the recording writes it. */
  readonly received: { readonly rpc: string; readonly request: unknown }[];
}

let definition: grpc.ServiceDefinition | undefined;

function serviceDefinition(): grpc.ServiceDefinition {
  definition ??= loadSync(path('../../grpc/proto/grpc_service.proto'), {
    keepCase: true,
    longs: String,
    enums: String,
    includeDirs: [path('../../model-config/proto')],
  })['inference.GRPCInferenceService'] as grpc.ServiceDefinition;
  return definition;
}

/** A server of grpc-js that answers with the recorded answer of one exchange, whatever comes. */
export async function serveRecorded({ answer }: GrpcExchange): Promise<RecordedGrpcServer> {
  const service = serviceDefinition();
  const received: { rpc: string; request: unknown }[] = [];
  const failure = { code: Reflect.get(grpc.status, answer.code) as grpc.status, details: 'recorded' };
  const unary =
    (rpc: string): grpc.handleUnaryCall<unknown, unknown> =>
    ({ request }, callback) => {
      received.push({ rpc, request: recorded(request) });
      if (answer.code === 'OK') callback(null, withBytes(answer.response));
      else callback(failure);
    };
  const stream: grpc.handleBidiStreamingCall<unknown, unknown> = (call) => {
    call.on('data', (request) => received.push({ rpc: 'ModelStreamInfer', request: recorded(request) }));
    call.on('end', () => {
      for (const response of answer.responses ?? []) call.write(withBytes(response));
      call.end();
    });
  };
  const server = new grpc.Server();
  server.addService(
    service,
    Object.fromEntries(Object.keys(service).map((rpc) => [rpc, rpc === 'ModelStreamInfer' ? stream : unary(rpc)])),
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return {
    url: `grpc://127.0.0.1:${port}`,
    received,
    [Symbol.asyncDispose]: async () => server.forceShutdown(),
  };
}

/** A message as the recording writes it: bytes as base64, 64-bit integers as text, what is not set left out. */
export function recorded(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('base64');
  if (Array.isArray(value)) return value.map(recorded);
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => inner !== undefined && !isUnset(name, inner))
      .map(([name, inner]) => [name, recorded(inner)]),
  );
}

/** Lists without entries, texts without characters, flags that are not set; `parameter_choice` names the member of a oneof. */
function isUnset(name: string, value: unknown): boolean {
  if (name === 'parameter_choice' || value === '' || value === null || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object' || Buffer.isBuffer(value)) return false;
  return Object.values(value).every((inner) => isUnset('', inner));
}

/** A recorded message with its bytes as bytes. */
export function withBytes(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => withBytes(item, key));
  if (typeof value === 'string') {
    if (/^(raw_(in|out)put|bytes)_contents$/.test(key)) return Buffer.from(value, 'base64');
    return key === 'ns' || key === 'last_inference' ? value.replace('<ns>', '1') : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBytes(inner, name)]));
}
