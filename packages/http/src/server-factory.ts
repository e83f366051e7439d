import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { DirectMessage } from './body-reader.ts';
import { answerBrokenRequests } from './connection-errors.ts';
import { openDirectLane } from './direct-lane.ts';
import { InferEndpoint, type ServerState } from './infer-endpoint.ts';
import { type NereidHttpOptions, resolveOptions } from './options.ts';
import { escapeBrokenSegments } from './routes.ts';

/** Patience with slow clients, in milliseconds; 0 waits for ever. */
export interface ServerTimeouts {
  /** From the connection, or the end of the previous request, to the end of the request's head. Default 60 000. */
  readonly headersTimeoutMs?: number;
  /** From there to the end of the body; a large upload over a slow line must fit in. Default 300 000. */
  readonly requestTimeoutMs?: number;
  /**
   * Between two requests on a connection. The original has no such limit, and pooled clients meet a reset when it strikes, so it is long; connections
   * whose client has vanished are found by TCP's own probes, which start after a minute of silence. Default one hour.
   */
  readonly keepAliveTimeoutMs?: number;
  /** How often the first two are looked at. Default 5000. */
  readonly connectionsCheckingIntervalMs?: number;
}

/** HTTPS. */
export interface TlsOptions {
  /** Chain of certificates of the server, PEM text. */
  readonly cert: string;
  /** Its private key, PEM text. */
  readonly key: string;
  /** Authorities whose client certificates are taken, PEM text. Default: those that Node knows. */
  readonly ca?: string | undefined;
  /** Whether connections of clients without a certificate of such an authority are refused (mutual TLS). Default false. */
  readonly requireClientCertificate?: boolean;
}

export interface ServerFactoryOptions extends NereidHttpOptions, ServerTimeouts {
  /** Bytes of a request's head. Default 65 536. */
  readonly maxHeadBytes?: number;
  /** Default: clear text. */
  readonly tls?: TlsOptions | undefined;
}

const TCP_PROBES_AFTER_MS = 60_000;

/**
 * Makes the function that fastify takes as `serverFactory`. Its server answers inference before fastify's router sees it, with the same code as the
 * plugin; everything else goes to fastify. Hooks of fastify do not run for inference then.
 * The function throws what OpenSSL says of certificates that cannot be used.
 */
export function createServerFactory(
  options: ServerFactoryOptions,
): (handler: (request: IncomingMessage, response: ServerResponse) => void) => Server {
  const settings = resolveOptions(options);
  const { cors } = settings;
  const endpoint = new InferEndpoint(settings);
  return (handler) => {
    const bounds = withDefaults(options);
    const server = open(options, bounds);
    answerBrokenRequests(server, bounds);
    const state: ServerState = {
      get isClosing() {
        return !server.listening;
      },
    };
    if (cors === undefined) openDirectLane(server, { ...bounds, endpoint, state });
    else server.on('request', (request, response) => cors.decorate(request, response));
    server.on('request', (request, response) => {
      if (endpoint.tryHandle(request, response, state)) return;
      if (request.url !== undefined) request.url = escapeBrokenSegments(request.url);
      handler(request, response);
    });
    return server;
  };
}

function open({ tls }: ServerFactoryOptions, bounds: ServerBounds): Server {
  if (tls === undefined) return createServer(serverOptions(bounds));
  const { cert, key, ca, requireClientCertificate: isMutual = false } = tls;
  const trust = { ...(ca !== undefined && { ca }), requestCert: isMutual, rejectUnauthorized: isMutual };
  return createTlsServer({ ...serverOptions(bounds), cert, key, ...trust });
}

type ServerBounds = Required<ServerTimeouts & Pick<ServerFactoryOptions, 'maxHeadBytes'>>;

function withDefaults(options: ServerFactoryOptions): ServerBounds {
  return {
    headersTimeoutMs: options.headersTimeoutMs ?? 60_000,
    requestTimeoutMs: options.requestTimeoutMs ?? 300_000,
    keepAliveTimeoutMs: options.keepAliveTimeoutMs ?? 3_600_000,
    connectionsCheckingIntervalMs: options.connectionsCheckingIntervalMs ?? 5000,
    maxHeadBytes: options.maxHeadBytes ?? 65_536,
  };
}

function serverOptions(bounds: ServerBounds) {
  return {
    headersTimeout: bounds.headersTimeoutMs,
    requestTimeout: bounds.requestTimeoutMs,
    keepAliveTimeout: bounds.keepAliveTimeoutMs,
    connectionsCheckingInterval: bounds.connectionsCheckingIntervalMs,
    maxHeaderSize: bounds.maxHeadBytes,
    keepAlive: true,
    keepAliveInitialDelay: TCP_PROBES_AFTER_MS,
    noDelay: true,
    IncomingMessage: DirectMessage,
  };
}
