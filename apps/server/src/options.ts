import { resolve } from 'node:path';
import type { RateLimiterOptions } from '@nereid/batching';
import type { ApiRestriction } from '@nereid/serving';
import type { TraceConfig } from '@nereid/tracing';
import { readBackendConfig } from './backend-config.ts';
import { assertPlacesApart } from './check-places.ts';
import { UsageError } from './errors.ts';
import type { Flag } from './flags/flag.ts';
import { type ParsedFlags, tellSources } from './flags/layer.ts';
import { FLAGS, type FlagName } from './flags/table.ts';
import { type GrpcFrontOptions, grpcFromFlags } from './grpc-options.ts';
import type { LogOptions } from './log.ts';
import { readModelLevels } from './log-levels.ts';
import { type MetricsFrontOptions, metricsFromFlags } from './metrics-options.ts';
import { portWarnings, sharesPort } from './port-sharing.ts';
import { readRateLimit } from './rate-limit.ts';
import { readForwardPattern, readRestrictions } from './restrictions.ts';
import { namedFiles, type ServedFile } from './served-files.ts';
import { type TlsFiles, tlsFromFlags } from './tls-files.ts';
import { traceFromFlags } from './trace-options.ts';
import { socketPath } from './unix-socket.ts';

export interface HttpOptions {
  /** `unix:PATH` for a socket in the file system. */
  readonly address: string;
  /** 0 takes a free one, and stands where there is none. */
  readonly port: number;
  readonly maxInputBytes: number;
  readonly maxBodyBytes: number;
  /** Each 0 waits for ever. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly sendTimeoutMs: number;
  readonly maxHeadBytes: number;
  readonly maxCallBodyBytes: number;
  /** Events of a stream that may wait for a slow client. */
  readonly maxWaitingBytes: number;
  readonly limits: { readonly maxJsonDepth: number; readonly maxJsonValues: number; readonly maxTensors: number };
  /** Whether other processes may listen on the port as well. */
  readonly reusePort: boolean;
  /** Calls that take a key. */
  readonly restrictedApis: readonly ApiRestriction[];
  /** Which headers of an inference become parameters; undefined for none. */
  readonly forwardHeaders: string | undefined;
  /** Origins whose pages may call from a browser. */
  readonly corsOrigins: readonly string[];
  /** Whether the calls are described, and there is a page to try models. */
  readonly docs: boolean;
  /** Clear text without. */
  readonly tls: TlsFiles | undefined;
}

/** What a server is made of; `optionsFromFlags` fills it from a command line. */
export interface ServerOptions {
  /** Server name in the metadata. */
  readonly id: string;
  readonly repositories: readonly string[];
  /** Model files to serve beside the repositories. */
  readonly files: readonly ServedFile[];
  /** Largest batch of a model that batches without a bound, where its configuration leaves it out. */
  readonly defaultMaxBatchSize: number;
  /** Libraries of operators outside torch. */
  readonly customOps: readonly string[];
  /** Absolute path of a directory per backend, in which batching strategies are looked for last. */
  readonly backendDirectory?: string | undefined;
  /** Whether clients may exchange weights. */
  readonly allowWeightUpdates: boolean;
  /** Whether clients may register shared memory. */
  readonly allowSharedMemory: boolean;
  readonly maxSharedMemoryRegions: number;
  /** Variant `configs/<name>.pbtxt` of the configurations, if any. */
  readonly configName?: string | undefined;
  /** Whether every model must have a configuration file. */
  readonly requireConfig: boolean;
  readonly strictReadiness: boolean;
  readonly exitOnError: boolean;
  readonly modelLoadConcurrency: number;
  /** How often a load that failed is tried again. */
  readonly modelLoadRetryCount: number;
  /** 0 sets no limit. */
  readonly maxQueueSize: number;
  /** Responses of one request to a decoupled model that its client may not have taken yet. */
  readonly maxUnreleasedResponses: number;
  /** Requests that an instance of a decoupled model answers side by side. */
  readonly maxConcurrentStreams: number;
  /** 0 never runs a model on the loop thread. */
  readonly inlineMaxRunMicros: number;
  /** Threads beside the event loop, see `WorkerThreads`. */
  readonly jobThreads: number;
  /** Undefined runs batches as soon as an instance is free. */
  readonly rateLimit: RateLimiterOptions | undefined;
  readonly exitTimeoutMs: number;
  /** Undefined serves no HTTP. */
  readonly http: HttpOptions | undefined;
  /** Undefined serves no gRPC. */
  readonly grpc: GrpcFrontOptions | undefined;
  /** Undefined serves no metrics. */
  readonly metrics: MetricsFrontOptions | undefined;
  /** What is traced until a client changes it. */
  readonly trace: TraceConfig;
  /** Responses to one request that its trace tells of. */
  readonly maxTracedResponses: number;
  readonly log: LogOptions;
  /** Whether each inference is logged as information. */
  readonly accessLog: boolean;
}

