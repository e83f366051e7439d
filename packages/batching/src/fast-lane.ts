/**
 * When a request may run on the calling thread instead of its instance's own, which saves the way there and back (about half the time of a small model)
 * but blocks the event loop and keeps other requests from being read meanwhile.
 *
 * States: closed until enough arrivals in a row were alone (nothing else waited or ran); then open until one is not. Inline runs are over when the next
 * request arrives, so company shows itself there as a second arrival within one turn of the event loop. A stay that was cut short
 * doubles the number of lone arrivals needed for the next, a long one resets it. While closed, arrivals that overlap keep it closed, so steady
 * concurrency is not even probed.
 *
 * Only runs that were measured as short count: the model's moving average must be within the bound, and a request must have no more input bytes than
 * one that was measured within the bound. A run that takes many times the bound, or an average beyond it, closes the lane; one run that is a little
 * late does not, since on a busy machine that tells more of the machine than of the model.
 */
export interface LaneState {
  /** Moving average of the model's runs in microseconds; Infinity before the first. */
  readonly costMicros: number;
  /** Most input bytes with which a run stayed within the bound; −1 before the first. */
  readonly provenBytes: number;
  /** Arrivals in a row that were alone. */
  readonly loneArrivals: number;
  /** How many of them open the lane. */
  readonly loneArrivalsNeeded: number;
  /** Whether a request already ran inline in this turn of the event loop. */
  readonly isTurnTaken: boolean;
}

export interface LaneArrival {
  /** Nothing else waits or runs. */
  readonly isAlone: boolean;
  /** Bytes of all inputs together. */
  readonly inputBytes: number;
}

/** The decision for one arrival, already counted in `loneArrivals`. */
export function mayRunInline(state: LaneState, arrival: LaneArrival, maxRunMicros: number): boolean {
  return (
    arrival.isAlone &&
    !state.isTurnTaken &&
    state.loneArrivals > state.loneArrivalsNeeded &&
    state.costMicros <= maxRunMicros &&
    arrival.inputBytes <= state.provenBytes
  );
}

export interface FastLaneOptions {
  /** Longest run in microseconds that may block the event loop; 100 by default. */
  readonly maxRunMicros?: number;
  /** Calls back when the current turn of the event loop is over; `setImmediate` by default. */
  readonly afterTurn?: (callback: () => void) => void;
}

const DEFAULT_MAX_RUN_MICROS = 100;
const LONE_ARRIVALS_FIRST = 16;
const LONE_ARRIVALS_MOST = 4096;
/** Inline runs after which a stay counts as long. */
const LONG_STAY = 64;
/** Weight of a new run in the average. */
const WEIGHT = 1 / 8;
/** A run of this many bounds or more is long for sure. It counts for no more in the average, so that slow first runs are forgotten within twenty. */
const MOST_BOUNDS = 10;

/** Keeps the state of the lane for one model version. */
export class FastLane implements LaneState {
  costMicros = Number.POSITIVE_INFINITY;
  provenBytes = -1;
  loneArrivals = 0;
  loneArrivalsNeeded = LONE_ARRIVALS_FIRST;
  isTurnTaken = false;
  readonly #maxRunMicros: number;
  readonly #afterTurn: (callback: () => void) => void;
  /** Inline runs since the lane opened. */
  #stay = 0;
  readonly #turnOver = () => {
    this.isTurnTaken = false;
  };

  constructor(options: FastLaneOptions = {}) {
    this.#maxRunMicros = options.maxRunMicros ?? DEFAULT_MAX_RUN_MICROS;
    this.#afterTurn = options.afterTurn ?? setImmediate;
  }

  /** To be called for every arrival; true means that it is to run inline, now. */
  admits(arrival: LaneArrival): boolean {
    if (!arrival.isAlone || this.isTurnTaken) {
      this.#close();
      return false;
    }
    this.loneArrivals++;
    if (!mayRunInline(this, arrival, this.#maxRunMicros)) return false;
    this.#stay++;
    this.isTurnTaken = true;
    this.#afterTurn(this.#turnOver);
    return true;
  }

  /** Takes note of how long a run took, wherever it ran. */
  measured(run: { readonly micros: number; readonly inputBytes: number; readonly isInline: boolean }): void {
    const sample = Math.min(run.micros, this.#maxRunMicros * MOST_BOUNDS);
    this.costMicros =
      this.costMicros === Number.POSITIVE_INFINITY ? sample : this.costMicros + (sample - this.costMicros) * WEIGHT;
    if (run.micros <= this.#maxRunMicros) this.provenBytes = Math.max(this.provenBytes, run.inputBytes);
    else if (this.#isLong(run.micros)) {
      this.provenBytes = Math.min(this.provenBytes, run.inputBytes - 1);
      if (run.isInline) this.#close();
    }
  }

  #isLong(micros: number): boolean {
    return micros >= this.#maxRunMicros * MOST_BOUNDS || this.costMicros > this.#maxRunMicros;
  }

  #close(): void {
    this.loneArrivals = 0;
    if (this.#stay === 0) return;
    this.loneArrivalsNeeded =
      this.#stay < LONG_STAY ? Math.min(this.loneArrivalsNeeded * 2, LONE_ARRIVALS_MOST) : LONE_ARRIVALS_FIRST;
    this.#stay = 0;
  }
}
