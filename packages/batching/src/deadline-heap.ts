/** What the heap has to know of its entries. */
export interface Timed {
  readonly deadlineMicros: number;
  /** Order of arrival, so that of equal deadlines the first comer's is first. */
  readonly order: number;
}

/** Gone entries that may lie in a heap whatever its size. */
const SPARED = 32;

/**
 * The earliest of many deadlines, in logarithmic time per entry.
 *
 * A binary heap. An entry that leaves early is only counted; it is dropped when it comes to the top, or with all others when they make more
 * than half of the heap, so each sweep is paid by those that left since the last.
 */
export class DeadlineHeap<E extends Timed> {
  readonly #isWaiting: (entry: E) => boolean;
  #heap: E[] = [];
  #gone = 0;

  /** @param isWaiting  false for an entry that left early, from then on for good */
  constructor(isWaiting: (entry: E) => boolean) {
    this.#isWaiting = isWaiting;
  }

  /** Entries held in memory: those that wait and gone ones not yet swept. */
  get held(): number {
    return this.#heap.length;
  }

  push(entry: E): void {
    this.#heap.push(entry);
    this.#rise(this.#heap.length - 1);
  }

  /** The entry whose deadline is first. */
  peek(): E | undefined {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (this.#isWaiting(top)) return top;
      this.#dropTop();
      this.#gone--;
    }
    return undefined;
  }

  /** Takes out what `peek` shows. */
  pop(): E | undefined {
    const top = this.peek();
    if (top !== undefined) this.#dropTop();
    return top;
  }

  /** One of the entries left early. To be called once per such entry, at once. */
  noteGone(): void {
    this.#gone++;
    if (this.#gone <= SPARED || this.#gone * 2 <= this.#heap.length) return;
    this.#heap = this.#heap.filter((entry) => this.#isWaiting(entry));
    this.#gone = 0;
    for (let i = (this.#heap.length >> 1) - 1; i >= 0; i--) this.#sink(i);
  }

  #dropTop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink(0);
  }

  #rise(from: number): void {
    const heap = this.#heap;
    const entry = heap[from];
    let at = from;
    while (at > 0 && entry !== undefined) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isBefore(entry, parent)) break;
      heap[at] = parent;
      at = above;
    }
    if (entry !== undefined) heap[at] = entry;
  }

  #sink(from: number): void {
    const heap = this.#heap;
    const entry = heap[from];
    if (entry === undefined) return;
    let at = from;
    for (;;) {
      const below = this.#firstChild(at);
      const child = heap[below];
      if (child === undefined || !isBefore(child, entry)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = entry;
  }

  /** Index of the child with the earlier deadline; beyond the end when there is none. */
  #firstChild(at: number): number {
    const left = 2 * at + 1;
    const [a, b] = [this.#heap[left], this.#heap[left + 1]];
    return a !== undefined && b !== undefined && isBefore(b, a) ? left + 1 : left;
  }
}

function isBefore(a: Timed, b: Timed): boolean {
  return a.deadlineMicros === b.deadlineMicros ? a.order < b.order : a.deadlineMicros < b.deadlineMicros;
}
