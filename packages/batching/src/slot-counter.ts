/** An instance as a policy sees it. `load` belongs to the policy: it is 0 at first and written by nobody else. */
export interface SlotCounter {
  /** Batches it may be given at a time, 1 at least. It changes with what a batch costs, and may fall below `load`. */
  readonly capacity: number;
  /** Slots taken. */
  load: number;
  /** Of instances that have as many slots taken the lowest goes first; 0 where it is left out. */
  readonly rank?: number;
}

/** The instance with the fewest slots taken among those with a free one; of equals that of lowest rank, then the first. */
export function leastLoaded<I extends SlotCounter>(instances: readonly I[]): I | undefined {
  let best: I | undefined;
  for (const instance of instances) {
    if (instance.load === 0 && rankOf(instance) === 0) return instance;
    if (instance.load < instance.capacity && (best === undefined || isBefore(instance, best))) best = instance;
  }
  return best;
}

function isBefore(one: SlotCounter, other: SlotCounter): boolean {
  return one.load === other.load ? rankOf(one) < rankOf(other) : one.load < other.load;
}

function rankOf({ rank = 0 }: SlotCounter): number {
  return rank;
}
