import type { InferenceRequest } from '@nereid/core';

/** Which requests of a call have not taken which of its results yet. A result is taken when all of them have. */
export class ResponseWindow {
  readonly #open = new Set<Set<InferenceRequest>>();
  readonly #taken: () => void;

  /** @param taken  called for each result once all its requests have taken it */
  constructor(taken: () => void) {
    this.#taken = taken;
  }

  /**
   * Adds a result that goes to these requests; one that goes to none is taken at once.
   * @returns what a request's `release` is to do; later calls of it do nothing
   */
  add(requests: Iterable<InferenceRequest>): (request: InferenceRequest) => void {
    const left = new Set(requests);
    if (left.size === 0) this.#taken();
    else this.#open.add(left);
    return (request) => this.#take(left, request);
  }

  /** The request waits for nothing any more: nobody waits for it either. */
  leave(request: InferenceRequest): void {
    for (const left of this.#open) this.#take(left, request);
  }

  #take(left: Set<InferenceRequest>, request: InferenceRequest): void {
    if (!left.delete(request) || left.size > 0) return;
    this.#open.delete(left);
    this.#taken();
  }
}
