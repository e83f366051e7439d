import type { BatchCloseReason } from '@nereid/core';

/** How batches were formed since the scheduler was made. */
export interface BatchingStatistics {
  /** Batches by their number of rows, ascending. */
  readonly sizes: readonly { readonly batchSize: number; readonly count: number }[];
  /** Batches by the reason why they were closed. */
  readonly closed: Readonly<Record<BatchCloseReason, number>>;
}

/** Counts the batches of one scheduler. */
export class BatchCounters {
  readonly #sizes = new Map<number, number>();
  readonly #closed: Record<BatchCloseReason, number> = {
    'preferred-size': 0,
    full: 0,
    'shape-change': 0,
    'custom-strategy': 0,
    delay: 0,
    'instance-idle': 0,
    'double-buffering': 0,
    timeout: 0,
    stopping: 0,
  };
  #count = 0;

  /** @returns the running number of the batch, from 1 on */
  add(batchSize: number, reason: BatchCloseReason): number {
    this.#sizes.set(batchSize, (this.#sizes.get(batchSize) ?? 0) + 1);
    this.#closed[reason]++;
    return ++this.#count;
  }

  /** A batch grew before it started. */
  grew(from: number, to: number): void {
    const left = (this.#sizes.get(from) ?? 0) - 1;
    if (left > 0) this.#sizes.set(from, left);
    else this.#sizes.delete(from);
    this.#sizes.set(to, (this.#sizes.get(to) ?? 0) + 1);
  }

  snapshot(): BatchingStatistics {
    const sizes = [...this.#sizes].sort(([a], [b]) => a - b).map(([batchSize, count]) => ({ batchSize, count }));
    return { sizes, closed: { ...this.#closed } };
  }
}
