/** Which of the first requests in the queue go into the next batch, and whether to send it now. */
import type { BatchCloseReason } from '@nereid/core';
import type { DynamicBatching } from './dynamic-batching.ts';
import type { QueuedRequest, Waiting } from './priority-queue.ts';

export interface BatchRules<R> {
  /** Rows of a batch at most; a request that has more by itself runs alone. */
  readonly maxBatchSize: number;
  readonly preferredSizes: ReadonlySet<number>;
  /** The largest preferred size, beyond which no more requests are waited for. */
  readonly largestPreferred: number;
  /** How long the oldest request may be held back. */
  readonly maxDelayMicros: number;
  /** Whether two requests can run in one batch. */
  readonly canJoin: (first: R, next: R) => boolean;
  /** Asks a custom strategy about one batch; absent without one. It must not throw. */
  readonly startBatch?: (() => StrategyBatch<R>) | undefined;
}

/** A batch as a custom strategy sees it. */
export interface StrategyBatch<R> {
  /** Whether the request joins those before it. */
  include(request: R): boolean;
  end(): void;
}

/**
 * The rules that a configuration means.
 * @param maxBatchSize  rows of a batch at most; 0 for a model without a batch dimension, whose requests run alone
 * @throws {RangeError} for sizes and delays that make no sense
 */
export function batchRules<R>(
  config: Pick<DynamicBatching, 'preferredBatchSize' | 'maxQueueDelayMicroseconds'>,
  { maxBatchSize, canJoin, startBatch }: Pick<BatchRules<R>, 'maxBatchSize' | 'canJoin' | 'startBatch'>,
): BatchRules<R> {
  if (!Number.isInteger(maxBatchSize) || maxBatchSize < 0) {
    throw new RangeError(`maxBatchSize must be a whole number from 0 on, got ${maxBatchSize}`);
  }
  const limit = Math.max(1, maxBatchSize);
  const { preferredBatchSize = [], maxQueueDelayMicroseconds = 0 } = config;
  const preferred = preferredBatchSize.length === 0 ? [limit] : preferredBatchSize;
  for (const size of preferred) {
    if (Number.isInteger(size) && size >= 1 && size <= limit) continue;
    throw new RangeError(`a preferred batch size must be a whole number in 1 to ${limit}, got ${size}`);
  }
  const maxDelayMicros = Number(maxQueueDelayMicroseconds);
  if (!(maxDelayMicros >= 0))
    throw new RangeError(`maxQueueDelayMicroseconds must be 0 or more, got ${maxDelayMicros}`);
  return {
    maxBatchSize: limit,
    preferredSizes: new Set(preferred),
    largestPreferred: Math.max(...preferred),
    maxDelayMicros,
    canJoin,
    startBatch,
  };
}

/** The moment of a decision. */
export interface PlanMoment {
  readonly nowMicros: number;
  /** Whether one of the requests would otherwise time out. */
  readonly isTimeout: boolean;
  /** Whether no more requests will come. */
  readonly isStopping: boolean;
}

/** The first so many requests of the plan are to be sent. */
export interface ClosedBatch {
  readonly count: number;
  readonly reason: BatchCloseReason;
}

/** What keeps a request out of a batch. */
type Obstacle = Extract<BatchCloseReason, 'full' | 'shape-change' | 'custom-strategy'>;

/**
 * Requests are offered in the order of service until one does not fit. Which of them are sent: up to the largest preferred size that they reach; else
 * all, once nothing is gained by waiting or the oldest has waited long enough (then beyond preferred sizes as well).
 * Source: Triton core `src/dynamic_batch_scheduler.cc`, `DynamicBatchScheduler::GetDynamicBatch`.
 */
export class BatchPlan<R extends QueuedRequest> {
  readonly #rules: BatchRules<R>;
  /** Undefined once it is over. */
  #strategy: StrategyBatch<R> | undefined;
  #first: R | undefined;
  #count = 0;
  #rows = 0;
  #oldestMicros = Number.POSITIVE_INFINITY;
  /** Why no further request fits. */
  #stop: Obstacle | undefined;
  /** Requests up to the best size so far: a preferred one, or the last before the preferred sizes are exceeded. */
  #best: ClosedBatch | undefined;

  constructor(rules: BatchRules<R>) {
    this.#rules = rules;
    this.#strategy = rules.startBatch?.();
  }

  /** When the oldest request will have waited long enough. */
  get dueMicros(): number {
    return this.#oldestMicros + this.#rules.maxDelayMicros;
  }

  /** Whether later requests make no difference: the batch is as large as it can get. */
  get isComplete(): boolean {
    return this.#stop !== undefined || this.#rows >= this.#rules.maxBatchSize;
  }

  /** Whether it is sent without waiting, whatever the delay. */
  get isReady(): boolean {
    return this.isComplete || this.#rows >= this.#rules.largestPreferred;
  }

  /** @returns whether it fits; after the first that does not, none is to be offered */
  offer({ request, rows, enqueuedMicros }: Waiting<R>): boolean {
    if (this.#first !== undefined) {
      this.#stop = this.#obstacle(this.#first, request, rows);
      const isPastPreferred = this.#rows + rows > this.#rules.largestPreferred;
      if (isPastPreferred) this.#best ??= { count: this.#count, reason: this.#stop ?? 'full' };
      if (this.#stop !== undefined) return false;
    } else {
      this.#first = request;
      // A batch has one request at least.
      this.#strategy?.include(request);
    }
    this.#count++;
    this.#rows += rows;
    this.#oldestMicros = Math.min(this.#oldestMicros, enqueuedMicros);
    if (this.#rules.preferredSizes.has(this.#rows)) {
      this.#best = { count: this.#count, reason: this.isComplete ? 'full' : 'preferred-size' };
    }
    return true;
  }

  /** @returns undefined while more requests are to be waited for; else nothing more is to be asked of the plan */
  close(moment: PlanMoment): ClosedBatch | undefined {
    const closed = this.#closed(moment);
    if (closed !== undefined) this.giveUp();
    return closed;
  }

  /** To be called when no batch is made of the plan. */
  giveUp(): void {
    this.#strategy?.end();
    this.#strategy = undefined;
  }

  #closed(moment: PlanMoment): ClosedBatch | undefined {
    const isLate = this.#rules.maxDelayMicros > 0 && moment.nowMicros >= this.dueMicros;
    if (this.#best !== undefined && !isLate) return this.#best;
    const reason = this.#stop ?? this.#reasonForAll(moment, isLate);
    return this.#count > 0 && reason !== undefined ? { count: this.#count, reason } : undefined;
  }

  #reasonForAll({ isTimeout, isStopping }: PlanMoment, isLate: boolean): BatchCloseReason | undefined {
    if (this.isComplete) return 'full';
    if (isLate) return 'delay';
    if (this.isReady) return 'full';
    if (this.#rules.maxDelayMicros === 0) return 'instance-idle';
    if (isTimeout) return 'timeout';
    return isStopping ? 'stopping' : undefined;
  }

  #obstacle(first: R, next: R, rows: number): Obstacle | undefined {
    if (this.#rows + rows > this.#rules.maxBatchSize) return 'full';
    if (!this.#rules.canJoin(first, next)) return 'shape-change';
    return (this.#strategy?.include(next) ?? true) ? undefined : 'custom-strategy';
  }
}
