/**
 * @internal Map that forgets what was not used lately, without any work per hit: entries live in a young and an old generation; one that is found in
 * the old moves to the young; when the young is full it becomes the old and the old is dropped. So it holds at most 2 × `capacity` entries, and what
 * is used at least once per `capacity` insertions stays.
 */
export class BoundedCache<Key, Value> {
  readonly #capacity: number;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();

  /** @param capacity  entries per generation; 0 keeps nothing */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    if (this.#capacity === 0) return;
    if (this.#young.size >= this.#capacity) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}
