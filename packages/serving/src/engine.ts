/** What front ends see of the engine. Everything here is independent of any protocol. */
import type { BatchingStatistics, InstanceLoad } from '@nereid/batching';
import type { InferenceRequest, WeightsReport, WeightsSource } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import type { Classification, WantedClasses } from './classification.ts';

export type ModelState = 'UNKNOWN' | 'READY' | 'UNAVAILABLE' | 'LOADING' | 'UNLOADING';

/** One row of the repository index. A model of which no version was ever loaded has neither version nor state. */
export interface ModelIndexEntry {
  readonly name: string;
  readonly version?: string;
  readonly state?: ModelState;
  /** Why it is not READY; absent when there is nothing to say. */
  readonly reason?: string;
}

export interface TensorMetadata {
  readonly name: string;
  /** Wire name; `<invalid>` never occurs in a loaded model. */
  readonly datatype: string;
  /** As the client sends it: with a leading −1 when the model batches. */
  readonly shape: readonly number[];
}

export interface ModelMetadata {
  readonly name: string;
  /** READY versions in ascending order, or the one asked for. */
  readonly versions: readonly string[];
  readonly platform: string;
  readonly inputs: readonly TensorMetadata[];
  readonly outputs: readonly TensorMetadata[];
}

/** Number of events and their summed duration in nanoseconds. */
export interface StatisticDuration {
  readonly count: number;
  readonly ns: number;
}

export interface BatchStatistics {
  readonly batchSize: number;
  readonly computeInput: StatisticDuration;
  readonly computeInfer: StatisticDuration;
  readonly computeOutput: StatisticDuration;
}

/** Responses of a decoupled model at one position among those of their request. */
export interface ResponseStatistics {
  /** From 0 on. Responses from 10 000 on are counted with the last. */
  readonly index: number;
  readonly computeInfer: StatisticDuration;
  readonly computeOutput: StatisticDuration;
  /** With outputs. */
  readonly success: StatisticDuration;
  readonly fail: StatisticDuration;
  /** The final mark alone. */
  readonly emptyResponse: StatisticDuration;
  readonly cancel: StatisticDuration;
}

/**
 * Why a request failed. REJECTED: it, or its sequence, waited as long as it may. CANCELED: it was cancelled before it ran, or the model said so. BACKEND: an
 * instance had it. OTHER: the rest, e.g. a full queue. Source: Triton's label `reason` of `nv_inference_request_failure`.
 */
export type FailureReason = 'REJECTED' | 'CANCELED' | 'BACKEND' | 'OTHER';

/** Values counted into buckets. */
export interface HistogramStatistics {
  /** Ascending by bound; each counts all values up to its bound, those of the buckets before it included. */
  readonly buckets: readonly { readonly bound: number; readonly count: number }[];
  readonly count: number;
  readonly sum: number;
}

/** The latest values of a stream, and what all of them were. */
export interface SummaryStatistics {
  /** Of all values, and their sum. */
  readonly count: number;
  readonly sum: number;
  /** Of the values of the last minute, in the order they were asked for; NaN when there were none. */
  readonly quantiles: readonly { readonly quantile: number; readonly value: number }[];
}

/** Of successful requests, in whole microseconds. */
export interface LatencySummaryStatistics {
  /** From arrival to answer. */
  readonly request: SummaryStatistics;
  readonly queue: SummaryStatistics;
  /** The three of its execution, the whole for each of the requests in it. */
  readonly computeInput: SummaryStatistics;
  readonly computeInfer: SummaryStatistics;
  readonly computeOutput: SummaryStatistics;
}

export interface ModelStatistics {
  readonly name: string;
  readonly version: string;
  /** Labels that the configuration gives to the metrics of the model: `metric_tags`. */
  readonly metricTags: ReadonlyMap<string, string>;
  /** What the version took to load until it could serve. */
  readonly loadSeconds: number;
  /** Requests that wait for an instance now. */
  readonly pending: number;
  /** Requests that instances have now. */
  readonly executing: number;
  /** Batches that each instance has now: the one that it runs, and those that wait at it and can no longer be changed. */
  readonly instances: readonly InstanceLoad[];
  /** Milliseconds since the epoch of the latest execution, 0 when there was none. */
  readonly lastInferenceMs: number;
  readonly inferenceCount: number;
  readonly executionCount: number;
  readonly success: StatisticDuration;
  readonly fail: StatisticDuration;
  /** The same requests as in `fail`. */
  readonly failures: Readonly<Record<FailureReason, number>>;
  readonly queue: StatisticDuration;
  readonly computeInput: StatisticDuration;
  readonly computeInfer: StatisticDuration;
  readonly computeOutput: StatisticDuration;
  readonly cacheHit: StatisticDuration;
  readonly cacheMiss: StatisticDuration;
  /** Ascending by batch size. */
  readonly batches: readonly BatchStatistics[];
  /** Ascending by position; empty for models that are not decoupled. */
  readonly responses: readonly ResponseStatistics[];
  /** How the dynamic batcher formed batches and why it closed them; absent without one. */
  readonly batching?: BatchingStatistics;
  /** Whole milliseconds from the arrival of requests to their first response or their failure; absent unless the engine measures them. */
  readonly firstResponseMs?: HistogramStatistics;
  /** Absent unless the engine summarizes latencies. */
  readonly latencyMicros?: LatencySummaryStatistics;
}

/**
 * Models and their versions behind every protocol. `version` is a decimal string; '' or absent is the highest ready one.
 * Look-ups throw `InferenceServerError`: NOT_FOUND for an unknown model or version, UNAVAILABLE for one that is not ready.
 */
export interface InferenceEngine {
  /** Whether start-up is over and the engine is not stopping. */
  isLive(): boolean;
  /** Whether requests can be served; under strict readiness only while every known version is READY. */
  isReady(): boolean;
  /** False also for unknown models. */
  isModelReady(name: string, version?: string): boolean;
  /** Takes ownership of the request and answers it exactly once finally, failures included; never throws. */
  infer(request: InferenceRequest): void;
  modelMetadata(name: string, version?: string): ModelMetadata;
  modelConfig(name: string, version?: string): ModelConfig;
  /**
   * Whether a request to the version gets any number of responses, so that a call with one answer cannot ask it. False also for versions that are not ready: `infer` says so,
   * or takes the request as it continues a sequence.
   */
  isDecoupled(name: string, version?: string): boolean;
  /**
   * What turns outputs of a version into their classes, with the labels of its configuration.
   * @throws {InferenceServerError} INVALID_ARG for an output whose datatype has no classes
   */
  classification(
    target: { readonly modelName: string; readonly modelVersion: string },
    wanted: WantedClasses,
  ): Classification;
  /**
   * Exchanges the weights of a version while it serves: each batch has all old or all new ones, and requests that come once the promise has resolved
   * get the new. A file is named relative to the model directory.
   */
  updateWeights(name: string, version: string, source: WeightsSource): Promise<WeightsReport>;
  /** One version, one model's ready versions, or every ready version of every model. */
  statistics(name?: string, version?: string): readonly ModelStatistics[];
  /** Requests that wait for an instance of a version, or of all ready ones of the model: at the price of a look-up, where `statistics` counts everything. */
  pendingRequests(name: string, version?: string): number;
  /**
   * Every ready version of every model, and those that are being unloaded, which answer what they had accepted. Each is read when its turn comes, so that the event loop may
   * turn in between.
   */
  eachStatistics(): Iterable<ModelStatistics>;
  /** Every known model, ascending by name and version. */
  index(): readonly ModelIndexEntry[];
}
