import type { Clock, Timer } from '@nereid/core';

interface Deadline {
  readonly micros: number;
  /** Order of arming: of two equal deadlines the first armed fires first. */
  readonly order: number;
  readonly callback: () => void;
}

/**
 * A clock that stands still until a test moves it.
 *
 * Timers fire in the order of their deadlines, equal ones in the order they were armed, and each sees its own deadline as the time (the
 * present, when the deadline had passed before it was armed). A timer armed by a callback fires in the same move if it falls due in it.
 */
export class ManualClock implements Clock {
  #now: number;
  #armed = 0;
  readonly #pending = new Set<Deadline>();

  /** @param startMicros the time at first, 0 by default */
  constructor(startMicros = 0) {
    this.#now = startMicros;
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#pending.size;
  }

  nowMicros(): number {
    return this.#now;
  }

  at(deadlineMicros: number, callback: () => void): Timer {
    const deadline: Deadline = { micros: deadlineMicros, order: this.#armed++, callback };
    this.#pending.add(deadline);
    return { cancel: () => this.#pending.delete(deadline) };
  }

  /**
   * Moves the time and fires what falls due, without letting promises run in between.
   * @param micros how far, 0 or more; 0 fires timers whose deadline has passed
   * @throws {RangeError} when `micros` is negative
   */
  advance(micros: number): void {
    const target = this.#target(micros);
    while (this.#fireNext(target));
    this.#now = target;
  }

  /**
   * Moves the time like `advance`, and lets promises and immediates run before the first timer, after each one, and at the end. So work
   * that continues in promises sees the time at which it was woken.
   * @throws {RangeError} when `micros` is negative
   */
  async elapse(micros: number): Promise<void> {
    const target = this.#target(micros);
    do {
      await turns();
    } while (this.#fireNext(target));
    this.#now = target;
    await turns();
  }

  /**
   * Moves the time without firing anything, as synchronous work on the loop thread does; what fell due fires in the next move.
   * @throws {RangeError} when `micros` is negative
   */
  block(micros: number): void {
    this.#now = this.#target(micros);
  }

  #target(micros: number): number {
    if (micros >= 0) return this.#now + micros;
    throw new RangeError(`a clock only moves forward; it was asked to move by ${micros} µs`);
  }

  #fireNext(target: number): boolean {
    let next: Deadline | undefined;
    for (const deadline of this.#pending) if (next === undefined || isBefore(deadline, next)) next = deadline;
    if (next === undefined || next.micros > target) return false;
    this.#pending.delete(next);
    this.#now = Math.max(this.#now, next.micros);
    next.callback();
    return true;
  }
}

function isBefore(a: Deadline, b: Deadline): boolean {
  return a.micros === b.micros ? a.order < b.order : a.micros < b.micros;
}

/** As many turns of the event loop as anything waits for at one time: a batcher waits for six. */
const TURNS = 8;

/** A few turns of the event loop: every promise that can settle has settled afterwards. */
async function turns(): Promise<void> {
  for (let i = 0; i < TURNS; i++) await new Promise((resolve) => setImmediate(resolve));
}
