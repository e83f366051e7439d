import type { InferenceRequest } from './request.ts';

/** Decides when which requests run on which instance of one model version. */
export interface Scheduler {
  /**
   * Takes ownership of the request: from here on it is answered by the scheduler or by the instance that ran it, exactly once, also when it
   * is refused (queue full, stopping), cancelled, or when the scheduler stops.
   */
  enqueue(request: InferenceRequest): void;
  /** Requests waiting in the queue. */
  readonly queued: number;
  /** Requests handed to an instance and not yet done. */
  readonly executing: number;
  /** Refuses new requests, runs those that wait, and resolves when the last one is done. */
  stop(): Promise<void>;
}
