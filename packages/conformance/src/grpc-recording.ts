/** Recorded gRPC calls to the original server, and sending them to a server of ours. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

export interface GrpcAnswer {
  readonly code: string;
  readonly response?: unknown;
  /** Of a stream. */
  readonly responses?: readonly unknown[];
}

export interface GrpcExchange {
  readonly name: string;
  readonly rpc: string;
  /** A message, or for a stream a list of them; bytes as base64. */
  readonly request: object | readonly object[];
  readonly answer: GrpcAnswer;
}

export function readGrpcExchanges(file: string): readonly GrpcExchange[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as GrpcExchange);
}

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** @param place  `host:port` */
export function openGrpcClient(place: string): grpc.Client {
  const definition = grpc.loadPackageDefinition(
    loadSync(path('../../grpc/proto/grpc_service.proto'), {
      keepCase: true,
      longs: String,
      enums: String,
      includeDirs: [path('../../model-config/proto')],
    }),
  );
  const { inference } = definition as unknown as {
    readonly inference: { readonly GRPCInferenceService: grpc.ServiceClientConstructor };
  };
  return new inference.GRPCInferenceService(place, grpc.credentials.createInsecure());
}

/** A method of a client that was made from a .proto. */
export type UnaryCall = (
  this: grpc.Client,
  request: unknown,
  options: grpc.CallOptions,
  callback: (error: grpc.ServiceError | null, response: unknown) => void,
) => grpc.ClientUnaryCall;

/** Sends recorded calls with the client of grpc-js. */
export class GrpcReplayer implements Disposable {
  readonly #client: grpc.Client;

  /** @param place  `host:port` */
  constructor(place: string) {
    this.#client = openGrpcClient(place);
  }

  send({ rpc, request }: GrpcExchange): Promise<GrpcAnswer> {
    return Array.isArray(request)
      ? this.#stream(request.map((message) => withBytes(message)))
      : this.#unary(rpc, withBytes(request));
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  #unary(rpc: string, request: unknown): Promise<GrpcAnswer> {
    const call = Reflect.get(this.#client, rpc) as UnaryCall;
    return new Promise((resolve) => {
      call.call(this.#client, request, { deadline: Date.now() + 20_000 }, (error, response) => {
        if (error === null) resolve({ code: 'OK', response: shown(response) });
        else resolve({ code: codeOf(error) });
      });
    });
  }

  #stream(requests: readonly unknown[]): Promise<GrpcAnswer> {
    const open = Reflect.get(this.#client, 'ModelStreamInfer') as () => grpc.ClientDuplexStream<unknown, unknown>;
    return new Promise((resolve) => {
      const responses: unknown[] = [];
      const call = open.call(this.#client);
      call.on('data', (message) => responses.push(shown(message)));
      call.on('error', () => {});
      call.on('status', (status) => resolve({ code: codeOf(status), responses }));
      for (const request of requests) call.write(request);
      call.end();
    });
  }
}

/** A stream that stays open, with a client of its own. */
export class GrpcStream {
  /** Once the stream has ended. */
  readonly answers: Promise<readonly object[]>;
  readonly #call: grpc.ClientDuplexStream<unknown, object>;

  /** @param place  `host:port` */
  constructor(place: string) {
    const client = openGrpcClient(place);
    const open = Reflect.get(client, 'ModelStreamInfer') as () => grpc.ClientDuplexStream<unknown, object>;
    this.#call = open.call(client);
    const answers: object[] = [];
    this.#call.on('data', (answer) => answers.push(answer));
    this.#call.on('error', () => {});
    this.answers = new Promise((resolve) => {
      this.#call.on('status', () => {
        client.close();
        resolve(answers);
      });
    });
  }

  write(request: object): void {
    this.#call.write(request);
  }

  /** Sends no more. */
  end(): void {
    this.#call.end();
  }
}

function codeOf(status: unknown): string {
  return grpc.status[(status as { readonly code: number }).code] ?? '';
}

/** A recorded request with its bytes as bytes. */
function withBytes(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => withBytes(item, key));
  if (typeof value === 'string') return /^(raw_input|bytes)_contents$/.test(key) ? Buffer.from(value, 'base64') : value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBytes(inner, name)]));
}

/** An answer as the recording shows it: bytes as base64, error texts and times masked. */
function shown(value: unknown, key = ''): unknown {
  if (Buffer.isBuffer(value)) return value.toString('base64');
  if (Array.isArray(value)) return value.map((item) => shown(item));
  if (key === 'error_message' && typeof value === 'string' && value !== '') return '<text>';
  if (key === 'ns' || key === 'last_inference') return '<ns>';
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => [name, shown(inner, name)]),
  );
}
