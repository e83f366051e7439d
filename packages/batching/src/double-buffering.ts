/** A batch that is over, as far as it tells how fast its instance goes. */
export interface TimedBatch {
  readonly rows: number;
  /** From its start until its requests were answered. */
  readonly ranMicros: number;
  /** What the model took of that. */
  readonly computeMicros: number;
}

/**
 * `look` and `rest`: batches of all that wait. `try` and `keep`: batches of half the rows.
 *
 * After each look comes a try, until most of the rounds are won by one or the other; then it is kept for a while.
 */
type Phase = 'look' | 'try' | 'keep' | 'rest';

/** Batches that a phase lasts, beside those in which it settles. */
const BATCHES: Readonly<Record<Phase, number>> = { look: 32, try: 32, keep: 4096, rest: 4096 };
/** Batches after a change of size that still tell of the old one. */
const SETTLING = 4;
/** Of five rounds these decide. */
const MAJORITY = 3;
/** How many times as fast halves must be to win a round: they cost more of the processor. */
const GAIN = 1.05;
/** Share of the time from which on the model leaves too little that could be hidden. */
const SATURATION = 0.9;
/** What is forgotten of a past peak of the rows with each batch. */
const FORGETTING = 1 / 256;
/** Change of the rows, and of what one costs, after which an old choice says nothing any more. */
const ROWS_CHANGE = 1.25;
const COST_CHANGE = 2;

/**
 * Chooses between batches of all that wait, and of half, so that two go by turns.
 *
 * Clients that send again when they are answered keep step with the batches: while one runs that holds them all, the event loop has nothing to do, and while
 * that answers and reads, the instance has nothing to run. Two halves hide one behind the other, the second handed over while the first runs. But
 * they take the model longer than one whole, and the event loop more turns. What is faster depends on model, machine and load, so both are tried by turns, and
 * what was faster is kept until it is time to look again or something has changed. An instance that is hardly ever idle is left alone.
 *
 * Time without any request counts for no longer than the batch before it took: the rest is not the server's.
 */
export class DoubleBuffering {
  #phase: Phase = 'look';
  /** Of the phase before. */
  #wereHalves = false;
  #batches = 0;
  #pace = new Pace();
  /** What the last look and the last try told. */
  #whole = new Pace();
  #halves = new Pace();
  #wins = 0;
  #losses = 0;
  /** Rows in the system: most since the last batch ended, most of late, and as many when a comparison began. */
  #peakRows = 0;
  #mostRows = 0;
  #comparedRows = 0;
  #endedMicros = Number.NaN;
  #ranMicros = 0;
  #isEmpty = false;
  #emptyMicros = 0;

  /** Rows that make a batch; Infinity for all that wait. */
  get rows(): number {
    return this.#areHalves ? Math.max(1, Math.ceil(this.#mostRows / 2)) : Number.POSITIVE_INFINITY;
  }

  /** Rows to wait for when a batch is over, even if it had fewer: those who went by turns would go on so of themselves. */
  get reunited(): number {
    return this.#wereHalves && !this.#areHalves && this.#batches < SETTLING ? Math.floor(this.#mostRows) : 0;
  }

  /** @param rows  that wait or run, with those that came */
  arrived(rows: number, nowMicros: number): void {
    this.#peakRows = Math.max(this.#peakRows, rows);
    this.#mostRows = Math.max(this.#mostRows, rows);
    if (this.#isEmpty) this.#emptyMicros = Math.max(0, nowMicros - this.#endedMicros - this.#ranMicros);
    this.#isEmpty = false;
  }

  /** @param rows  that still wait or run */
  ended(batch: TimedBatch, { rows, nowMicros }: { readonly rows: number; readonly nowMicros: number }): void {
    if (this.#batches >= SETTLING) this.#pace.add(batch, nowMicros - this.#endedMicros - this.#emptyMicros);
    this.#endedMicros = nowMicros;
    this.#ranMicros = batch.ranMicros;
    this.#isEmpty = rows === 0;
    this.#emptyMicros = 0;
    this.#mostRows = Math.max(this.#peakRows, this.#mostRows * (1 - FORGETTING));
    this.#peakRows = rows;
    this.#batches++;
    this.#proceed();
  }

  get #areHalves(): boolean {
    return this.#phase === 'try' || this.#phase === 'keep';
  }

  #proceed(): void {
    if (this.#hasChanged()) this.#compare();
    else if (this.#batches === BATCHES[this.#phase] + SETTLING) this.#end(this.#phase);
  }

  #hasChanged(): boolean {
    const ratio = this.#mostRows / this.#comparedRows;
    if (ratio > ROWS_CHANGE || ratio < 1 / ROWS_CHANGE) return true;
    if (this.#phase !== 'keep' || this.#batches % BATCHES.try !== 0) return false;
    const isDearer = this.#pace.computePerRow > this.#halves.computePerRow * COST_CHANGE;
    this.#pace = new Pace();
    return isDearer;
  }

  #end(phase: Phase): void {
    switch (phase) {
      case 'look':
        this.#whole = this.#pace;
        if (this.#mostRows < 2 || this.#whole.computeShare > SATURATION) this.#compare();
        else this.#enter('try');
        break;
      case 'try':
        this.#halves = this.#pace;
        this.#judge();
        break;
      case 'keep':
      case 'rest':
        this.#compare();
        break;
      default:
        phase satisfies never;
    }
  }

  #judge(): void {
    if (this.#halves.speed > this.#whole.speed * GAIN) this.#wins++;
    else this.#losses++;
    if (this.#wins === MAJORITY) this.#enter('keep');
    else this.#enter(this.#losses === MAJORITY ? 'rest' : 'look');
  }

  #compare(): void {
    this.#comparedRows = this.#mostRows;
    this.#wins = 0;
    this.#losses = 0;
    this.#enter('look');
  }

  #enter(phase: Phase): void {
    this.#wereHalves = this.#areHalves;
    this.#phase = phase;
    this.#batches = 0;
    this.#pace = new Pace();
  }
}

/** How fast batches went. */
class Pace {
  #rows = 0;
  #micros = 0;
  #computeMicros = 0;

  add({ rows, computeMicros }: TimedBatch, micros: number): void {
    this.#rows += rows;
    this.#micros += micros;
    this.#computeMicros += computeMicros;
  }

  /** Rows per microsecond. */
  get speed(): number {
    return this.#rows / this.#micros;
  }

  get computeShare(): number {
    return this.#computeMicros / this.#micros;
  }

  get computePerRow(): number {
    return this.#computeMicros / this.#rows;
  }
}
