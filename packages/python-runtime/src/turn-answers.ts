/** What the process says about the requests of a call behind its times: one number for each request of an iterative model, then the shapes of its states. */
import type { InferenceRequest } from '@nereid/core';
import type { Batch } from './gather.ts';
import type { ModelPlan } from './model-plan.ts';

const AGAIN = 1;
const SILENT = 2;

export class TurnAnswers {
  /** Dimensions of each state that was written, one after another. */
  readonly dims: readonly number[];
  readonly #flags: ReadonlyMap<InferenceRequest, number>;

  constructor(plan: ModelPlan, { requests }: Batch, numbers: readonly number[]) {
    const count = plan.sequence?.isIterative ? requests.length : 0;
    this.dims = numbers.slice(count);
    this.#flags = new Map(requests.slice(0, count).map((request, i) => [request, numbers[i] ?? 0]));
  }

  /** Whether the request asks for another turn, and there is a scheduler that gives one. */
  isAgain(request: InferenceRequest): boolean {
    return this.#has(request, AGAIN) && request.reschedule !== undefined;
  }

  /** Whether it is to have no response from this result. */
  isSilent(request: InferenceRequest): boolean {
    return this.#has(request, SILENT) && this.isAgain(request);
  }

  #has(request: InferenceRequest, flag: number): boolean {
    return ((this.#flags.get(request) ?? 0) & flag) !== 0;
  }
}
