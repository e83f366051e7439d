/** Slots that no sequence has, the lowest rank first. Sorted; one more moves those of lower rank, which is cheap for the slots that models have. */
export class FreeSlots<S extends { readonly rank: number }> {
  /** Descending. */
  readonly #sorted: S[];

  constructor(slots: readonly S[]) {
    this.#sorted = [...slots].sort((a, b) => b.rank - a.rank);
  }

  take(): S | undefined {
    return this.#sorted.pop();
  }

  give(slot: S): void {
    let low = 0;
    for (let high = this.#sorted.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle]?.rank ?? 0) > slot.rank) low = middle + 1;
      else high = middle;
    }
    this.#sorted.splice(low, 0, slot);
  }
}
