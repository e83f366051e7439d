import { isIPv6 } from 'node:net';
import type { JobThreads, RequestTracer } from '@nereid/core';
import { GrpcServer } from '@nereid/grpc';
import type { ServingEngine } from '@nereid/serving';
import type { SharedMemoryRegions } from '@nereid/shared-memory';
import { StartError } from './errors.ts';
import { closePatiently, type FrontEnd } from './front-end.ts';
import type { GrpcFrontOptions } from './grpc-options.ts';
import { listenProblem } from './listen-problem.ts';
import type { Log } from './log.ts';
import { readTlsFiles, withCertificates } from './tls-files.ts';
import { removeStaleSocket, socketPath } from './unix-socket.ts';

/** @throws {StartError} when the port cannot be had, or a certificate cannot be read */
export async function openGrpc(
  engine: ServingEngine,
  options: GrpcFrontOptions & {
    readonly serverName: string;
    readonly sharedMemory: SharedMemoryRegions;
    readonly tracer: RequestTracer;
    readonly threads: JobThreads;
  },
  log: Log,
): Promise<FrontEnd> {
  const { address, port, maxMessageBytes, maxInputBytes, responseCompression, serverName, sharedMemory, tracer } =
    options;
  const tls = options.tls && readTlsFiles(options.tls, 'grpc');
  const settings = {
    engine,
    logger: log,
    log,
    maxMessageBytes,
    maxInflatedBytes: maxInputBytes,
    limits: { ...options.limits, maxContentsBytes: maxInputBytes },
    maxCallMessageBytes: options.maxCallMessageBytes,
    http2: options.http2,
    maxStreamRequests: options.maxStreamRequests,
    maxWaitingBytes: options.maxWaitingBytes,
    responseCompression,
    serverName,
    sharedMemory,
    tracer,
    threads: options.threads,
    restrictedProtocols: options.restrictedProtocols,
    ...(options.forwardHeaders !== undefined && { forwardHeaders: options.forwardHeaders }),
    connections: options.connections,
    tls,
  };
  const server = withCertificates('grpc', () => new GrpcServer(settings));
  try {
    return {
      place: await listen(server, { host: address, port, reusePort: options.reusePort }),
      close: () =>
        closePatiently(
          () => server.close(),
          () => server.abort(),
        ),
    };
  } catch (error) {
    throw new StartError(listenProblem(error as NodeJS.ErrnoException, { address, port, protocol: 'grpc' }));
  }
}

/** @returns `host:port`, or `unix:PATH` */
async function listen(
  server: GrpcServer,
  at: { readonly host: string; readonly port: number; readonly reusePort: boolean },
): Promise<string> {
  const path = socketPath(at.host);
  if (path === undefined) return `${isIPv6(at.host) ? `[${at.host}]` : at.host}:${await server.listen(at)}`;
  await removeStaleSocket(path);
  await server.listen({ path });
  return at.host;
}
