/** Whom the next batch is to wait for, and for how long at most. */
interface Company {
  readonly rows: number;
  /** What the batch before took. */
  readonly ranMicros: number;
}

/**
 * The moment after a batch: those it answered are about to send their next requests, and what waits already would run without them. So the next batch waits until as
 * many rows are there again, for a few turns of the event loop at most and never longer than the batch before took. A turn in which nothing comes lasts a few microseconds, so a
 * request whose company stays away hardly waits.
 *
 * Without this, clients that send again when they are answered drift apart into one large and one small batch that run by turns. Measured over HTTP with 16
 * connections and a model of 40 small layers, six turns save the server a fifth of its CPU per request.
 */
export class Regrouping {
  readonly #turns: number;
  #turnsLeft = 0;
  #rows = 0;
  #untilMicros = 0;

  /** @param turns  turns of the event loop at most; 0 to wait for nobody */
  constructor(turns: number) {
    this.#turns = turns;
  }

  /** @returns whether the next batch is to wait */
  begin(company: Company, { rows, nowMicros }: { readonly rows: number; readonly nowMicros: number }): boolean {
    this.#turnsLeft = this.#turns;
    this.#rows = company.rows;
    this.#untilMicros = nowMicros + company.ranMicros;
    return this.#waits(rows, nowMicros);
  }

  /** @returns whether the next batch is to wait for another turn */
  turnOver({ rows, nowMicros }: { readonly rows: number; readonly nowMicros: number }): boolean {
    this.#turnsLeft--;
    return this.#waits(rows, nowMicros);
  }

  end(): void {
    this.#turnsLeft = 0;
  }

  #waits(rows: number, nowMicros: number): boolean {
    const waits = this.#turnsLeft > 0 && rows < this.#rows && nowMicros < this.#untilMicros;
    if (!waits) this.end();
    return waits;
  }
}
