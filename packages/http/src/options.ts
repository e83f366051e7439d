import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type JobThreads, type LogControl, type Logger, type RequestTracer, silentLogger } from '@nereid/core';
import type { JobPlace, ProtocolLimits } from '@nereid/protocol';
import { type ApiRestriction, ApiRestrictions, HeaderForwarding, type InferenceEngine } from '@nereid/serving';
import { SharedMemoryRegions } from '@nereid/shared-memory';
import manifest from '../package.json' with { type: 'json' };
import { Cors } from './cors.ts';

/** An HTML document and what browsers may do with it. */
export interface DocsPage {
  readonly html: string;
  /** `Content-Security-Policy` that is sent with it. */
  readonly contentSecurityPolicy: string;
}

/** What the front end needs and how far it trusts its clients. */
export interface NereidHttpOptions {
  /** Serves the requests. */
  readonly engine: InferenceEngine;
  /** Whether clients may exchange the weights of models for those of a file in the model directory. Default false. */
  readonly allowWeightUpdates?: boolean;
  /** Calls that take a key: 403 without it. A category may be in one restriction. Default: every call is open. */
  readonly restrictedApis?: readonly ApiRestriction[];
  /** Headers of an inference whose names match become parameters of the request; see `HeaderForwarding`. Default: none. */
  readonly forwardHeaders?: string;
  /** Origins whose pages may call from a browser: `scheme://host[:port]`, or `*` for all. Default: none, and browsers keep them apart. */
  readonly corsOrigins?: readonly string[];
  /** Regions that clients register and use; the same ones for every protocol of a server. Default: clients may register none. */
  readonly sharedMemory?: SharedMemoryRegions;
  /** Makes traces of requests; the same one for every protocol of a server. Default: none, and clients can ask for none. */
  readonly tracer?: RequestTracer | undefined;
  /** Whether the calls are described: `/v2/openapi.json`, and `…/openapi.json` of each model. It tells nothing that other calls do not. Default true. */
  readonly openApi?: boolean;
  /** Makes the page for people at `/v2/docs`, whenever it is asked for; `@nereid/http-docs` has one. Default: there is none. */
  readonly docsPage?: (() => DocsPage) | undefined;
  /** Receives unexpected failures, whole; clients see a bland message. Default: drops them. */
  readonly logger?: Logger;
  /** The log whose settings clients may see and change. Default: none. */
  readonly log?: LogControl | undefined;
  /** `name` in the server metadata. Default `nereid`. */
  readonly serverName?: string;
  /** `version` in the server metadata. Default: that of this package. */
  readonly serverVersion?: string;
  /** `extensions` in the server metadata. Default: those that are implemented here. */
  readonly extensions?: readonly string[];
  /**
   * Bytes of the JSON part of a request, of each JSON tensor in binary form, of a raw binary request, and of a body after decompression. The binary part
   * behind a JSON header is not counted. Default 64 MiB.
   */
  readonly maxInputBytes?: number;
  /** Bytes of a whole body. Default 2 GiB − 1. */
  readonly maxBodyBytes?: number;
  /** Bytes of the body of a call that runs no model: settings, registrations, the index. It is read on the event loop. Default 1 MiB. */
  readonly maxCallBodyBytes?: number;
  /**
   * Threads that read and write JSON of more than 256 KiB; the same ones for every protocol of a server. Default: none, and it is done on the event loop, where 64 MiB
   * hold everybody up for a second.
   */
  readonly threads?: JobThreads | undefined;
  /** Other bounds on the content of requests: nesting, tensors … */
  readonly limits?: Partial<ProtocolLimits>;
  /** How long a client may take no byte of an answer that waits for it, in milliseconds; then the connection is closed. 0 waits for ever. Default 60 000. */
  readonly sendTimeoutMs?: number;
  /**
   * Bytes of events that may wait for a client of `generate_stream` that reads slowly; beyond it the request is cancelled and the connection closed.
   * Default 64 MiB.
   */
  readonly maxWaitingBytes?: number;
  /** Seconds in the `Retry-After` of inference answers with 503. Default 1. */
  readonly retryAfterSeconds?: number;
}

