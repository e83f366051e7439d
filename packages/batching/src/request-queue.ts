/** What a queue has to know of its entries: a cancelled one counts no longer. */
export interface Cancellable {
  readonly isCancelled: boolean;
}

const FIRST_CAPACITY = 16;
/** Cancelled entries that may lie in a queue whatever its size, so that a short queue is not rebuilt over and over. */
const SPARED = 32;

/**
 * First in, first out, in constant time per entry.
 *
 * A ring buffer of a power of two. A cancelled entry is only counted when it is cancelled and left where it lies; it is stepped over when its turn
 * comes. When more than half of the entries are cancelled ones, the ring is rebuilt without them: each rebuild is paid by the
 * cancellations since the last, and a queue never holds more than twice (plus a few) what waits in it.
 */
export class RequestQueue<R extends Cancellable> {
  #ring: (R | undefined)[] = new Array(FIRST_CAPACITY);
  #head = 0;
  /** Entries in the ring, cancelled ones included. */
  #used = 0;
  #cancelled = 0;

  /** Entries that wait. */
  get size(): number {
    return this.#used - this.#cancelled;
  }

  /** Entries held in memory: those that wait and cancelled ones not yet swept. */
  get held(): number {
    return this.#used;
  }

  push(entry: R): void {
    if (this.#used === this.#ring.length) this.#rebuild(this.#ring.length * 2);
    this.#ring[(this.#head + this.#used) & (this.#ring.length - 1)] = entry;
    this.#used++;
  }

  /** Takes the oldest entry that is not cancelled. */
  shift(): R | undefined {
    while (this.#used > 0) {
      const entry = this.#ring[this.#head];
      this.#ring[this.#head] = undefined;
      this.#head = (this.#head + 1) & (this.#ring.length - 1);
      this.#used--;
      if (entry?.isCancelled === false) return entry;
      this.#cancelled--;
    }
    return undefined;
  }

  /** One of the entries was cancelled since. To be called once per cancelled entry, at once. */
  noteCancelled(): void {
    this.#cancelled++;
    if (this.#cancelled > SPARED && this.#cancelled * 2 > this.#used) this.#rebuild(this.#ring.length);
  }

  #rebuild(capacity: number): void {
    const ring: (R | undefined)[] = new Array(capacity);
    let used = 0;
    for (let i = 0; i < this.#used; i++) {
      const entry = this.#ring[(this.#head + i) & (this.#ring.length - 1)];
      if (entry?.isCancelled === false) ring[used++] = entry;
    }
    this.#ring = ring;
    this.#head = 0;
    this.#used = used;
    this.#cancelled = 0;
  }
}
