/**
 * A trace as it is written: what its front end and its request tell, as marks in the order of time. Those of the execution are laid from the moment the request was handed to
 * an instance on, with the lengths that statistics count, so that sums over traces are those of the statistics.
 */
import type { BatchInfo, InferenceRequest, InferenceServerError, Tensor } from '@nereid/core';
import type { SpanIdentity } from './span-identity.ts';

/** Something that happened, by its name in Triton. */
export interface Mark {
  readonly name: string;
  /** On the engine's clock. */
  readonly micros: number;
}

export interface TracedTensor {
  readonly activity: 'TENSOR_QUEUE_INPUT' | 'TENSOR_BACKEND_INPUT' | 'TENSOR_BACKEND_OUTPUT';
  readonly tensor: Tensor;
}

export interface FinishedTrace {
  /** Running number, from 1 on. */
  readonly id: number;
  readonly protocol: 'http' | 'grpc';
  readonly modelName: string;
  /** As answered; as asked for, '' for the latest, when there was no answer. */
  readonly modelVersion: string;
  /** '' when the client gave none, and when no request was made. */
  readonly requestId: string;
  /** What the front end saw. */
  readonly front: readonly Mark[];
  /** The request in the engine; empty when it did not get there. */
  readonly request: readonly Mark[];
  /** Its execution; empty when there was none. */
  readonly compute: readonly Mark[];
  /** The batch it ran in, if batches are formed. */
  readonly batch: BatchInfo | undefined;
  readonly tensors: readonly TracedTensor[];
  readonly error: InferenceServerError | undefined;
  /** What the tracer's writer made of the trace context that came with the request. */
  readonly context: unknown;
  /** What its first span is to be; undefined where no spans are made. */
  readonly identity: SpanIdentity | undefined;
}

/** Marks of a request from its arrival to its last answer. */
export function requestMarks(request: InferenceRequest, answeredMicros: number): readonly Mark[] {
  const { arrivedMicros, observer } = request;
  if (arrivedMicros === 0) return [];
  const marks = [{ name: 'REQUEST_START', micros: arrivedMicros }];
  // Who is watched by the engine was queued; others were refused before.
  if (observer !== undefined) marks.push({ name: 'QUEUE_START', micros: arrivedMicros });
  return [...marks, { name: 'REQUEST_END', micros: answeredMicros }];
}

/** Marks of the execution of a request; of one that broke only its begin and end are known. */
export function computeMarks(
  { dispatchedMicros, execution }: InferenceRequest,
  answeredMicros: number,
): readonly Mark[] {
  if (dispatchedMicros === 0) return [];
  const start = { name: 'COMPUTE_START', micros: dispatchedMicros };
  if (execution === undefined) return [start, { name: 'COMPUTE_END', micros: answeredMicros }];
  const { computeInputNs, computeInferNs, computeOutputNs } = execution;
  const after = (ns: number) => Math.min(dispatchedMicros + ns / 1000, answeredMicros);
  return [
    start,
    { name: 'COMPUTE_INPUT_END', micros: after(computeInputNs) },
    { name: 'COMPUTE_OUTPUT_START', micros: after(computeInputNs + computeInferNs) },
    { name: 'COMPUTE_END', micros: after(computeInputNs + computeInferNs + computeOutputNs) },
  ];
}
