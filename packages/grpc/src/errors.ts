import { type ErrorCode, InferenceServerError } from '@nereid/core';

/**
 * What is wrong with a call:
 * `bad-message` not the protobuf message of the method, or not framed as one · `too-large` longer than the limit · `bad-parameter` a parameter of the wrong type
 * or with a reserved name · `bad-data` typed contents that do not fit the datatype, data given twice or missing · `duplicate` an output named twice ·
 * `compression` a compression that is not supported, or a broken stream of it · `unsupported` a method or feature that is not served ·
 * `not-allowed` an operation that the server's mode does not allow · `not-one-response` a unary call to a model that did not answer exactly once ·
 * `restricted` the call takes a key that the client does not have.
 */
export type GrpcErrorReason =
  | 'bad-message'
  | 'too-large'
  | 'bad-parameter'
  | 'bad-data'
  | 'duplicate'
  | 'compression'
  | 'unsupported'
  | 'not-allowed'
  | 'not-one-response'
  | 'restricted';

const CODES: Partial<Record<GrpcErrorReason, ErrorCode>> = {
  unsupported: 'UNSUPPORTED',
  compression: 'UNSUPPORTED',
  'not-allowed': 'UNAVAILABLE',
  restricted: 'UNAVAILABLE',
  'not-one-response': 'INTERNAL',
};

/** A call that cannot be answered as it stands. Its code is INVALID_ARG unless `CODES` says otherwise. */
export class GrpcError extends InferenceServerError {
  override readonly name = 'GrpcError';
  readonly reason: GrpcErrorReason;

  constructor(reason: GrpcErrorReason, message: string, options?: ErrorOptions) {
    super(CODES[reason] ?? 'INVALID_ARG', message, options);
    this.reason = reason;
  }
}
