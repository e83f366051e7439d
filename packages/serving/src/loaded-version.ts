import {
  type Clock,
  type InferenceRequest,
  type InferenceResponse,
  InferenceServerError,
  type InstanceSpec,
  type RequestObserver,
  type WeightsReport,
  type WeightsSource,
} from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { resolveInside } from '@nereid/repository';
import type { ModelStatistics } from './engine.ts';
import { ServingError } from './errors.ts';
import type { FirstResponseTimes } from './first-response.ts';
import type { Labels } from './labels.ts';
import type { LatencySummaries } from './latency-summaries.ts';
import { closeModel, type OpenModel } from './open-instance.ts';
import type { VersionScheduler } from './open-scheduler.ts';
import type { RequestCheck } from './request-check.ts';
import type { VersionStatistics } from './statistics.ts';

/** A request that was answered for good, or refused. */
export interface FinishedRequest {
  readonly request: InferenceRequest;
  /** Of the model that answered; '' when none took the request. */
  readonly version: string;
  /** On the engine's clock. */
  readonly finishedMicros: number;
  /** The final one; undefined when it failed, and when nothing came with the final mark. Its memory may have been given back. */
  readonly response?: InferenceResponse | undefined;
  /** Undefined when it succeeded. */
  readonly error?: InferenceServerError;
}

/** Told of every request that is over. It must not throw. */
export type FinishedListener = (finished: FinishedRequest) => void;

export interface LoadedVersionInit extends OpenModel {
  readonly name: string;
  readonly version: string;
  readonly modelDirectory: string;
  readonly config: ModelConfig;
  readonly labels: Labels;
  readonly scheduler: VersionScheduler;
  readonly check: RequestCheck;
  readonly statistics: VersionStatistics;
  /** Undefined where nobody asked for them. */
  readonly firstResponses: FirstResponseTimes | undefined;
  /** Undefined where nobody asked for them. */
  readonly summaries: LatencySummaries | undefined;
  readonly clock: Clock;
  readonly loadSeconds: number;
  readonly onFinished: FinishedListener | undefined;
}

/**
 * One version of a model that can serve: its backend objects, its scheduler, its counters.
 *
 * Every request holds the version from `infer` until its final answer; `close` waits for the last of them. It is the observer of its
 * requests, so that counting needs no object per request.
 */
export class LoadedVersion implements RequestObserver {
  readonly name: string;
  readonly version: string;
  readonly config: ModelConfig;
  readonly labels: Labels;
  readonly instances: readonly InstanceSpec[];
  /** Intra-op threads of each instance; undefined where the backend does not set them. */
  readonly threads: number | undefined;
  readonly #init: LoadedVersionInit;
  readonly #clock: Clock;
  readonly #scheduler: VersionScheduler;
  readonly #statistics: VersionStatistics;
  readonly #firstResponses: FirstResponseTimes | undefined;
  readonly #summaries: LatencySummaries | undefined;
  /** What a signature remembers instead of the version itself, so that a front end's cache keeps no unloaded model alive. */
  readonly #seal = Object.freeze({});
  #inFlight = 0;
  #idle: (() => void) | undefined;
  #closing: Promise<readonly InferenceServerError[]> | undefined;

  constructor(init: LoadedVersionInit) {
    this.name = init.name;
    this.version = init.version;
    this.config = init.config;
    this.labels = init.labels;
    this.instances = init.instances.map(({ spec }) => spec);
    this.threads = init.model.threads;
    this.#init = init;
    this.#clock = init.clock;
    this.#scheduler = init.scheduler;
    this.#statistics = init.statistics;
    this.#firstResponses = init.firstResponses;
    this.#summaries = init.summaries;
  }

  /** Requests accepted and not yet answered finally. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Requests that wait for an instance. */
  get pending(): number {
    return this.#scheduler.queued;
  }

