/** How far the responses of one request of a decoupled model are, over all its turns. */
export class RequestProgress {
  /** Position of the next response. */
  index = 0;
  #unreleased = 0;
  #wake: (() => void) | undefined;
  readonly #most: number;

  /** @param most  responses that the client may not have taken when the request runs again */
  constructor(most: number) {
    this.#most = most;
  }

  /** What resolves once the client has taken enough for another turn; undefined when it has. One at a time. */
  whenRoom(): Promise<void> | undefined {
    if (this.#unreleased < this.#most) return undefined;
    return new Promise((resolve) => (this.#wake = resolve));
  }

  /** A response is on its way to the client. */
  sent(): void {
    this.#unreleased++;
  }

  /** The client took one. */
  taken(): void {
    this.#unreleased--;
    if (this.#unreleased >= this.#most) return;
    this.#wake?.();
    this.#wake = undefined;
  }
}
