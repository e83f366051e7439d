import { type ErrorCode, InferenceServerError } from '@nereid/core';

/**
 * What went wrong:
 * - `config`: the configuration asks for something a model.py cannot have;
 * - `parameter`: a value under `parameters` does not parse;
 * - `file`: there is no model file, or it lies outside its version directory;
 * - `python`: there is no Python with torch, or its environment cannot be unpacked;
 * - `load`: the model could not be made: its file, class, weights or device;
 * - `start`: the process did not become ready in time, or ended before;
 * - `request`: a request's tensors are not what the model takes;
 * - `execution`: `forward` failed;
 * - `output`: `forward` returned something else than the configuration promises;
 * - `memory`: a batch does not fit into the shared memory;
 * - `process`: the process ended while it ran the batch, or is not back yet;
 * - `cancelled`: the client had gone before the run;
 * - `closed`: the instance was closed.
 */
export type PythonRuntimeErrorReason =
  | 'config'
  | 'parameter'
  | 'file'
  | 'python'
  | 'load'
  | 'start'
  | 'request'
  | 'execution'
  | 'output'
  | 'memory'
  | 'process'
  | 'cancelled'
  | 'closed';

export interface PythonRuntimeErrorInit {
  readonly code: ErrorCode;
  readonly reason: PythonRuntimeErrorReason;
  readonly message: string;
  /** Python's traceback as it came, where there is one. */
  readonly traceback?: string | undefined;
  readonly cause?: unknown;
}

/** Every error that this package throws or answers a request with. */
export class PythonRuntimeError extends InferenceServerError {
  override readonly name = 'PythonRuntimeError';
  readonly reason: PythonRuntimeErrorReason;
  /** Python's whole traceback, for the log; the message holds its last lines. */
  readonly traceback: string | undefined;

  constructor(init: PythonRuntimeErrorInit) {
    super(init.code, init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.reason = init.reason;
    this.traceback = init.traceback;
  }
}
