/**
 * Why a scheduler closed a batch and sent it to an instance.
 *
 * `preferred-size`: it has a preferred batch size. `full`: it has the largest size that is waited for, or the next request would exceed that.
 * `shape-change`: the next request's inputs cannot be joined with its own. `custom-strategy`: the model's batching strategy kept the next request out.
 * `delay`: its oldest request had waited for the longest queue delay.
 * `double-buffering`: it has half of the requests that are there, and goes by turns with the other half.
 * `instance-idle`: an instance was free and no delay is configured. `timeout`: one of its requests would have timed out in the queue.
 * `stopping`: no more requests will come.
 */
export type BatchCloseReason =
  | 'preferred-size'
  | 'full'
  | 'shape-change'
  | 'custom-strategy'
  | 'delay'
  | 'instance-idle'
  | 'double-buffering'
  | 'timeout'
  | 'stopping';

/** The batch a request ran in; one object for all of its requests. */
export interface BatchInfo {
  /** Running number among the batches of its scheduler, from 1 on. */
  readonly id: number;
  readonly reason: BatchCloseReason;
  /** Requests in it. */
  readonly requestCount: number;
  /** Rows in it: the sum of the requests' batch sizes. */
  readonly batchSize: number;
  /** Name of the model instance that took it. */
  readonly instance: string;
}
