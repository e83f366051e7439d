import { InferenceRequest, InferenceServerError, type ModelInstance, type Responder } from '@nereid/core';
import { DefaultScheduler } from './default-scheduler.ts';

export interface CallQueueOptions<Input, Output> {
  /** Runs one call. It is never called more than `concurrency` times at once. */
  readonly run: (input: Input) => Promise<Output>;
  /** Calls that run at a time; 1 by default. */
  readonly concurrency?: number;
  /** Calls that may wait, see `DefaultSchedulerOptions`; 10 000 by default. */
  readonly maxQueueSize?: number;
  /** Names the function in errors; `call` by default. */
  readonly name?: string;
}

/** Puts the default scheduler before any asynchronous function: first come, first served, so many at a time, so many waiting. */
export class CallQueue<Input, Output> {
  readonly #calls = new Map<InferenceRequest, Call<Input, Output>>();
  readonly #scheduler: DefaultScheduler;
  readonly #name: string;
  readonly #responder: Responder = {
    respond: (request) => this.#calls.delete(request),
    fail: (request, error) => {
      this.#calls.get(request)?.reject(error);
      this.#calls.delete(request);
    },
  };

  /** @throws {RangeError} for a concurrency below 1 and for a limit that is no whole number from 0 on */
  constructor(options: CallQueueOptions<Input, Output>) {
    const { run, concurrency = 1, maxQueueSize = 10_000, name = 'call' } = options;
    this.#name = name;
    this.#scheduler = new DefaultScheduler({
      instances: [this.#instanceOf(run, concurrency)],
      maxQueueSize,
      // Calls run side by side: none waits for another at the instance.
      aheadMicros: Number.POSITIVE_INFINITY,
    });
  }

  /**
   * Calls the function when its turn comes.
   * @param signal takes the call out of the queue; a call that runs already completes
   * @throws what the function throws
   * @throws {SchedulerError} UNAVAILABLE when too many wait or after `close`, CANCELLED by the signal
   */
  call(input: Input, options: { readonly signal?: AbortSignal } = {}): Promise<Output> {
    const { signal } = options;
    const request = new InferenceRequest({ ...NO_TENSORS, modelName: this.#name }, this.#responder);
    const cancel = () => request.cancel();
    if (signal?.aborted) request.cancel();
    else signal?.addEventListener('abort', cancel, { once: true });
    const answered = new Promise<Output>((resolve, reject) => this.#calls.set(request, { input, resolve, reject }));
    this.#scheduler.enqueue(request);
    return answered.finally(() => signal?.removeEventListener('abort', cancel));
  }

  /** Refuses new calls, runs those that wait, and resolves when the last one is done. */
  close(): Promise<void> {
    return this.#scheduler.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #instanceOf(run: (input: Input) => Promise<Output>, capacity: number): ModelInstance {
    const execute = async ([request]: readonly InferenceRequest[]) => {
      const call = request && this.#calls.get(request);
      if (request === undefined || call === undefined) return;
      try {
        call.resolve(await run(call.input));
        request.respond(undefined);
      } catch (thrown) {
        call.reject(thrown);
        request.fail(InferenceServerError.from(thrown));
      }
    };
    return { name: this.#name, capacity, execute, close: async () => {} };
  }
}

interface Call<Input, Output> {
  readonly input: Input;
  resolve(output: Output): void;
  reject(reason: unknown): void;
}

const NO_TENSORS = { modelVersion: '', id: '', inputs: [], requestedOutputs: [] };
