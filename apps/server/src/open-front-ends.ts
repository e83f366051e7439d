import type { JobThreads, RequestTracer } from '@nereid/core';
import type { ServingEngine } from '@nereid/serving';
import { SharedMemoryRegions } from '@nereid/shared-memory';
import type { FrontEnd } from './front-end.ts';
import type { Log } from './log.ts';
import { openGrpc } from './open-grpc.ts';
import { type HttpFrontEnd, openHttp } from './open-http.ts';
import { openMetrics } from './open-metrics.ts';
import type { ServerOptions } from './options.ts';

/** What the front ends have in common beside the engine. */
export interface FrontEndParts {
  readonly options: ServerOptions;
  readonly tracer: RequestTracer;
  readonly threads: JobThreads;
}

/** What is served; undefined for what is not asked for. */
export interface FrontEnds {
  readonly grpc: FrontEnd | undefined;
  readonly http: HttpFrontEnd | undefined;
  readonly metrics: FrontEnd | undefined;
}

/**
 * Opens one after the other; when one cannot be, closes the others again.
 * @throws {StartError} as that one does
 */
export async function openFrontEnds(
  engine: ServingEngine,
  { options, tracer, threads }: FrontEndParts,
  log: Log,
): Promise<FrontEnds> {
  const opened: FrontEnd[] = [];
  const keep = <F extends FrontEnd>(frontEnd: F): F => {
    opened.push(frontEnd);
    return frontEnd;
  };
  const { grpc, http, metrics } = options;
  const sharedMemory = new SharedMemoryRegions({
    isEnabled: options.allowSharedMemory,
    maxRegions: options.maxSharedMemoryRegions,
  });
  try {
    return {
      grpc:
        grpc && keep(await openGrpc(engine, { ...grpc, serverName: options.id, sharedMemory, tracer, threads }, log)),
      http: http && keep(await openHttp(engine, { ...options, ...http, sharedMemory, tracer, threads }, log)),
      metrics: metrics && keep(await openMetrics(engine, metrics, log)),
    };
  } catch (error) {
    await Promise.all(opened.map((frontEnd) => frontEnd.close()));
    throw error;
  }
}