export interface OptionsAndWarnings {
  readonly options: ServerOptions;
  /** One sentence for each option that has no effect, and for each thing that looks like a mistake. */
  readonly warnings: readonly string[];
}

/**
 * Checks the options of a command line against each other and names what they ask for.
 * @throws {UsageError} when they do not go together
 */
export function optionsFromFlags(flags: ParsedFlags): OptionsAndWarnings {
  try {
    const { options, warnings } = checkedOptions(flags);
    return { options, warnings: [...flags.warnings, ...warnings.map((text) => tellSources(text, flags.sources))] };
  } catch (thrown) {
    if (!(thrown instanceof UsageError) || flags.sources.size === 0) throw thrown;
    throw new UsageError(tellSources(thrown.message, flags.sources));
  }
}

function checkedOptions({ values, given, files, env }: ParsedFlags): OptionsAndWarnings {
  if (values['model-repository'].length === 0 && files.length === 0)
    throw new UsageError(
      '--model-repository must be specified: name the directory that holds the models, or give a model file',
    );
  if (values['model-control-mode'] !== 'none') {
    throw new UsageError(
      `--model-control-mode=${values['model-control-mode']} is not served by this version; only "none" is: every model is loaded once, at start`,
    );
  }
  if (given.has('load-model'))
    throw new UsageError(
      "--load-model requires setting '--model-control-mode=explicit', which is not served by this version",
    );
  const settings = readBackendConfig(values['backend-config']);
  const limits = readRateLimit(values);
  const traces = traceFromFlags({ values, given, env });
  const warnings = [
    ...[...given].flatMap((name) => ignoredWarning(name)),
    ...settings.warnings,
    ...limits.warnings,
    ...traces.warnings,
    ...portWarnings(values),
  ];
  if (given.has('cache-config') && given.has('response-cache-byte-size'))
    throw new UsageError(
      '--cache-config and --response-cache-byte-size name the size of one cache: give only the first',
    );
  if (given.has('strict-model-config')) warnings.push(strictConfigWarning(values));
  const http = values['allow-http'] ? httpOptions(values) : undefined;
  const grpc = grpcFromFlags({ values, given }, listenAddress);
  const metrics = metricsFromFlags({ values, given }, listenAddress);
  assertPlacesApart({ http, grpc, metrics });
  return {
    options: {
      id: values.id,
      repositories: values['model-repository'],
      files: namedFiles(files, values['model-name']),
      defaultMaxBatchSize: settings.defaultMaxBatchSize,
      customOps: values['custom-ops'],
      backendDirectory: values['backend-directory'] === '' ? undefined : resolve(values['backend-directory']),
      allowWeightUpdates: values['allow-weight-updates'],
      allowSharedMemory: values['allow-shared-memory'],
      maxSharedMemoryRegions: values['shared-memory-max-regions'],
      configName: values['model-config-name'] || undefined,
      requireConfig: values['disable-auto-complete-config'] || values['strict-model-config'],
      strictReadiness: values['strict-readiness'],
      // Who names files wants those, not what is left of them.
      exitOnError: values['exit-on-error'] || (files.length > 0 && !given.has('exit-on-error')),
      modelLoadConcurrency: values['model-load-thread-count'],
      modelLoadRetryCount: values['model-load-retry-count'],
      maxQueueSize: values['max-queue-size'],
      maxUnreleasedResponses: values['decoupled-max-waiting-responses'],
      maxConcurrentStreams: values['decoupled-max-streams'],
      inlineMaxRunMicros: values['inline-max-run-us'],
      jobThreads: values['job-threads'],
      rateLimit: limits.rateLimit,
      exitTimeoutMs: values['exit-timeout-secs'] * 1000,
      http,
      grpc,
      metrics,
      trace: traces.trace,
      maxTracedResponses: values['trace-max-responses'],
      log: logOptions(values, env),
      accessLog: values['access-log'],
    },
    warnings,
  };
}

