/**
 * Custom batching strategies: code of whoever runs a server that has a say in which requests share a batch. Five moments: a strategy is opened with its model
 * (`OpenBatchStrategy`), it is told when a batch begins to form (`startBatch`), is asked for each request (`include`), is told when the batch is over (`end`),
 * and is closed with the model (`close`). All but the first and the last are called while requests wait: they must be quick, and cannot wait themselves.
 */
import type { ModelContext } from './backend.ts';
import type { InferenceRequest } from './request.ts';

/** One batch while it forms. */
export interface FormingBatch {
  /**
   * Asked about each request that could join, in order, once those before it are in: whether it joins as well. False closes the batch before it. The first request
   * of a batch is shown too, and joins whatever the answer. Which batch a request runs in is not settled by the answer: the batch may be given up and formed anew, and may
   * be sent without the last of those that joined. What throws counts as false.
   */
  include(request: InferenceRequest): boolean;
  /** The batch was sent, or given up. Nothing is called after it. */
  end?(): void;
}

/** Decides for one loaded model version. */
export interface BatchStrategy {
  /** A batch begins to form. When it throws, the batch holds one request. */
  startBatch(): FormingBatch;
  /** The model is unloaded; no batch forms any more. */
  close?(): void | Promise<void>;
}

/** What a strategy is opened for. */
export type StrategyContext<Config> = Omit<ModelContext<Config>, 'instances'>;

/** Makes the strategy of one model version; what it throws or rejects with fails the load. */
export type OpenBatchStrategy<Config> = (context: StrategyContext<Config>) => BatchStrategy | Promise<BatchStrategy>;
