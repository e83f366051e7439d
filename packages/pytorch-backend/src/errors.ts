import { type ErrorCode, InferenceServerError } from '@nereid/core';

/**
 * What went wrong:
 * - `addon`: the native addon cannot be loaded;
 * - `file`: the model file is missing, lies outside its version directory, or is not what the configuration says it is;
 * - `platform`: the file was compiled for another device, machine or instruction set;
 * - `parameter`: a value under `parameters` does not parse;
 * - `signature`: names, counts, positions, datatypes or shapes of configuration and file disagree;
 * - `unsupported`: the configuration asks for something this backend does not do;
 * - `load`: torch refused the file;
 * - `weights`: new weights are not those of the model, or the model's cannot be exchanged;
 * - `request`: a request's tensors are not what the model takes;
 * - `execution`: the run failed;
 * - `output`: the run gave something else than the configuration promises;
 * - `cancelled`: the client had gone before the run;
 * - `closed`: the model or instance was closed.
 */
export type PyTorchErrorReason =
  | 'addon'
  | 'file'
  | 'platform'
  | 'parameter'
  | 'signature'
  | 'unsupported'
  | 'load'
  | 'weights'
  | 'request'
  | 'execution'
  | 'output'
  | 'cancelled'
  | 'closed';

export interface PyTorchErrorInit {
  readonly code: ErrorCode;
  readonly reason: PyTorchErrorReason;
  readonly message: string;
  /** Torch's own error, untrimmed, where there is one. */
  readonly cause?: unknown;
}

/** Every error that this package throws or answers a request with. */
export class PyTorchBackendError extends InferenceServerError {
  override readonly name = 'PyTorchBackendError';
  readonly reason: PyTorchErrorReason;

  constructor(init: PyTorchErrorInit) {
    super(init.code, init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.reason = init.reason;
  }
}
