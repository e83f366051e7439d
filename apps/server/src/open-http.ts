import type { JobThreads, RequestTracer } from '@nereid/core';
import { createServerFactory, nereidHttp } from '@nereid/http';
import { docsPage } from '@nereid/http-docs';
import type { ServingEngine } from '@nereid/serving';
import type { SharedMemoryRegions } from '@nereid/shared-memory';
import { type FastifyInstance, fastify } from 'fastify';
import { StartError } from './errors.ts';
import { closePatiently, type FrontEnd } from './front-end.ts';
import { listenProblem } from './listen-problem.ts';
import type { Log } from './log.ts';
import type { HttpOptions, ServerOptions } from './options.ts';
import { readTlsFiles, withCertificates } from './tls-files.ts';
import { removeStaleSocket, socketPath } from './unix-socket.ts';

export interface HttpFrontEnd extends FrontEnd {
  /** `http://host:port`, `https://host:port`, or `unix:PATH`. */
  readonly url: string;
}

/** @throws {StartError} when the port cannot be had, or a certificate cannot be read */
export async function openHttp(
  engine: ServingEngine,
  http: HttpOptions &
    Pick<ServerOptions, 'id' | 'allowWeightUpdates'> & {
      readonly sharedMemory: SharedMemoryRegions;
      readonly tracer: RequestTracer;
      readonly threads: JobThreads;
    },
  log: Log,
): Promise<HttpFrontEnd> {
  const front = {
    engine,
    logger: log,
    log,
    serverName: http.id,
    allowWeightUpdates: http.allowWeightUpdates,
    sharedMemory: http.sharedMemory,
    tracer: http.tracer,
    threads: http.threads,
    maxInputBytes: http.maxInputBytes,
    maxBodyBytes: http.maxBodyBytes,
    headersTimeoutMs: http.headersTimeoutMs,
    requestTimeoutMs: http.requestTimeoutMs,
    keepAliveTimeoutMs: http.keepAliveTimeoutMs,
    sendTimeoutMs: http.sendTimeoutMs,
    maxHeadBytes: http.maxHeadBytes,
    maxCallBodyBytes: http.maxCallBodyBytes,
    maxWaitingBytes: http.maxWaitingBytes,
    limits: http.limits,
    restrictedApis: http.restrictedApis,
    ...(http.forwardHeaders !== undefined && { forwardHeaders: http.forwardHeaders }),
    corsOrigins: http.corsOrigins,
    openApi: http.docs,
    docsPage: http.docs ? docsPage : undefined,
    tls: http.tls && readTlsFiles(http.tls, 'http'),
  };
  const serverFactory = createServerFactory(front);
  const app = withCertificates('http', () => fastify({ serverFactory, forceCloseConnections: 'idle' }));
  await app.register(nereidHttp, front);
  try {
    await listen(app, http);
  } catch (error) {
    throw new StartError(listenProblem(error as NodeJS.ErrnoException, { ...http, protocol: 'http' }));
  }
  const place = placeOf(app);
  return {
    url: place.startsWith('unix:') ? place : `${http.tls === undefined ? 'http' : 'https'}://${place}`,
    place,
    close: () =>
      closePatiently(
        () => app.close(),
        () => app.server.closeAllConnections(),
      ),
  };
}

async function listen(app: FastifyInstance, { address, port, reusePort }: HttpOptions): Promise<void> {
  const path = socketPath(address);
  if (path === undefined) {
    // What Node's `listen` takes, fastify hands on; its types do not know.
    const at = { host: address, port, ...(reusePort && { reusePort }) };
    await app.listen(at);
    return;
  }
  await removeStaleSocket(path);
  await app.listen({ path });
}

function placeOf(app: FastifyInstance): string {
  const bound = app.server.address();
  if (bound === null) throw new StartError('the HTTP service is bound to nothing');
  if (typeof bound === 'string') return `unix:${bound}`;
  return `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
}
