import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Call } from './call.ts';
import { Connection, type ConnectionLimits, DEFAULT_CONNECTION_LIMITS } from './connection.ts';
import { GrpcError } from './errors.ts';
import { assertAllowed, forwardedOf } from './metadata.ts';
import { METHODS } from './methods.ts';
import { type GrpcOptions, type GrpcSettings, resolveOptions } from './options.ts';
import { REFLECTION_PATHS, Reflection } from './reflection.ts';
import { StreamInfer } from './stream-infer.ts';
import { UnaryInfer } from './unary-infer.ts';
import { UnaryMethod } from './unary-method.ts';

const INFER = '/inference.GRPCInferenceService/ModelInfer';
const STREAM_INFER = '/inference.GRPCInferenceService/ModelStreamInfer';

/** What a client may send before it must wait: enough that large tensors flow. */
const WINDOW_BYTES = 8 * 1024 * 1024;
const FRAME_BYTES = 1024 * 1024;

export interface TlsOptions {
  /** PEM texts. */
  readonly cert: string;
  readonly key: string;
  /** Authorities whose client certificates are taken; PEM text. */
  readonly ca?: string | undefined;
  /** Whether clients must have a certificate of such an authority. Default false. */
  readonly requireClientCertificate?: boolean;
}

export interface GrpcServerOptions extends GrpcOptions {
  /** Plain text without. */
  readonly tls?: TlsOptions | undefined;
  /** Calls of one connection at a time. Default 4096. */
  readonly maxConcurrentCalls?: number;
  /** Whether connections are watched, and how long they live. */
  readonly connections?: Partial<ConnectionLimits>;
}

/** Where a server listens: a port (0 takes a free one), or a socket in the file system, which goes away with the server. */
export type GrpcAddress =
  | {
      readonly host: string;
      readonly port: number;
      /** Whether other processes may listen on the port as well, where Node.js can do that (22.12, 23.1). Default false. */
      readonly reusePort?: boolean;
    }
  | { readonly path: string };

/**
 * Serves `inference.GRPCInferenceService`, `grpc.health.v1.Health` and server reflection on HTTP/2. Nothing of it blocks the loop or is copied but small messages; tensors of
 * requests are views of what the socket read.
 */
export class GrpcServer {
  readonly #settings: GrpcSettings;
  readonly #server: Http2Server | Http2SecureServer;
  readonly #connectionLimits: ConnectionLimits;
  readonly #sessions = new Set<Http2Session>();

  constructor(options: GrpcServerOptions) {
    this.#settings = resolveOptions(options);
    this.#connectionLimits = { ...DEFAULT_CONNECTION_LIMITS, ...options.connections };
    this.#server = open(options);
    this.#server.on('session', (session) => this.#watch(session));
    // Of a connection that is no HTTP/2, or ends in the middle of it.
    this.#server.on('sessionError', () => {});
    this.#server.on('clientError', () => {});
  }

  /**
   * Starts to listen.
   * @returns the port; 0 for a socket in the file system
   * @throws {Error} as `listen` does, e.g. EADDRINUSE
   */
  listen(address: GrpcAddress): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(address, () => {
        this.#server.off('error', reject);
        resolve('path' in address ? 0 : (this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Takes no more connections and calls, and resolves when those under way have ended. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of this.#sessions) session.close();
    await closed;
  }

  /** Ends every call and connection at once. */
  abort(): void {
    for (const session of this.#sessions) session.destroy();
  }

  #watch(session: ServerHttp2Session): void {
    const connection = new Connection(session, { limits: this.#connectionLimits, logger: this.#settings.logger });
    this.#sessions.add(session);
    session.on('stream', (stream, headers) => this.#accept(stream, headers, connection));
    session.setLocalWindowSize(WINDOW_BYTES);
    session.on('close', () => this.#sessions.delete(session));
    session.on('error', () => {});
  }

  #accept(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, connection: Connection): void {
    const contentType = headers['content-type'] ?? '';
    if (headers[':method'] !== 'POST' || !contentType.startsWith('application/grpc')) {
      stream.on('error', () => {});
      stream.respond({ ':status': 415 }, { endStream: true });
      return;
    }
    const call = new Call(stream, { headers, settings: this.#settings, connection });
    try {
      this.#start(call, headers);
    } catch (thrown) {
      call.fail(thrown);
    }
  }

  /** @throws {InferenceServerError} for a call whose metadata is refused */
  #start(call: Call, headers: IncomingHttpHeaders): void {
    const settings = this.#settings;
    const path = headers[':path'] ?? '';
    assertAllowed(path, headers, settings);
    if (path === INFER) {
      call.handle(new UnaryInfer({ call, settings, forwarded: forwardedOf(headers, settings) }));
    } else if (path === STREAM_INFER) {
      const forwarded = forwardedOf(headers, settings);
      call.handle(new StreamInfer({ call, settings, forwarded, failsWhole: failsWhole(headers) }));
    } else if (REFLECTION_PATHS.has(path)) {
      call.handle(new Reflection(call));
    } else {
      this.#acceptOther(call, path);
    }
  }

  #acceptOther(call: Call, path: string): void {
    const method = METHODS.get(path);
    if (method === undefined) call.fail(new GrpcError('unsupported', `unknown method '${path}'`));
    else call.handle(new UnaryMethod({ call, method, settings: this.#settings }));
  }
}

function failsWhole(headers: IncomingHttpHeaders): boolean {
  return headers.triton_grpc_error === 'true';
}

function open({ tls, maxConcurrentCalls = 4096 }: GrpcServerOptions): Http2Server | Http2SecureServer {
  const settings = {
    initialWindowSize: WINDOW_BYTES,
    maxFrameSize: FRAME_BYTES,
    maxConcurrentStreams: maxConcurrentCalls,
  };
  if (tls === undefined) return createServer({ settings });
  const { cert, key, ca, requireClientCertificate = false } = tls;
  return createSecureServer({
    settings,
    cert,
    key,
    ...(ca !== undefined && { ca }),
    requestCert: requireClientCertificate,
    rejectUnauthorized: requireClientCertificate,
  });
}
