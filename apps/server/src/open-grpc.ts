import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { GrpcServer, type TlsOptions } from '@nereid/grpc';
import type { ServingEngine } from '@nereid/serving';
import type { SharedMemoryRegions } from '@nereid/shared-memory';
import { StartError } from './errors.ts';
import { closePatiently, type FrontEnd } from './front-end.ts';
import type { GrpcFrontOptions, GrpcTlsFiles } from './grpc-options.ts';
import { listenProblem } from './listen-problem.ts';
import type { Log } from './log.ts';

/** @throws {StartError} when the port cannot be had, or a certificate cannot be read */
export async function openGrpc(
  engine: ServingEngine,
  options: GrpcFrontOptions & { readonly serverName: string; readonly sharedMemory: SharedMemoryRegions },
  log: Log,
): Promise<FrontEnd> {
  const { address, port, maxMessageBytes, maxInputBytes, responseCompression, serverName, sharedMemory } = options;
  const server = open({
    engine,
    logger: log,
    maxMessageBytes,
    maxInflatedBytes: maxInputBytes,
    limits: { maxContentsBytes: maxInputBytes },
    responseCompression,
    serverName,
    sharedMemory,
    restrictedProtocols: options.restrictedProtocols,
    ...(options.forwardHeaders !== undefined && { forwardHeaders: options.forwardHeaders }),
    tls: options.tls && readFiles(options.tls),
  });
  try {
    const bound = await server.listen({ host: address, port });
    return {
      place: `${isIPv6(address) ? `[${address}]` : address}:${bound}`,
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

function open(options: ConstructorParameters<typeof GrpcServer>[0]): GrpcServer {
  try {
    return new GrpcServer(options);
  } catch (error) {
    throw new StartError(`gRPC cannot be served with these certificates: ${String(error)}`);
  }
}

function readFiles({ cert, key, root, requireClientCertificate }: GrpcTlsFiles): TlsOptions {
  return {
    cert: read('grpc-server-cert', cert),
    key: read('grpc-server-key', key),
    ca: root === '' ? undefined : read('grpc-root-cert', root),
    requireClientCertificate,
  };
}

function read(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`--${flag} cannot be read: ${(error as Error).message}`);
  }
}
