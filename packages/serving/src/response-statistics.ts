/** Counters of the responses of a decoupled model, by their position among the responses of their request. */
import type { ResponseReport } from '@nereid/core';
import type { ResponseStatistics } from './engine.ts';

/** A stream may have any number of responses; those from here on are counted together. */
const MAX_POSITIONS = 10_000;

class Counter {
  count = 0;
  ns = 0;

  add(ns: number): void {
    this.count++;
    this.ns += ns;
  }

  snapshot() {
    return { count: this.count, ns: Math.round(this.ns) };
  }
}

class ResponseCounters {
  readonly computeInfer = new Counter();
  readonly computeOutput = new Counter();
  readonly success = new Counter();
  readonly fail = new Counter();
  readonly emptyResponse = new Counter();
  readonly cancel = new Counter();
}

/** Source: Triton's `response_stats`. Only a response with outputs, or one that failed, is charged for computing. */
export class ResponseCounts {
  readonly #counters: ResponseCounters[] = [];

  responded({ outcome, index, computeInferNs, computeOutputNs }: ResponseReport): void {
    const counters = this.#at(Math.min(index, MAX_POSITIONS - 1));
    const totalNs = computeInferNs + computeOutputNs;
    counters[OUTCOMES[outcome]].add(totalNs);
    if (outcome === 'success' || outcome === 'fail') counters.computeInfer.add(computeInferNs);
    if (outcome === 'success') counters.computeOutput.add(computeOutputNs);
  }

  /** Ascending by position. */
  snapshot(): readonly ResponseStatistics[] {
    return this.#counters.map((counters, index) => ({
      index,
      computeInfer: counters.computeInfer.snapshot(),
      computeOutput: counters.computeOutput.snapshot(),
      success: counters.success.snapshot(),
      fail: counters.fail.snapshot(),
      emptyResponse: counters.emptyResponse.snapshot(),
      cancel: counters.cancel.snapshot(),
    }));
  }

  #at(index: number): ResponseCounters {
    for (let next = this.#counters.length; next <= index; next++) this.#counters.push(new ResponseCounters());
    const counters = this.#counters[index];
    if (counters === undefined) throw new RangeError(`a response has the position ${index}, expected 0 or more`);
    return counters;
  }
}

const OUTCOMES = {
  success: 'success',
  fail: 'fail',
  empty: 'emptyResponse',
  cancel: 'cancel',
} as const satisfies Record<ResponseReport['outcome'], keyof ResponseCounters>;