  /**
   * Checks a request and queues it. From then on the request is answered by the scheduler or the backend.
   * @throws {InferenceServerError} when the request does not fit the model; then it is not queued, not counted, and still the caller's
   */
  infer(request: InferenceRequest): void {
    request.arrivedMicros = this.#clock.nowMicros();
    const { signature } = request;
    if (signature !== undefined && signature.acceptedBy === this.#seal) request.batchSize = signature.batchSize;
    else this.#accept(request);
    request.observer = this;
    this.#inFlight++;
    this.#scheduler.enqueue(request);
  }

  /** Whether the request continues a sequence, so that it is taken while the version closes. */
  continues(request: InferenceRequest): boolean {
    return this.#scheduler.continues?.(request) ?? false;
  }

  /** Called by the request after its responder. */
  responded(request: InferenceRequest, response: InferenceResponse | undefined, final: boolean): void {
    this.#firstResponses?.responded(request, { nowMicros: this.#clock.nowMicros(), final });
    if (!final) return;
    const finishedMicros = this.#clock.nowMicros();
    this.#statistics.succeeded(request, finishedMicros);
    this.#summaries?.succeeded(request, finishedMicros);
    this.#init.onFinished?.({ request, version: this.version, finishedMicros, response });
    this.#release();
  }

  /** Called by the request after its responder. */
  failed(request: InferenceRequest, error: InferenceServerError): void {
    const finishedMicros = this.#clock.nowMicros();
    this.#firstResponses?.responded(request, { nowMicros: finishedMicros, final: true });
    this.#statistics.failed(request, error, finishedMicros);
    this.#init.onFinished?.({ request, version: this.version, finishedMicros, error });
    this.#release();
  }

  /**
   * Exchanges the model's weights while it serves; holds the version like a request.
   * @throws {InferenceServerError} when the backend cannot, the file lies outside of the model directory, or the weights do not fit
   */
  async updateWeights(source: WeightsSource): Promise<WeightsReport> {
    const { model, modelDirectory } = this.#init;
    if (model.updateWeights === undefined) {
      throw new ServingError(
        'unsupported',
        `the backend of model '${this.name}' does not exchange weights; load a new version`,
      );
    }
    this.#inFlight++;
    try {
      const inside = 'file' in source ? { file: await resolveInside(modelDirectory, source.file) } : source;
      return await model.updateWeights(inside);
    } finally {
      this.#release();
    }
  }

  statistics(): ModelStatistics {
    const { name, version } = this;
    const { metricTags } = this.config;
    const { loadSeconds } = this.#init;
    const { pending } = this;
    const { batching, executing, instances } = this.#scheduler;
    const now = { pending, executing, instances };
    const counted = { name, version, metricTags, loadSeconds, ...now, ...this.#statistics.snapshot() };
    const firstResponseMs = this.#firstResponses?.snapshot();
    const latencyMicros = this.#summaries?.snapshot(this.#clock.nowMicros());
    return {
      ...counted,
      ...(batching !== undefined && { batching }),
      ...(firstResponseMs !== undefined && { firstResponseMs }),
      ...(latencyMicros !== undefined && { latencyMicros }),
    };
  }

  /**
   * Takes no more requests, runs those that wait, waits until the last is answered, then frees instances and model. A part that fails
   * to close does not keep the others open. Later calls wait for the first.
   * @returns what failed; empty when all was freed
   */
  close(): Promise<readonly InferenceServerError[]> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #accept(request: InferenceRequest): void {
    const { check, model } = this.#init;
    try {
      request.batchSize = check.check(request);
      model.validate?.(request);
    } catch (thrown) {
      throw withRequestId(thrown, request.id);
    }
    if (request.signature === undefined || !check.isCacheable) return;
    request.signature.acceptedBy = this.#seal;
    request.signature.batchSize = request.batchSize;
  }

  #release(): void {
    this.#inFlight--;
    if (this.#inFlight === 0) this.#idle?.();
  }

  async #close(): Promise<readonly InferenceServerError[]> {
    await this.#scheduler.stop();
    if (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    return closeModel(this.#init);
  }
}

/** A stranger, which is a defect and no refusal, stays what it is. */
function withRequestId(thrown: unknown, id: string): unknown {
  if (!(thrown instanceof InferenceServerError)) return thrown;
  const message = `[request id: ${id === '' ? '<id_unknown>' : id}] ${thrown.message}`;
  return new InferenceServerError(thrown.code, message, { cause: thrown });
}
