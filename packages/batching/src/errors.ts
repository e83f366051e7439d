import { type ErrorCode, type InferenceRequest, InferenceServerError } from '@nereid/core';

/**
 * Why a scheduler failed a request.
 * `queue-full`, `stopping`: it was not taken. `cancelled`, `timeout`: it left the queue. `unanswered`, `execution-broke`: a defect of the backend.
 */
export type SchedulerErrorReason =
  | 'queue-full'
  | 'stopping'
  | 'cancelled'
  | 'timeout'
  | 'unanswered'
  | 'execution-broke';

const CODES = {
  'queue-full': 'UNAVAILABLE',
  stopping: 'UNAVAILABLE',
  cancelled: 'CANCELLED',
  timeout: 'UNAVAILABLE',
  unanswered: 'INTERNAL',
  'execution-broke': 'INTERNAL',
} as const satisfies Record<SchedulerErrorReason, ErrorCode>;

/** A request that a scheduler failed. */
export class SchedulerError extends InferenceServerError {
  override readonly name = 'SchedulerError';
  readonly reason: SchedulerErrorReason;

  constructor(reason: SchedulerErrorReason, message: string, options?: ErrorOptions) {
    super(CODES[reason], message, options);
    this.reason = reason;
  }
}

/** Why a policy rejected a request. */
export interface Rejected {
  readonly request: InferenceRequest;
  readonly reason: 'queue-full' | 'stopping' | 'cancelled' | 'timeout';
  /** Requests that may wait, where that was the reason. */
  readonly limit?: number;
}

/** What a request is failed with that the policy rejected. */
export function rejectionOf(rejected: Rejected): SchedulerError {
  return new SchedulerError(rejected.reason, rejectionText(rejected));
}

function rejectionText({ request: { modelName: model }, reason, limit }: Rejected): string {
  switch (reason) {
    case 'queue-full':
      return (
        `Exceeds maximum queue size: ${limit} requests already wait for model '${model}'; ` +
        'send it again later, add model instances, or raise the limit'
      );
    case 'timeout':
      return (
        `Request timeout expired: the request waited in the queue of model '${model}' for as long as it may; ` +
        'send it again later, add model instances, or allow a longer time'
      );
    case 'stopping':
      return `model '${model}' has stopped accepting new inference requests; it is being unloaded or the server is shutting down`;
    case 'cancelled':
      return `the request for model '${model}' was cancelled before it ran`;
    default:
      return reason satisfies never;
  }
}

/** What a request is failed with whose run is over without an answer. */
export function defectOf(instance: string, broken: { readonly thrown: unknown } | undefined): SchedulerError {
  if (broken === undefined) {
    return new SchedulerError(
      'unanswered',
      `instance '${instance}' ran the request without answering it; this is a defect of its backend`,
    );
  }
  const { message } = InferenceServerError.from(broken.thrown);
  return new SchedulerError('execution-broke', `instance '${instance}' broke while it ran the request: ${message}`, {
    cause: broken.thrown,
  });
}
