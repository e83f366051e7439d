import { type ErrorCode, InferenceServerError } from '@nereid/core';

/**
 * What is wrong with settings of traces:
 * `bad-config` a start-up setting that is unknown or has no such value · `bad-value` a new value of the wrong form · `fixed` a setting that only the start of the server
 * decides · `unsatisfiable` values that are right one by one and make no traces together.
 */
export type TracingErrorReason = 'bad-config' | 'bad-value' | 'fixed' | 'unsatisfiable';

const CODES: Readonly<Record<TracingErrorReason, ErrorCode>> = {
  'bad-config': 'INVALID_ARG',
  'bad-value': 'INVALID_ARG',
  fixed: 'UNSUPPORTED',
  unsatisfiable: 'INVALID_ARG',
};

/** Settings that cannot hold. */
export class TracingError extends InferenceServerError {
  override readonly name = 'TracingError';
  readonly reason: TracingErrorReason;

  constructor(reason: TracingErrorReason, message: string, options?: ErrorOptions) {
    super(CODES[reason], message, options);
    this.reason = reason;
  }
}
