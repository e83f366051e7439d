import { RateLimiter, type RateLimiterOptions, SystemClock } from '@nereid/batching';
import {
  type Backend,
  type Clock,
  type InferenceRequest,
  InferenceServerError,
  type Logger,
  silentLogger,
  type WeightsReport,
  type WeightsSource,
} from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import type { ModelRepository } from '@nereid/repository';
import type { BatchStrategyOptions } from './batch-strategy/open.ts';
import { Classification, type WantedClasses } from './classification.ts';
import type { InferenceEngine, ModelIndexEntry, ModelMetadata, ModelStatistics } from './engine.ts';
import { ServingError } from './errors.ts';
import { type LoadAllContext, type LoadFailure, loadAll } from './load-all.ts';
import type { FinishedListener, LoadedVersion } from './loaded-version.ts';
import { type ModelRow, ModelSet } from './model-set.ts';
import { isDecoupled, type SchedulerOptions } from './open-scheduler.ts';
import type { ServedModel } from './served-model.ts';
import { awaitDrain, type LeftOver, type StopOptions, type StopReport } from './stop.ts';
import { quantileFault, type WantedQuantile } from './targeted-quantiles.ts';
import { tensorSpecs, toMetadata } from './tensor-spec.ts';

export interface EngineOptions {
  readonly repository: ModelRepository;
  /** What runs models; each serves the configurations whose `backend` is its name. */
  readonly backends: readonly Backend<ModelConfig>[];
  /** Queue limit and fast lane of every model; the scheduler's defaults apply. */
  readonly scheduler?: SchedulerOptions | undefined;
  readonly batchStrategies?: BatchStrategyOptions | undefined;
  /**
   * Lets a batch run only when the resources are free that its instance group demands (`rate_limiter`), and in turn. Off by default: then demands and
   * priorities of configurations have no effect.
   */
  readonly rateLimit?: RateLimiterOptions | undefined;
  /** Told of every request that is over, refused ones included; nobody by default. */
  readonly onFinished?: FinishedListener | undefined;
  /** A `SystemClock` by default. */
  readonly clock?: Clock | undefined;
  /** Drops everything by default. */
  readonly logger?: Logger | undefined;
  /** Whether readiness asks for every known version to be READY, as opposed to start-up being over. Default true. */
  readonly strictReadiness?: boolean | undefined;
  /** Versions that load at the same time, 1 at least. Default 4. */
  readonly modelLoadConcurrency?: number | undefined;
  /** How often a version that fails to load is tried again, at once. Default 0. */
  readonly modelLoadRetryCount?: number | undefined;
  /** Whether a model must have a configuration file that states everything, as opposed to backends completing it. Default false. */
  readonly requireConfig?: boolean | undefined;
  /** Ids of the GPUs that instances may use; left out, a configuration that asks for one is refused. */
  readonly gpus?: readonly number[] | undefined;
  /** Largest label file, warmup file and warmup tensor; a larger one fails its version. Default 64 MiB. */
  readonly maxFileBytes?: number | undefined;
  /** Whether the time to the first response of each request is counted into the histograms of the statistics. Default false. */
  readonly measureFirstResponses?: boolean | undefined;
  /** Quantiles of the latencies of each version, over the last minute, in the statistics; none by default. Each request then costs one to two microseconds more. */
  readonly summarizeLatencies?: readonly WantedQuantile[] | undefined;
  /** Most instances of one version, as each may cost a thread; more fail the version. Default 1024. */
  readonly maxInstances?: number | undefined;
}

/** How start-up went. */
export interface LoadReport {
  /** Whether everything found is served: what an exit-on-error policy asks for. */
  readonly isComplete: boolean;
  /** Models and versions that are not. */
  readonly failures: readonly LoadFailure[];
  /** Set when the repository itself is unusable. Then the engine neither becomes live nor ready, and has no models. */
  readonly error?: InferenceServerError;
}

type Phase = 'new' | 'loading' | 'running' | 'failed' | 'stopping';

/**
 * Makes an engine. It serves nothing before `load()`; it is to be closed with `stop()`.
 * @throws {RangeError} for a quantile that is none
 */
