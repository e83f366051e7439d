/** Puts the parts of a server together and takes them apart again. */
import { once } from 'node:events';
import { usableGpus } from '@nereid/pytorch-backend';
import { ModelRepository } from '@nereid/repository';
import { createEngine, type ModelRow, type ServingEngine, type StopReport } from '@nereid/serving';
import { openStrategyLibrary } from '@nereid/strategy-library';
import { createTracer, type Tracer } from '@nereid/tracing';
import { accessLog } from './access-log.ts';
import { pytorchBackend } from './backends.ts';
import { StartError, StoppedError } from './errors.ts';
import type { Log } from './log.ts';
import { openClock, type ServerClock } from './open-clock.ts';
import { type FrontEnds, openFrontEnds } from './open-front-ends.ts';
import type { ServerOptions } from './options.ts';
import { type FileRepository, openFileRepository } from './served-files.ts';
import { WorkerThreads } from './worker-threads.ts';

export interface RunningServer extends AsyncDisposable {
  /** Where HTTP is served; undefined when it is not. */
  readonly url: string | undefined;
  /** `host:port` where gRPC is served; undefined when it is not. */
  readonly grpcPlace: string | undefined;
  /** `host:port` where metrics are served; undefined when they are not. */
  readonly metricsPlace: string | undefined;
  readonly engine: ServingEngine;
  /** Every model and version with its state: the table shown after start-up. */
  models(): readonly ModelRow[];
  /** Not ready from here on; requests in flight are answered, models unloaded, sockets closed, all within the exit timeout. */
  stop(): Promise<StopReport>;
}

export interface StartOptions {
  /** Ends the start when it is aborted; later it has no effect. */
  readonly stopSignal?: AbortSignal;
}

/**
 * Loads every model, then opens the port: a client that gets a connection meets a server that is done starting.
 *
 * @throws {StoppedError} when `stopSignal` was aborted before the models were loaded; versions that were loading are then unloaded, or the exit timeout has passed
 * @throws {StartError} when the repository is unusable, a model failed and `exitOnError` is set, or the port cannot be had
 */
export async function startServer(
  options: ServerOptions,
  log: Log,
  { stopSignal }: StartOptions = {},
): Promise<RunningServer> {
  const files = options.files.length === 0 ? undefined : await openFileRepository(options.files);
  const paths = [...options.repositories, ...(files === undefined ? [] : [files.path])];
  const time = await openClock();
  const engine = createEngine({
    clock: time.clock,
    repository: new ModelRepository({ paths, configName: options.configName }),
    backends: [pytorchBackend(options)],
    batchStrategies: { openLibrary: openStrategyLibrary, backendDirectory: options.backendDirectory },
    scheduler: {
      maxQueueSize: options.maxQueueSize,
      ...(options.inlineMaxRunMicros > 0 && { inline: { maxRunMicros: options.inlineMaxRunMicros } }),
    },
    rateLimit: options.rateLimit,
    logger: log,
    onFinished: accessLog(log, { isAsked: options.accessLog }),
    strictReadiness: options.strictReadiness,
    modelLoadConcurrency: options.modelLoadConcurrency,
    modelLoadRetryCount: options.modelLoadRetryCount,
    requireConfig: options.requireConfig,
    gpus: await usableGpus(),
    measureFirstResponses: options.metrics?.histogramLatencies,
    summarizeLatencies: options.metrics?.summaryQuantiles,
  });
  let tracer: Tracer | undefined;
  const threads = new WorkerThreads({ maxThreads: options.jobThreads });
  try {
    const report = await untilAborted(engine.load(), stopSignal);
    if (report === undefined) throw new StoppedError(await engine.stop({ timeoutMs: options.exitTimeoutMs }));
    if (report.error) throw new StartError(report.error.message);
    if (!report.isComplete && options.exitOnError)
      throw new StartError(
        'failed to load all models; the errors above say why (--exit-on-error=false serves the others)',
      );
    const { trace: config, maxTracedResponses: maxResponses } = options;
    tracer = await createTracer({ config, maxResponses, clock: time.clock, logger: log });
    const frontEnds = await openFrontEnds(engine, { options, tracer, threads }, log);
    return new Server({ engine, frontEnds, options, files, time, tracer, threads });
  } catch (error) {
    await engine.stop({ timeoutMs: options.exitTimeoutMs });
    await tracer?.close();
    await threads.close();
    time.close();
    files?.remove();
    throw error;
  }
}

/** Undefined when the signal comes first. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  if (signal === undefined) return promise;
  if (signal.aborted) return undefined;
  const over = new AbortController();
  const aborted = once(signal, 'abort', { signal: over.signal }).catch(() => {});
  try {
    return await Promise.race([promise, aborted.then(() => undefined)]);
  } finally {
    over.abort();
  }
}

interface ServerParts {
  readonly engine: ServingEngine;
  readonly frontEnds: FrontEnds;
  readonly options: ServerOptions;
  readonly files: FileRepository | undefined;
  readonly time: ServerClock;
  readonly tracer: Tracer;
  readonly threads: WorkerThreads;
}

class Server implements RunningServer {
  readonly engine: ServingEngine;
  readonly url: string | undefined;
  readonly grpcPlace: string | undefined;
  readonly metricsPlace: string | undefined;
  readonly #frontEnds: FrontEnds;
  readonly #options: ServerOptions;
  readonly #files: FileRepository | undefined;
  readonly #time: ServerClock;
  readonly #tracer: Tracer;
  readonly #threads: WorkerThreads;

  constructor({ engine, frontEnds, options, files, time, tracer, threads }: ServerParts) {
    this.engine = engine;
    this.url = frontEnds.http?.url;
    this.grpcPlace = frontEnds.grpc?.place;
    this.metricsPlace = frontEnds.metrics?.place;
    this.#frontEnds = frontEnds;
    this.#options = options;
    this.#files = files;
    this.#time = time;
    this.#tracer = tracer;
    this.#threads = threads;
  }

  models(): readonly ModelRow[] {
    return this.engine.models();
  }

  async stop(): Promise<StopReport> {
    const report = await this.engine.stop({ timeoutMs: this.#options.exitTimeoutMs });
    // Every answer is under way: what is still open after a moment is a client that does not read.
    await Promise.all([this.#frontEnds.http?.close(), this.#frontEnds.grpc?.close()]);
    // Last, so that a collector sees the stop.
    await this.#frontEnds.metrics?.close();
    await this.#threads.close();
    await this.#tracer.close();
    this.#time.close();
    this.#files?.remove();
    return report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
