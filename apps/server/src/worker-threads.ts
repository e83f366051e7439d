import { Worker } from 'node:worker_threads';
import { InferenceServerError, type JobThreads, type ThreadJob } from '@nereid/core';

export interface WorkerThreadsOptions {
  /** Threads at most. Each is made when the others are busy, and stays. Default 2. */
  readonly maxThreads?: number;
}

interface Pending {
  readonly job: ThreadJob;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** What a thread answers to a job. */
type Reply = { readonly value: unknown } | { readonly error: unknown };

/** Runs jobs in the order they come, each on a thread of its own while it lasts. A thread that dies fails its job; the next job gets a new one. */
export class WorkerThreads implements JobThreads {
  readonly #maxThreads: number;
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Pending>();
  readonly #waiting: Pending[] = [];
  #isClosed = false;

  constructor({ maxThreads = 2 }: WorkerThreadsOptions = {}) {
    this.#maxThreads = maxThreads;
  }

  run(job: ThreadJob): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#next();
    });
  }

  /** Ends the threads. Jobs that are not done are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const pending = [...this.#busy.values(), ...this.#waiting.splice(0)];
    const workers = [...this.#idle.splice(0), ...this.#busy.keys()];
    this.#busy.clear();
    for (const { reject } of pending) reject(closed());
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  #next(): void {
    if (this.#waiting.length === 0) return;
    const worker = this.#idle.pop() ?? (this.#busy.size < this.#maxThreads ? this.#open() : undefined);
    const pending = worker && this.#waiting.shift();
    if (worker === undefined || pending === undefined) return;
    this.#busy.set(worker, pending);
    // Busy threads keep the process, idle ones do not.
    worker.ref();
    const { module, input, transfer = [] } = pending.job;
    try {
      worker.postMessage({ module, input }, transfer);
    } catch (thrown) {
      // Input that cannot be cloned.
      this.#free(worker);
      pending.reject(thrown);
    }
  }

  #open(): Worker {
    const worker = new Worker(THREAD, { eval: true, name: 'nereid-job' });
    worker.on('message', (reply: Reply) => {
      const pending = this.#busy.get(worker);
      this.#free(worker);
      if ('value' in reply) pending?.resolve(reply.value);
      else pending?.reject(reply.error);
      this.#next();
    });
    worker.on('error', (error) => this.#lose(worker, error));
    worker.on('exit', (code) => this.#lose(worker, new Error(`the thread ended with code ${code}`)));
    return worker;
  }

  #free(worker: Worker): void {
    this.#busy.delete(worker);
    worker.unref();
    this.#idle.push(worker);
  }

  #lose(worker: Worker, error: unknown): void {
    const pending = this.#busy.get(worker);
    this.#busy.delete(worker);
    const at = this.#idle.indexOf(worker);
    if (at !== -1) this.#idle.splice(at, 1);
    pending?.reject(error);
    this.#next();
  }
}

/** As text, because a server may be run from its sources, which a thread cannot load. */
const THREAD = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', async ({ module, input }) => {
  try {
    const { default: run } = await import(module);
    const { value, transfer } = run(input);
    parentPort.postMessage({ value }, transfer);
  } catch (error) {
    parentPort.postMessage({ error });
  }
});
`;

function closed(): InferenceServerError {
  return new InferenceServerError('UNAVAILABLE', 'the server is stopping');
}
