/**
 * How often a client may do what costs the server more than the client: a stock of times that refills steadily. A client that has used it up is not slowed
 * down but cut off, as it does nothing useful.
 */
export class Allowance {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #now: () => number;
  #left: number;
  #refilledAt: number;

  /** @param now  milliseconds, monotonic */
  constructor({ burst, perSecond }: AllowanceOptions, now: () => number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#now = now;
    this.#left = burst;
    this.#refilledAt = now();
  }

  /** Takes one; false when none is left. */
  take(): boolean {
    if (this.#left < 1) this.#refill();
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }

  #refill(): void {
    const now = this.#now();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#refilledAt) / 1000) * this.#perSecond);
    this.#refilledAt = now;
  }
}

export interface AllowanceOptions {
  /** Times at once, and the most that are saved up. */
  readonly burst: number;
  readonly perSecond: number;
}
