import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type JobThreads, type LogControl, type Logger, type RequestTracer, silentLogger } from '@nereid/core';
import { type ApiRestriction, ApiRestrictions, HeaderForwarding, type InferenceEngine } from '@nereid/serving';
import { SharedMemoryRegions } from '@nereid/shared-memory';
import manifest from '../package.json' with { type: 'json' };
import type { JobPlace } from './infer/beside.ts';
import { DEFAULT_LIMITS, type InferLimits } from './infer/request.ts';

/** How much answers of inference are compressed, for clients that take it. */
export type CompressionLevel = 'none' | 'low' | 'medium' | 'high';

export interface GrpcOptions {
  readonly engine: InferenceEngine;
  /**
   * Calls that take a key, in the metadata `triton-grpc-protocol-<key>`: UNAVAILABLE without it. A category may be in one restriction. Default: every call is
   * open.
   */
  readonly restrictedProtocols?: readonly ApiRestriction[];
  /** Metadata of an inference whose names match become parameters of the request; see `HeaderForwarding`. Default: none. */
  readonly forwardHeaders?: string;
  /** Regions that clients register and use; the same ones for every protocol of a server. Default: clients may register none. */
  readonly sharedMemory?: SharedMemoryRegions;
  /** Makes traces of requests; the same one for every protocol of a server. Default: none, and clients can ask for none. */
  readonly tracer?: RequestTracer | undefined;
  /** Told of failures that are not the client's. Silent by default. */
  readonly logger?: Logger;
  /** The log whose settings clients may see and change. Default: none. */
  readonly log?: LogControl | undefined;
  /** Longest message that is taken, in bytes. Default 2 GiB − 1. */
  readonly maxMessageBytes?: number;
  /** Longest message of a call that runs no model, in bytes: it is read on the event loop. Default 1 MiB. */
  readonly maxCallMessageBytes?: number;
  /** Longest message that a compressed one may become, in bytes. Default 64 MiB. */
  readonly maxInflatedBytes?: number;
  /**
   * Threads that read typed contents of more than 256 KiB; the same ones for every protocol of a server. Default: none, and they are read on the event loop, where 64 MiB
   * hold everybody up for half a second.
   */
  readonly threads?: JobThreads | undefined;
  readonly limits?: Partial<InferLimits>;
  /** Default `none`. */
  readonly responseCompression?: CompressionLevel;
  /**
   * Answers of one stream that may wait for a client that reads slowly, in bytes; beyond it the stream takes no more requests until some are read. Default 64 MiB.
   */
  readonly maxWaitingBytes?: number;
  /** Requests of one stream under way at a time; beyond it no more are read. Default 1024. */
  readonly maxStreamRequests?: number;
  /** What `ServerMetadata` tells. */
  readonly serverName?: string;
  readonly serverVersion?: string;
  readonly extensions?: readonly string[];
}

export interface GrpcSettings
  extends Omit<
    Required<GrpcOptions>,
    'limits' | 'log' | 'restrictedProtocols' | 'forwardHeaders' | 'tracer' | 'threads'
  > {
  readonly log: LogControl | undefined;
  readonly tracer: RequestTracer | undefined;
  /** Where long work is done; undefined for the event loop. */
  readonly beside: JobPlace | undefined;
  readonly limits: InferLimits;
  /** Undefined when every call is open. */
  readonly restrictions: ApiRestrictions | undefined;
  /** Undefined when no metadata is forwarded. */
  readonly forwarding: HeaderForwarding | undefined;
}

/** Names and order of the original, without what is not implemented here. */
const EXTENSIONS = [
  'classification',
  'sequence',
  'model_repository',
  'schedule_policy',
  'model_configuration',
  'system_shared_memory',
  'binary_tensor_data',
  'parameters',
  'statistics',
  'trace',
  'logging',
];

const MAX_MESSAGE_BYTES = 2 ** 31 - 1;

/** What stands before the key of a restriction in the name of its metadata. */
const KEY_PREFIX = 'triton-grpc-protocol-';

/** The file that threads load. A URL as bundlers and test runners leave it alone. */
function inferJob(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('@nereid/grpc/infer-job')).href;
}

/** @throws {TypeError | SyntaxError} for restrictions and a pattern that cannot be */
export function resolveOptions(options: GrpcOptions): GrpcSettings {
  const { restrictedProtocols = [], forwardHeaders } = options;
  const sharedMemory = options.sharedMemory ?? new SharedMemoryRegions({ isEnabled: false });
  return {
    engine: options.engine,
    restrictions: restrictedProtocols.length === 0 ? undefined : new ApiRestrictions(restrictedProtocols, KEY_PREFIX),
    forwarding: forwardHeaders === undefined ? undefined : new HeaderForwarding(forwardHeaders),
    sharedMemory,
    tracer: options.tracer,
    beside: options.threads && { threads: options.threads, module: inferJob() },
    logger: options.logger ?? silentLogger,
    log: options.log,
    maxMessageBytes: options.maxMessageBytes ?? MAX_MESSAGE_BYTES,
    maxCallMessageBytes: options.maxCallMessageBytes ?? 1024 * 1024,
    maxInflatedBytes: Math.min(
      options.maxInflatedBytes ?? 64 * 1024 * 1024,
      options.maxMessageBytes ?? MAX_MESSAGE_BYTES,
    ),
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    responseCompression: options.responseCompression ?? 'none',
    maxWaitingBytes: options.maxWaitingBytes ?? 64 * 1024 * 1024,
    maxStreamRequests: options.maxStreamRequests ?? 1024,
    serverName: options.serverName ?? 'nereid',
    serverVersion: options.serverVersion ?? manifest.version,
    extensions: options.extensions ?? extensionsOf(options, sharedMemory),
  };
}

function extensionsOf({ log, tracer }: GrpcOptions, { isEnabled }: SharedMemoryRegions): readonly string[] {
  const absent = new Set<string>();
  if (!isEnabled) absent.add('system_shared_memory');
  if (log === undefined) absent.add('logging');
  if (tracer === undefined) absent.add('trace');
  return EXTENSIONS.filter((name) => !absent.has(name));
}
