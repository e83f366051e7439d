/** A function of a module, run beside the event loop. */
export interface ThreadJob {
  /** URL of a JavaScript file whose default export is `(input) => JobResult`. */
  readonly module: string;
  /** What the function is given: a structured clone. */
  readonly input: unknown;
  /** Buffers in `input` that are moved instead of copied: they are empty here afterwards. */
  readonly transfer?: readonly ArrayBuffer[];
}

/** What the function of a job returns. */
export interface JobResult {
  /** A structured clone of it reaches the caller. */
  readonly value: unknown;
  /** Buffers in it that are moved instead of copied. */
  readonly transfer: readonly ArrayBuffer[];
}

/** Threads for work on bytes that would hold up the event loop, and with it every other client. */
export interface JobThreads {
  /**
   * Runs a job as soon as a thread is free.
   * @returns the `value` of its result; rejects with what its function throws, and when the threads are closed
   */
  run(job: ThreadJob): Promise<unknown>;
}
