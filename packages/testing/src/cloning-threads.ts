import type { JobResult, JobThreads, ThreadJob } from '@nereid/core';

/**
 * Runs jobs on the calling thread, in later turns of the event loop and with everything cloned and moved on the way there and back, as it is between threads. The functions
 * come from the caller, so that sources are run and not what was built of them.
 */
export class CloningThreads implements JobThreads {
  /** Jobs so far. */
  count = 0;
  readonly #run: (input: never) => JobResult;

  /** @param run  default export of the job's module */
  constructor(run: (input: never) => JobResult) {
    this.#run = run;
  }

  async run({ input, transfer = [] }: ThreadJob): Promise<unknown> {
    this.count++;
    const there = structuredClone(input, { transfer: [...transfer] });
    await new Promise((resolve) => setImmediate(resolve));
    const { value, transfer: back } = this.#run(there as never);
    const here = structuredClone(value, { transfer: [...back] });
    await new Promise((resolve) => setImmediate(resolve));
    return here;
  }
}
