const FIRST_CAPACITY = 16;
/** Gone entries that may lie in a queue whatever its size, so that a short queue is not rebuilt over and over. */
const SPARED = 32;

/**
 * First in, first out, in constant time per entry.
 *
 * A ring buffer of a power of two. An entry that leaves early (cancelled, timed out) is only counted and left where it lies; it is stepped over
 * when its turn comes. When more than half of the entries are gone ones, the ring is rebuilt without them: each rebuild is paid by those that left
 * since the last, and a queue never holds more than twice (plus a few) what waits in it.
 */
export class RequestQueue<R> {
  readonly #isWaiting: (entry: R) => boolean;
  #ring: (R | undefined)[] = new Array(FIRST_CAPACITY);
  #head = 0;
  /** Entries in the ring, gone ones included. */
  #used = 0;
  #gone = 0;

  /** @param isWaiting  false for an entry that left early, from then on for good */
  constructor(isWaiting: (entry: R) => boolean) {
    this.#isWaiting = isWaiting;
  }

  /** Entries that wait. */
  get size(): number {
    return this.#used - this.#gone;
  }

  /** Entries held in memory: those that wait and gone ones not yet swept. */
  get held(): number {
    return this.#used;
  }

  push(entry: R): void {
    if (this.#used === this.#ring.length) this.#rebuild(this.#ring.length * 2);
    this.#ring[(this.#head + this.#used) & (this.#ring.length - 1)] = entry;
    this.#used++;
  }

  /** Takes the oldest entry that waits. */
  shift(): R | undefined {
    while (this.#used > 0) {
      const entry = this.#ring[this.#head];
      this.#ring[this.#head] = undefined;
      this.#head = (this.#head + 1) & (this.#ring.length - 1);
      this.#used--;
      if (entry !== undefined && this.#isWaiting(entry)) return entry;
      this.#gone--;
    }
    return undefined;
  }

  /**
   * Shows the entries that wait to `visitor`, oldest first, until it returns false. It must not change the queue.
   * @returns false when the visitor ended it
   */
  visit(visitor: (entry: R) => boolean): boolean {
    for (let i = 0; i < this.#used; i++) {
      const entry = this.#ring[(this.#head + i) & (this.#ring.length - 1)];
      if (entry !== undefined && this.#isWaiting(entry) && !visitor(entry)) return false;
    }
    return true;
  }

  /** One of the entries left early. To be called once per such entry, at once. */
  noteGone(): void {
    this.#gone++;
    if (this.#gone > SPARED && this.#gone * 2 > this.#used) this.#rebuild(this.#ring.length);
  }

  #rebuild(capacity: number): void {
    const ring: (R | undefined)[] = new Array(capacity);
    let used = 0;
    this.visit((entry) => {
      ring[used++] = entry;
      return true;
    });
    this.#ring = ring;
    this.#head = 0;
    this.#used = used;
    this.#gone = 0;
  }
}
