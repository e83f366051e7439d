import { type Datatype, type ErrorCode, type InferenceRequest, InferenceServerError } from '@nereid/core';

/**
 * Why a scheduler failed a request.
 * `queue-full`, `stopping`: it was not taken. `cancelled`, `timeout`: it left the queue. `unanswered`, `execution-broke`: a defect of the backend.
 * Of sequences: `batch-size`, `no-correlation-id`, `correlation-id-type`, `no-start`: it was not taken as it breaks their rules. `sequence-cancelled`,
 * `sequence-timeout`: it left the queue with its sequence.
 */
export type SchedulerErrorReason =
  | 'queue-full'
  | 'stopping'
  | 'cancelled'
  | 'timeout'
  | 'batch-size'
  | 'no-correlation-id'
  | 'correlation-id-type'
  | 'no-start'
  | 'sequence-cancelled'
  | 'sequence-timeout'
  | 'unanswered'
  | 'execution-broke';

const CODES = {
  'queue-full': 'UNAVAILABLE',
  stopping: 'UNAVAILABLE',
  cancelled: 'CANCELLED',
  timeout: 'UNAVAILABLE',
  'batch-size': 'INVALID_ARG',
  'no-correlation-id': 'INVALID_ARG',
  'correlation-id-type': 'INVALID_ARG',
  'no-start': 'INVALID_ARG',
  'sequence-cancelled': 'CANCELLED',
  'sequence-timeout': 'UNAVAILABLE',
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
  readonly reason: Exclude<SchedulerErrorReason, 'correlation-id-type' | 'unanswered' | 'execution-broke'>;
  /** Requests that may wait, where that was the reason. */
  readonly limit?: number;
}

/** What a request is failed with that the policy rejected. */
export function rejectionOf(rejected: Rejected): SchedulerError {
  return new SchedulerError(rejected.reason, rejectionText(rejected));
}

function rejectionText({ request, reason, limit }: Rejected): string {
  const { modelName: model } = request;
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
    case 'batch-size':
      return (
        `a request for model '${model}', which batches sequences, must specify batch-size 1, got ${request.batchSize}; ` +
        'send each row as a request of its own sequence'
      );
    case 'no-correlation-id':
      return (
        `a request for model '${model}', which batches sequences, must specify a non-zero or non-empty correlation ID; ` +
        "set 'sequence_id', the same for all requests of the sequence"
      );
    case 'no-start':
      return (
        `the first request of sequence ${named(request)} for model '${model}' must specify the START flag; the sequence has not begun, ` +
        'has ended, was cancelled, or had no request for longer than the model allows'
      );
    case 'sequence-cancelled':
      return `the request for model '${model}' was cancelled: a request of its sequence ${named(request)} was cancelled before it ran`;
    case 'sequence-timeout':
      return (
        `timeout of the corresponding sequence has been expired: sequence ${named(request)} for model '${model}' waited for a slot for as long ` +
        'as one of its requests may; send it again later, from its first request on'
      );
    default:
      return reason satisfies never;
  }
}

function named({ correlationId }: InferenceRequest): string {
  return typeof correlationId === 'string' ? `'${correlationId}'` : String(correlationId);
}

/** What a request is failed with whose correlation ID is a string where the model takes a number, or the other way round. */
export function wrongIdType(
  { correlationId, modelName }: InferenceRequest,
  control: { readonly name: string; readonly datatype: Datatype },
): SchedulerError {
  const got = typeof correlationId === 'string' ? 'BYTES' : 'UINT64';
  const hint = control.datatype === 'BYTES' ? 'a string' : 'a number';
  return new SchedulerError(
    'correlation-id-type',
    `sequence batching control '${control.name}' data-type is '${got}', but model '${modelName}' expects '${control.datatype}'; ` +
      `send the correlation ID as ${hint}`,
  );
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

/** `too-few`: an instance could never run. `mixed-scope`: a resource is global in one place and not in another. */
export type RateLimitErrorReason = 'too-few' | 'mixed-scope';

/** Instances that a rate limiter does not take in. */
export class RateLimitError extends InferenceServerError {
  override readonly name = 'RateLimitError';
  readonly reason: RateLimitErrorReason;

  constructor(reason: RateLimitErrorReason, message: string) {
    super('INVALID_ARG', message);
    this.reason = reason;
  }
}