export function createEngine(options: EngineOptions): ServingEngine {
  return new ServingEngine(options);
}

/** The engine behind every protocol: models of a repository, run by backends. */
export class ServingEngine implements InferenceEngine, AsyncDisposable {
  readonly #repository: ModelRepository;
  readonly #models = new ModelSet();
  readonly #context: LoadAllContext;
  readonly #strictReadiness: boolean;
  #phase: Phase = 'new';
  #loading: Promise<LoadReport> | undefined;
  #stopping: Promise<StopReport> | undefined;

  constructor(options: EngineOptions) {
    for (const wanted of options.summarizeLatencies ?? []) checkQuantile(wanted);
    this.#repository = options.repository;
    this.#strictReadiness = options.strictReadiness ?? true;
    const backends = new Map(options.backends.map((backend) => [backend.name, backend]));
    const logger = options.logger ?? silentLogger;
    this.#context = {
      backends,
      logger,
      clock: options.clock ?? new SystemClock(),
      scheduler: options.scheduler ?? {},
      rateLimiter: options.rateLimit && new RateLimiter(options.rateLimit),
      maxFileBytes: options.maxFileBytes ?? 64 * 1024 * 1024,
      maxInstances: options.maxInstances ?? 1024,
      measureFirstResponses: options.measureFirstResponses ?? false,
      summarizeLatencies: options.summarizeLatencies ?? [],
      onFinished: options.onFinished,
      batchStrategies: options.batchStrategies ?? {},
      prepare: {
        backends,
        gpus: options.gpus,
        requireConfig: options.requireConfig ?? false,
        logger,
      },
      concurrency: Math.max(1, options.modelLoadConcurrency ?? 4),
      retryCount: options.modelLoadRetryCount ?? 0,
      isStopping: () => this.#phase === 'stopping',
    };
  }

  /**
   * Loads every model of the repository, the latest versions or as their policies say. A model that fails touches no other. Later calls
   * answer with the first's report.
   */
  load(): Promise<LoadReport> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /**
   * Stops in this order: no longer live, ready or open to requests, but for those that continue a sequence; what was accepted is run and answered, and
   * sequences end or become idle; instances are closed and models unloaded. A load in progress is waited for. Later calls answer with the first's report.
   */
  stop(options: StopOptions = {}): Promise<StopReport> {
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Every model and version with its state and instances, ascending by name and version: the table shown after start-up. */
  models(): readonly ModelRow[] {
    return this.#models.rows();
  }

  isLive(): boolean {
    return this.#phase === 'running';
  }

  isReady(): boolean {
    return this.#phase === 'running' && (!this.#strictReadiness || this.#models.models.every((model) => model.isReady));
  }

  isModelReady(name: string, version = ''): boolean {
    return this.#models.peek(name, version) !== undefined;
  }

  infer(request: InferenceRequest): void {
    try {
      if (request.isCancelled) throw new ServingError('cancelled', 'the request was cancelled before it was queued');
      this.#models.findFor(request).infer(request);
    } catch (thrown) {
      this.#refuse(request, thrown);
    }
  }

  modelMetadata(name: string, version = ''): ModelMetadata {
    const { config, version: found } = this.#models.find(name, version);
    const versions = version === '' ? this.#models.findModel(name).ready.map((ready) => ready.version) : [found];
    const { inputs, outputs } = tensorSpecs(config);
    return {
      name,
      versions,
      platform: config.platform === '' ? config.backend : config.platform,
      inputs: inputs.map(toMetadata),
      outputs: outputs.map(toMetadata),
    };
  }

  modelConfig(name: string, version = ''): ModelConfig {
    return this.#models.find(name, version).config;
  }

  isDecoupled(name: string, version = ''): boolean {
    const found = this.#models.peek(name, version);
    return found !== undefined && isDecoupled(found.config);
  }

  classification(
    { modelName, modelVersion }: { readonly modelName: string; readonly modelVersion: string },
    wanted: WantedClasses,
  ): Classification {
    return new Classification(this.#models.find(modelName, modelVersion), wanted);
  }

  async updateWeights(name: string, version: string, source: WeightsSource): Promise<WeightsReport> {
    return this.#models.find(name, version).updateWeights(source);
  }

  statistics(name?: string, version = ''): readonly ModelStatistics[] {
    return this.#versionsFor(name, version).map((loaded) => loaded.statistics());
  }

  pendingRequests(name: string, version = ''): number {
    return this.#versionsFor(name, version).reduce((sum, { pending }) => sum + pending, 0);
  }

  *eachStatistics(): Iterable<ModelStatistics> {
    for (const { loaded } of this.#models.models) for (const version of loaded) yield version.statistics();
  }

  index(): readonly ModelIndexEntry[] {
    return this.#models.index(this.#repository.names());
  }

  #versionsFor(name: string | undefined, version: string): readonly LoadedVersion[] {
    if (name === undefined) return this.#models.ready;
    return version === '' ? this.#models.findModel(name).ready : [this.#models.find(name, version)];
  }

  /** A request that was never queued; or a defect, which must neither escape nor be answered in detail. */
  #refuse(request: InferenceRequest, thrown: unknown): void {
    const { clock, logger, onFinished } = this.#context;
    const isOurs = thrown instanceof InferenceServerError;
    if (!isOurs)
      logger.error({ err: thrown }, `request for model '${request.modelName}' met a defect: ${String(thrown)}`);
    if (request.isDone) return;
    const error = isOurs ? thrown : new InferenceServerError('INTERNAL', 'internal error; the log has the details');
    try {
      request.fail(error);
    } catch (again) {
      logger.error({ err: again }, `the answer to a request for model '${request.modelName}' could not be delivered`);
    }
    // One that was queued has told of its end itself.
    if (request.observer === undefined)
      onFinished?.({ request, version: '', finishedMicros: clock.nowMicros(), error });
  }

  async #load(): Promise<LoadReport> {
    try {
      if (this.#phase !== 'new') throw stopping();
      this.#phase = 'loading';
      const entries = await this.#repository.scan();
      const failures = await loadAll(entries, { models: this.#models, context: this.#context });
      this.#finishLoading('running');
      return { isComplete: failures.length === 0, failures };
    } catch (thrown) {
      const error = InferenceServerError.from(thrown);
      this.#context.logger.error({ err: thrown }, `failed to load all models: ${error.message}`);
      this.#finishLoading('failed');
      return { isComplete: false, failures: [], error };
    }
  }

  #finishLoading(phase: Phase): void {
    if (this.#phase === 'loading') this.#phase = phase;
  }

  #stop(options: StopOptions): Promise<StopReport> {
    this.#phase = 'stopping';
    this.#models.closeWith(stopping());
    const left = (): readonly LeftOver[] => this.#models.models.flatMap((model) => model.unfinished());
    return awaitDrain({ done: this.#unloadAll(), left, timeoutMs: options.timeoutMs ?? 30_000 }, this.#context);
  }

  async #unloadAll(): Promise<void> {
    const unloadReady = () => Promise.all(this.#models.models.flatMap((model) => this.#unload(model)));
    await unloadReady();
    // Versions that were loading when the stop came are unloaded as soon as they are loaded.
    await this.#loading;
    await unloadReady();
  }

  #unload(model: ServedModel): Promise<void>[] {
    return model.ready.map(async (loaded) => {
      const { version } = loaded;
      const { logger } = this.#context;
      model.set(version, { state: 'UNLOADING', loaded });
      const errors = await loaded.close();
      for (const error of errors) logger.error({ err: error }, `unloading '${model.name}': ${error.message}`);
      model.set(version, { state: 'UNAVAILABLE', reason: 'unloaded' });
      logger.info({ model: model.name, version }, `successfully unloaded '${model.name}' version ${version}`);
    });
  }
}

function checkQuantile(wanted: WantedQuantile): void {
  const fault = quantileFault(wanted);
  if (fault !== undefined) throw new RangeError(fault);
}

function stopping(): ServingError {
  return new ServingError('stopping', 'Server exiting: it has stopped accepting new inference requests');
}
