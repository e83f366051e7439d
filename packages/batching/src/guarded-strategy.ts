import {
  type BatchStrategy,
  type FormingBatch,
  type InferenceRequest,
  InferenceServerError,
  type Logger,
  silentLogger,
} from '@nereid/core';
import type { StrategyBatch } from './batch-plan.ts';

/** Keeps the faults of a custom strategy away from requests: each is logged, and closes the batch it happened in. */
export class GuardedStrategy {
  readonly #strategy: BatchStrategy;
  readonly #logger: Logger;
  readonly #name: string;

  constructor(
    strategy: BatchStrategy,
    about: { readonly logger?: Logger | undefined; readonly modelName?: string | undefined },
  ) {
    const { logger = silentLogger, modelName } = about;
    this.#strategy = strategy;
    this.#logger = logger;
    this.#name = modelName === undefined ? 'the batching strategy' : `the batching strategy of model '${modelName}'`;
  }

  startBatch(): StrategyBatch<InferenceRequest> {
    let batch: FormingBatch | undefined;
    try {
      batch = this.#strategy.startBatch();
    } catch (thrown) {
      this.#failed('could not start a batch, which gets one request', thrown);
    }
    return { include: (request) => this.#include(batch, request), end: () => this.#end(batch) };
  }

  #include(batch: FormingBatch | undefined, request: InferenceRequest): boolean {
    if (batch === undefined) return false;
    try {
      const answer: unknown = batch.include(request);
      if (typeof answer === 'boolean') return answer;
      throw new TypeError(`include() must return true or false at once, got ${describe(answer)}`);
    } catch (thrown) {
      this.#failed('could not tell whether a request joins its batch, which is closed before it', thrown);
      return false;
    }
  }

  #end(batch: FormingBatch | undefined): void {
    try {
      batch?.end?.();
    } catch (thrown) {
      this.#failed('could not end a batch', thrown);
    }
  }

  #failed(what: string, thrown: unknown): void {
    const { message } = InferenceServerError.from(thrown);
    this.#logger.error({ err: thrown }, `${this.#name} ${what}: ${message}`);
  }
}

function describe(answer: unknown): string {
  return answer instanceof Promise ? 'a promise' : typeof answer;
}
