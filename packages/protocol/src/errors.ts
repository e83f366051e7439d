import { InferenceServerError } from '@nereid/core';

/**
 * What is wrong with a message:
 * `bad-json` not JSON, or nested too deeply · `bad-header-length` the header length does not fit the body · `bad-member` a member is
 * missing or of the wrong type · `bad-parameter` the same for a parameter, or a reserved name · `bad-data` JSON tensor data that does not fit
 * datatype or shape · `bad-size` binary data too short, too long or given twice · `duplicate` a tensor named twice · `limit` larger than a
 * configured limit · `raw-request` a raw binary request that the model cannot take ·
 * `not-json` a datatype that has no JSON form.
 */
export type ProtocolErrorReason =
  | 'bad-json'
  | 'bad-header-length'
  | 'bad-member'
  | 'bad-parameter'
  | 'bad-data'
  | 'bad-size'
  | 'duplicate'
  | 'limit'
  | 'raw-request'
  | 'not-json';

/** A message that breaks the v2 protocol. Its code is INVALID_ARG. */
export class ProtocolError extends InferenceServerError {
  override readonly name = 'ProtocolError';
  readonly reason: ProtocolErrorReason;

  constructor(reason: ProtocolErrorReason, message: string) {
    super('INVALID_ARG', message);
    this.reason = reason;
  }
}
