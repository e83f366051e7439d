import type { FinishedTrace } from './finished-trace.ts';
import type { SettingValues } from './setting-values.ts';
import type { TraceSink } from './writer.ts';

/**
 * Counts the requests that one setting handles and chooses among them. A new setting is a new set; traces under way finish with the one that chose them.
 * Source of the rules: triton server `src/tracer.cc`, `TraceSetting::SampleTrace`.
 */
export class CounterSet {
  readonly values: SettingValues;
  readonly #sink: TraceSink;
  #seen = 0;
  #remaining: number;
  #underWay = 0;
  #isRetired = false;

  constructor(values: SettingValues, sink: TraceSink) {
    this.values = values;
    this.#sink = sink;
    this.#remaining = values.count;
  }

  /** Traces still to be made; −1 for no bound. */
  get remaining(): number {
    return this.#remaining;
  }

  /**
   * Counts a request.
   * @param hasContext  it came with a trace context: then it is traced in any case, and takes of the count only what its turn would have taken
   * @returns whether a trace is to be made, which `add` will be called with
   */
  take(hasContext: boolean): boolean {
    if (this.values.levels.length === 0) return false;
    const isChosen = this.#isTurn(hasContext);
    if (isChosen && this.#remaining > 0) this.#remaining--;
    if (!isChosen && !hasContext) return false;
    this.#underWay++;
    return true;
  }

  #isTurn(hasContext: boolean): boolean {
    const { rate } = this.values;
    if (rate === 0 || (this.#remaining === 0 && !hasContext)) return false;
    return ++this.#seen % rate === 0 && this.#remaining !== 0;
  }

  add(trace: FinishedTrace): void {
    this.#underWay--;
    this.#sink.add(trace);
    if (this.#underWay === 0 && (this.#isRetired || this.#remaining === 0)) this.#sink.flush();
  }

  /** No more requests are counted. */
  retire(): void {
    this.#isRetired = true;
    if (this.#underWay === 0) this.#sink.flush();
  }

  flush(): void {
    this.#sink.flush();
  }
}
