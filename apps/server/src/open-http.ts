import { createServerFactory, nereidHttp } from '@nereid/http';
import type { ServingEngine } from '@nereid/serving';
import type { SharedMemoryRegions } from '@nereid/shared-memory';
import { type FastifyInstance, fastify } from 'fastify';
import { StartError } from './errors.ts';
import { closePatiently, type FrontEnd } from './front-end.ts';
import { listenProblem } from './listen-problem.ts';
import type { Log } from './log.ts';
import type { HttpOptions, ServerOptions } from './options.ts';

export interface HttpFrontEnd extends FrontEnd {
  readonly url: string;
}

/** @throws {StartError} when the port cannot be had */
export async function openHttp(
  engine: ServingEngine,
  http: HttpOptions & Pick<ServerOptions, 'id' | 'allowWeightUpdates'> & { readonly sharedMemory: SharedMemoryRegions },
  log: Log,
): Promise<HttpFrontEnd> {
  const front = {
    engine,
    logger: log,
    serverName: http.id,
    allowWeightUpdates: http.allowWeightUpdates,
    sharedMemory: http.sharedMemory,
    maxInputBytes: http.maxInputBytes,
    maxBodyBytes: http.maxBodyBytes,
    headersTimeoutMs: http.headersTimeoutMs,
    requestTimeoutMs: http.requestTimeoutMs,
    keepAliveTimeoutMs: http.keepAliveTimeoutMs,
    restrictedApis: http.restrictedApis,
    ...(http.forwardHeaders !== undefined && { forwardHeaders: http.forwardHeaders }),
  };
  const app = fastify({ serverFactory: createServerFactory(front), forceCloseConnections: 'idle' });
  await app.register(nereidHttp, front);
  try {
    await app.listen({ host: http.address, port: http.port });
  } catch (error) {
    throw new StartError(listenProblem(error as NodeJS.ErrnoException, { ...http, protocol: 'http' }));
  }
  const url = addressOf(app);
  return {
    url,
    place: new URL(url).host,
    close: () =>
      closePatiently(
        () => app.close(),
        () => app.server.closeAllConnections(),
      ),
  };
}

function addressOf(app: FastifyInstance): string {
  const bound = app.server.address();
  // A name only for a unix socket, which is never asked for here.
  if (bound === null || typeof bound === 'string')
    throw new StartError(`the HTTP service is bound to ${bound}, not to a port`);
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
}
