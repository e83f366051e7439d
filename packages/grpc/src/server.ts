import { Call } from './call.ts';
import { Connection, type ConnectionLimits, DEFAULT_CONNECTION_LIMITS } from './connection.ts';
import { GrpcError } from './errors.ts';
import type { RequestHeaders } from './http2/headers.ts';
import type { FieldList } from './http2/hpack/encoder.ts';
import { DEFAULT_HTTP2_LIMITS, type Http2Limits } from './http2/limits.ts';
import { Http2Server, type ListenAddress, type TlsOptions } from './http2/server.ts';
import type { Stream } from './http2/stream.ts';
import { assertAllowed, forwardedOf } from './metadata.ts';
import { METHODS } from './methods.ts';
import { type GrpcOptions, type GrpcSettings, resolveOptions } from './options.ts';
import { REFLECTION_PATHS, Reflection } from './reflection.ts';
import { StreamInfer } from './stream-infer.ts';
import { UnaryInfer } from './unary-infer.ts';
import { UnaryMethod } from './unary-method.ts';

const INFER = '/inference.GRPCInferenceService/ModelInfer';
const STREAM_INFER = '/inference.GRPCInferenceService/ModelStreamInfer';

export interface GrpcServerOptions extends GrpcOptions {
  /** Plain text without. */
  readonly tls?: TlsOptions | undefined;
  /** What one connection may cost. */
  readonly http2?: Partial<Http2Limits>;
  /** Whether connections are watched, and how long they live. */
  readonly connections?: Partial<ConnectionLimits>;
}

/**
 * Serves `inference.GRPCInferenceService`, `grpc.health.v1.Health` and server reflection on HTTP/2. Nothing of it blocks the loop or is copied but small messages; tensors of
 * requests are views of what the socket read.
 */
export class GrpcServer {
  readonly #settings: GrpcSettings;
  readonly #limits: Http2Limits;
  readonly #server: Http2Server;

  constructor(options: GrpcServerOptions) {
    this.#settings = resolveOptions(options);
    this.#limits = { ...DEFAULT_HTTP2_LIMITS, ...options.http2 };
    const connectionLimits = { ...DEFAULT_CONNECTION_LIMITS, ...options.connections };
    this.#server = new Http2Server({
      tls: options.tls,
      limits: this.#limits,
      accept: (stream, isTooLarge) => this.#accept(stream, isTooLarge),
      opened: (session) => new Connection(session, { limits: connectionLimits, logger: this.#settings.logger }),
      failed: (thrown) => this.#settings.logger.error({ err: thrown }, 'an unexpected failure ended a gRPC connection'),
    });
  }

  /**
   * Starts to listen.
   * @returns the port; 0 for a socket in the file system
   * @throws {Error} as `listen` does, e.g. EADDRINUSE
   */
  listen(address: ListenAddress): Promise<number> {
    return this.#server.listen(address);
  }

  /** Takes no more connections and calls, and resolves when those under way have ended. */
  close(): Promise<void> {
    return this.#server.close();
  }

  /** Ends every call and connection at once. */
  abort(): void {
    this.#server.abort();
  }

  #accept(stream: Stream, isTooLarge: boolean): void {
    const { headers } = stream;
    if (isTooLarge) {
      new Call(stream, this.#settings).fail(tooLarge(this.#limits));
      return;
    }
    if (headers[':method'] !== 'POST' || !headers['content-type']?.startsWith('application/grpc')) {
      stream.sendHeaders(NO_GRPC, true);
      return;
    }
    const call = new Call(stream, this.#settings);
    try {
      this.#start(call, headers);
    } catch (thrown) {
      call.fail(thrown);
    }
  }

  /** @throws {InferenceServerError} for a call whose metadata is refused */
  #start(call: Call, headers: RequestHeaders): void {
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

function failsWhole(headers: RequestHeaders): boolean {
  return headers.triton_grpc_error === 'true';
}

const NO_GRPC: FieldList = { fields: [[':status', '415']], recurring: new Set() };

function tooLarge({ maxMetadataBytes }: Http2Limits): GrpcError {
  return new GrpcError(
    'too-large',
    `the metadata of the call has more than ${maxMetadataBytes} bytes, which is the limit`,
  );
}
