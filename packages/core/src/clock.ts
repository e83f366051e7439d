/** Pending deadline. */
export interface Timer {
  /** Forgets the deadline; without effect once it fired. */
  cancel(): void;
}

/**
 * Monotonic time in microseconds, the one internal unit of time. Tests pass a clock that they move by hand.
 */
export interface Clock {
  /** Microseconds since some fixed point; never decreases, fractions allowed. */
  nowMicros(): number;
  /** Calls `callback` once, never before `deadlineMicros` and never from inside this call, even when the deadline has passed. */
  at(deadlineMicros: number, callback: () => void): Timer;
}
