import type { Clock, ModelInstance } from '@nereid/core';
import type { FastLaneOptions } from './fast-lane.ts';
import type { LimitedInstance } from './turns.ts';

export const DEFAULT_MAX_QUEUE_SIZE = 10_000;

export const DEFAULT_AHEAD_MICROS = 500;

/** What every scheduler takes. */
export interface SchedulerOptions {
  /** Instances of one model version, one at least. They stay the caller's, who closes them after `stop()`. */
  readonly instances: readonly ModelInstance[];
  /**
   * Requests that may wait for an instance; one more is failed with UNAVAILABLE, so that waiting stays bounded under overload.
   * 10 000 by default; 0 means any number.
   */
  readonly maxQueueSize?: number;
  /**
   * Runs short requests on the calling thread while they come one at a time, if the instances can. Off by default. Give the reports of the
   * instances to `observe`, so that runs are measured without the way to the instance's thread.
   */
  readonly inline?: FastLaneOptions;
  /**
   * Measured work that may wait at an instance beside what it runs, in microseconds; one batch always may. Only the default scheduler looks further ahead than
   * that. 500 by default.
   */
  readonly aheadMicros?: number;
  /**
   * Places of instances at a `RateLimiter`, which then decides when their batches run. Such an instance is given one batch at a time, and none inline.
   * No limit by default.
   */
  readonly rateLimits?: ReadonlyMap<ModelInstance, LimitedInstance>;
  /**
   * Whether requests may be answered after their batch is over, as those of decoupled models are. By default a request without an answer is then failed, as
   * it was forgotten.
   */
  readonly answersLate?: boolean;
  /** A `SystemClock` by default. */
  readonly clock?: Clock;
}