/** Options with every default filled in. */
export interface HttpSettings
  extends Required<
    Omit<
      NereidHttpOptions,
      'limits' | 'log' | 'restrictedApis' | 'forwardHeaders' | 'corsOrigins' | 'tracer' | 'docsPage' | 'threads'
    >
  > {
  readonly log: LogControl | undefined;
  readonly tracer: RequestTracer | undefined;
  readonly docsPage: (() => DocsPage) | undefined;
  /** Where long work on JSON is done; undefined for the event loop. */
  readonly beside: JobPlace | undefined;
  readonly limits: Partial<ProtocolLimits>;
  /** Undefined when every call is open. */
  readonly restrictions: ApiRestrictions | undefined;
  /** Undefined when no header is forwarded. */
  readonly forwarding: HeaderForwarding | undefined;
  /** Undefined when browsers are told nothing. */
  readonly cors: Cors | undefined;
}

const DEFAULT_MAX_INPUT_BYTES = 64 * 1024 * 1024;

const DEFAULT_MAX_CALL_BODY_BYTES = 1024 * 1024;

/** The largest length that a 32-bit signed integer holds, as in the original. */
const DEFAULT_MAX_BODY_BYTES = 2 ** 31 - 1;

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

/** JSON up to this is dealt with on the event loop, in a few milliseconds at the worst; more goes to a thread. */
export const BESIDE_FROM_BYTES = 256 * 1024;

export const SIZE_ADVICE = 'Use --http-max-input-size to increase the limit.';

/** The file that threads load. A URL as bundlers and test runners leave it alone. */
function jsonJob(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('@nereid/protocol/json-job')).href;
}

/** @throws {TypeError | SyntaxError} for restrictions and a pattern that cannot be */
export function resolveOptions(options: NereidHttpOptions): HttpSettings {
  const { restrictedApis = [], forwardHeaders, corsOrigins = [] } = options;
  const maxInputBytes = options.maxInputBytes ?? DEFAULT_MAX_INPUT_BYTES;
  const sharedMemory = options.sharedMemory ?? new SharedMemoryRegions({ isEnabled: false });
  return {
    engine: options.engine,
    allowWeightUpdates: options.allowWeightUpdates ?? false,
    restrictions: restrictedApis.length === 0 ? undefined : new ApiRestrictions(restrictedApis),
    forwarding: forwardHeaders === undefined ? undefined : new HeaderForwarding(forwardHeaders),
    cors: corsOrigins.length === 0 ? undefined : new Cors(corsOrigins),
    sharedMemory,
    tracer: options.tracer,
    beside: options.threads && { threads: options.threads, module: jsonJob() },
    openApi: options.openApi ?? true,
    docsPage: options.docsPage,
    logger: options.logger ?? silentLogger,
    log: options.log,
    serverName: options.serverName ?? 'nereid',
    serverVersion: options.serverVersion ?? manifest.version,
    extensions: options.extensions ?? extensionsOf(options, sharedMemory),
    maxInputBytes,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
    maxCallBodyBytes: options.maxCallBodyBytes ?? DEFAULT_MAX_CALL_BODY_BYTES,
    limits: {
      maxHeaderBytes: maxInputBytes,
      maxJsonTensorBytes: maxInputBytes,
      maxRawBytes: maxInputBytes,
      advice: SIZE_ADVICE,
      ...options.limits,
    },
    sendTimeoutMs: options.sendTimeoutMs ?? 60_000,
    maxWaitingBytes: options.maxWaitingBytes ?? 64 * 1024 * 1024,
    retryAfterSeconds: options.retryAfterSeconds ?? 1,
  };
}

function extensionsOf({ log, tracer }: NereidHttpOptions, { isEnabled }: SharedMemoryRegions): readonly string[] {
  const absent = new Set<string>();
  if (!isEnabled) absent.add('system_shared_memory');
  if (log === undefined) absent.add('logging');
  if (tracer === undefined) absent.add('trace');
  return EXTENSIONS.filter((name) => !absent.has(name));
}
