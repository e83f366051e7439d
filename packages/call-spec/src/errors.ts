import { type ErrorCode, InferenceServerError } from '@nereid/core';

/**
 * Why a call spec or the names that a configuration uses for it were refused.
 *
 * About the two strings: `not-json`, `not-a-spec` (not an array of two), `protocol`, `not-a-node`, `node-type` (a container that is not
 * a tuple, list or dict), `context`, `duplicate-key`, `children` (no list of them, or as many keys as children it has not),
 * `input-root` (not a tuple of a tuple and a dict), `limit` (an option of `CallSpecLimits`).
 * About the compiled inputs: `compiled-inputs` (they do not fit the leaves), `burnt-in` (which leaves were burnt in is ambiguous).
 * About names: `unknown-name`, `index` (outside the tensors), `claimed-twice`, `input-count`, `no-outputs`.
 */
export type CallSpecReason =
  | 'not-json'
  | 'not-a-spec'
  | 'protocol'
  | 'not-a-node'
  | 'node-type'
  | 'context'
  | 'duplicate-key'
  | 'children'
  | 'input-root'
  | 'limit'
  | 'compiled-inputs'
  | 'burnt-in'
  | 'unknown-name'
  | 'index'
  | 'claimed-twice'
  | 'input-count'
  | 'no-outputs';

/** One refusal: its reason, and a message that names the thing, what was expected, what came and what to do. */
export interface CallSpecProblem {
  readonly reason: CallSpecReason;
  readonly message: string;
}

const CODES: Record<CallSpecReason, ErrorCode> = {
  'not-json': 'INTERNAL',
  'not-a-spec': 'INTERNAL',
  protocol: 'UNSUPPORTED',
  'not-a-node': 'INTERNAL',
  'node-type': 'UNSUPPORTED',
  context: 'INTERNAL',
  'duplicate-key': 'INTERNAL',
  children: 'INTERNAL',
  'input-root': 'INTERNAL',
  limit: 'UNSUPPORTED',
  'compiled-inputs': 'INTERNAL',
  'burnt-in': 'UNSUPPORTED',
  'unknown-name': 'INVALID_ARG',
  index: 'INVALID_ARG',
  'claimed-twice': 'INVALID_ARG',
  'input-count': 'INVALID_ARG',
  'no-outputs': 'INVALID_ARG',
};

/** Thrown by this package. `reason` is that of the first problem; `problems` lists all that were found, in order. */
export class CallSpecError extends InferenceServerError {
  override readonly name = 'CallSpecError';
  readonly reason: CallSpecReason;
  readonly problems: readonly CallSpecProblem[];

  constructor(problem: CallSpecProblem, ...more: readonly CallSpecProblem[]) {
    super(CODES[problem.reason], [problem, ...more].map(({ message }) => message).join('\n'));
    this.reason = problem.reason;
    this.problems = [problem, ...more];
  }
}