function strictConfigWarning(values: ParsedFlags['values']): string {
  const overruled = values['disable-auto-complete-config'] && !values['strict-model-config'];
  return `--strict-model-config is deprecated; use --disable-auto-complete-config${overruled ? ', which overrules it here' : ''}`;
}

function ignoredWarning(name: FlagName): string[] {
  const flag: Flag = FLAGS[name];
  return flag.ignored === undefined ? [] : [`--${name} has no effect: ${flag.ignored}`];
}

function httpOptions(values: ParsedFlags['values']): HttpOptions {
  const address = listenAddress(values['http-address']);
  return {
    address,
    port: socketPath(address) === undefined ? values['http-port'] : 0,
    maxInputBytes: values['http-max-input-size'],
    maxBodyBytes: values['http-max-body-size'],
    headersTimeoutMs: values['http-headers-timeout-ms'],
    requestTimeoutMs: values['http-request-timeout-ms'],
    keepAliveTimeoutMs: values['http-keep-alive-timeout-ms'],
    sendTimeoutMs: values['http-send-timeout-ms'],
    maxHeadBytes: values['http-max-head-size'],
    maxCallBodyBytes: values['http-max-call-size'],
    maxWaitingBytes: values['http-max-waiting-size'],
    limits: {
      maxJsonDepth: values['http-max-json-depth'],
      maxJsonValues: values['http-max-json-values'],
      maxTensors: values['http-max-tensors'],
    },
    reusePort: sharesPort(values, 'http'),
    restrictedApis: readRestrictions(values, 'http-restricted-api'),
    forwardHeaders: readForwardPattern(values, 'http-header-forward-pattern'),
    corsOrigins: readOrigins(values['http-cors-origin']),
    docs: values['http-docs'],
    tls: tlsFromFlags(values, 'http'),
  };
}

/** @throws {UsageError} for what no browser sends: a path, a missing scheme */
function readOrigins(origins: readonly string[]): readonly string[] {
  const wrong = origins.find((origin) => origin !== '*' && !/^[a-z][a-z0-9+.-]*:\/\/[^/?#,\s]+$/i.test(origin));
  if (wrong === undefined) return origins;
  throw new UsageError(
    `option '--http-cors-origin' takes an origin as browsers send it, https://example.com, or *, got '${wrong}'`,
  );
}

/** `ipv6:[::1]` and `[::1]` are ways to write `::1`. */
function listenAddress(text: string): string {
  return text.replace(/^ipv6:/, '').replace(/^\[(.*)\]$/, '$1');
}

function logOptions(values: ParsedFlags['values'], env: ParsedFlags['env']): LogOptions {
  return {
    format: values['log-format'],
    verbose: verboseLevel(values['log-verbose']),
    info: values['log-info'],
    warning: values['log-warning'],
    error: values['log-error'],
    file: values['log-file'],
    models: readModelLevels(values['log-model-level']),
    escapes: env.TRITON_SERVER_ESCAPE_LOG_MESSAGES !== '0',
  };
}

function verboseLevel(text: string): number {
  const word = text.toLowerCase();
  if (word === 'true' || word === 'on') return 1;
  if (word === 'false' || word === 'off') return 0;
  if (/^\d{1,9}$/.test(word)) return Number(word);
  throw new UsageError(`option '--log-verbose' takes a level from 0, or true or false, got '${text}'`);
}
