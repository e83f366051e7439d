/**
 * Counters of one loaded model version. They count requests that were accepted: success and queue when a request is answered, compute
 * from the report of its execution, so that a request which fails after it ran adds to `fail` alone and the three compute
 * counts always equal `success`. Times are summed in microseconds or nanoseconds as they come, and rounded when read.
 */
import { SchedulerError } from '@nereid/batching';
import type {
  ExecutionReport,
  ExecutionTimes,
  InferenceRequest,
  InferenceServerError,
  ResponseReport,
} from '@nereid/core';
import type { BatchStatistics, FailureReason, ModelStatistics, StatisticDuration } from './engine.ts';
import { ResponseCounts } from './response-statistics.ts';

/** What is counted here, of one version. */
export type VersionCounts = Omit<
  ModelStatistics,
  | 'name'
  | 'version'
  | 'metricTags'
  | 'loadSeconds'
  | 'pending'
  | 'executing'
  | 'instances'
  | 'batching'
  | 'firstResponseMs'
  | 'latencyMicros'
>;

interface BatchCounters {
  count: number;
  inputNs: number;
  inferNs: number;
  outputNs: number;
}

export class VersionStatistics {
  #lastInferenceMs = 0;
  #inferenceCount = 0;
  #executionCount = 0;
  #successCount = 0;
  #successMicros = 0;
  #queueMicros = 0;
  #inputNs = 0;
  #inferNs = 0;
  #outputNs = 0;
  #failCount = 0;
  #failMicros = 0;
  readonly #failures: Record<FailureReason, number> = { REJECTED: 0, CANCELED: 0, BACKEND: 0, OTHER: 0 };
  readonly #batches = new Map<number, BatchCounters>();
  readonly #responses = new ResponseCounts();

  /** An execution ran. Charges its times to each of its requests, on top of those of earlier turns. */
  executed(report: ExecutionReport): void {
    const { computeInputNs, computeInferNs, computeOutputNs, requests } = report;
    const times = { computeInputNs, computeInferNs, computeOutputNs };
    for (let i = 0; i < requests.length; i++) {
      const request = requests[i];
      if (request !== undefined)
        request.execution = request.execution === undefined ? times : sum(request.execution, times);
    }
    this.#executionCount++;
    this.#lastInferenceMs = Date.now();
    const batch = this.#batch(report.batchSize);
    batch.count++;
    batch.inputNs += computeInputNs;
    batch.inferNs += computeInferNs;
    batch.outputNs += computeOutputNs;
  }

  /** A decoupled model made a response. */
  responded(report: ResponseReport): void {
    this.#responses.responded(report);
  }

  succeeded(request: InferenceRequest, nowMicros: number): void {
    const { arrivedMicros, dispatchedMicros, execution } = request;
    this.#inferenceCount += Math.max(1, request.batchSize);
    this.#successCount++;
    this.#successMicros += nowMicros - arrivedMicros;
    if (dispatchedMicros > arrivedMicros) this.#queueMicros += dispatchedMicros - arrivedMicros;
    if (execution === undefined) return;
    this.#inputNs += execution.computeInputNs;
    this.#inferNs += execution.computeInferNs;
    this.#outputNs += execution.computeOutputNs;
  }

  failed(request: InferenceRequest, error: InferenceServerError, nowMicros: number): void {
    this.#failCount++;
    this.#failMicros += nowMicros - request.arrivedMicros;
    this.#failures[failureReason(request, error)]++;
  }

  snapshot(): VersionCounts {
    const count = this.#successCount;
    return {
      lastInferenceMs: this.#lastInferenceMs,
      inferenceCount: this.#inferenceCount,
      executionCount: this.#executionCount,
      success: duration(count, this.#successMicros * 1000),
      fail: duration(this.#failCount, this.#failMicros * 1000),
      failures: { ...this.#failures },
      queue: duration(count, this.#queueMicros * 1000),
      computeInput: duration(count, this.#inputNs),
      computeInfer: duration(count, this.#inferNs),
      computeOutput: duration(count, this.#outputNs),
      cacheHit: NEVER,
      cacheMiss: NEVER,
      responses: this.#responses.snapshot(),
      batches: [...this.#batches].sort(([a], [b]) => a - b).map(toBatchStatistics),
    };
  }

  #batch(size: number): BatchCounters {
    const known = this.#batches.get(size);
    if (known !== undefined) return known;
    const batch = { count: 0, inputNs: 0, inferNs: 0, outputNs: 0 };
    this.#batches.set(size, batch);
    return batch;
  }
}

function failureReason(request: InferenceRequest, error: InferenceServerError): FailureReason {
  if (error.code === 'CANCELLED') return 'CANCELED';
  if (error instanceof SchedulerError && (error.reason === 'timeout' || error.reason === 'sequence-timeout')) {
    return 'REJECTED';
  }
  return request.dispatchedMicros > 0 ? 'BACKEND' : 'OTHER';
}

function sum(a: ExecutionTimes, b: ExecutionTimes): ExecutionTimes {
  return {
    computeInputNs: a.computeInputNs + b.computeInputNs,
    computeInferNs: a.computeInferNs + b.computeInferNs,
    computeOutputNs: a.computeOutputNs + b.computeOutputNs,
  };
}

const NEVER: StatisticDuration = { count: 0, ns: 0 };

function duration(count: number, ns: number): StatisticDuration {
  return { count, ns: Math.round(ns) };
}

function toBatchStatistics([batchSize, batch]: [number, BatchCounters]): BatchStatistics {
  return {
    batchSize,
    computeInput: duration(batch.count, batch.inputNs),
    computeInfer: duration(batch.count, batch.inferNs),
    computeOutput: duration(batch.count, batch.outputNs),
  };
}
