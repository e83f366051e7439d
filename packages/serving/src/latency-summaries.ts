/**
 * Quantiles of the latencies of successful requests over the last minute, in whole microseconds. Source: Triton's families `nv_inference_…_summary_us`, whose windows
 * are those of the Prometheus client library: five overlapping ones, of which the oldest answers and is then emptied, every twelve seconds.
 */
import type { InferenceRequest } from '@nereid/core';
import type { LatencySummaryStatistics, SummaryStatistics } from './engine.ts';
import { TargetedQuantiles, type WantedQuantile } from './targeted-quantiles.ts';

const WINDOWS = 5;
const WINDOW_MICROS = 60_000_000;
/** So many values are sorted together, and added to every window at once: what that costs grows with the samples of a window rather than with the values. */
const PENDING = 1024;

interface SummaryStart {
  readonly nowMicros: number;
  readonly phase?: number;
}

/** One value per successful request. */
export class LatencySummary {
  readonly #wanted: readonly WantedQuantile[];
  readonly #windows: readonly TargetedQuantiles[];
  /** Made with the first value: a server may have many versions that nobody asks. */
  #pending: Float64Array | undefined;
  #pendingCount = 0;
  readonly #firstFlushAt: number;
  #flushAt: number;
  #oldest = 0;
  #rotatesMicros: number;
  #count = 0;
  #sum = 0;

  /**
   * @param phase  from 0 to 1: which part of the values that are added together it gathers the first time. Summaries that get their values at the same time are to differ in
   *               it, so that no request pays for all of them.
   */
  constructor(wanted: readonly WantedQuantile[], { nowMicros, phase = 1 }: SummaryStart) {
    this.#wanted = wanted;
    this.#firstFlushAt = Math.max(1, Math.round(phase * PENDING));
    this.#flushAt = this.#firstFlushAt;
    this.#windows = Array.from({ length: WINDOWS }, () => new TargetedQuantiles(wanted));
    this.#rotatesMicros = nowMicros + WINDOW_MICROS / WINDOWS;
  }

  observe(value: number, nowMicros: number): void {
    if (nowMicros >= this.#rotatesMicros) this.#rotate(nowMicros);
    this.#pending ??= new Float64Array(PENDING);
    this.#pending[this.#pendingCount++] = value;
    if (this.#pendingCount === this.#flushAt) {
      this.#flush();
      this.#flushAt = PENDING;
    }
    this.#count++;
    this.#sum += value;
  }

  snapshot(nowMicros: number): SummaryStatistics {
    if (nowMicros >= this.#rotatesMicros) this.#rotate(nowMicros);
    this.#flush();
    const window = this.#windows[this.#oldest];
    const quantiles = this.#wanted.map(({ quantile }) => ({
      quantile,
      value: window?.valueAt(quantile) ?? Number.NaN,
    }));
    return { count: this.#count, sum: this.#sum, quantiles };
  }

  /** What was seen before the window began leaves with it. */
  #rotate(nowMicros: number): void {
    this.#flush();
    for (let left = WINDOWS; nowMicros >= this.#rotatesMicros && left > 0; left--) {
      this.#windows[this.#oldest]?.clear();
      this.#oldest = (this.#oldest + 1) % WINDOWS;
      this.#rotatesMicros += WINDOW_MICROS / WINDOWS;
    }
    // After a pause longer than all windows, they are empty and begin again.
    if (nowMicros >= this.#rotatesMicros) this.#rotatesMicros = nowMicros + WINDOW_MICROS / WINDOWS;
  }

  #flush(): void {
    if (this.#pending === undefined || this.#pendingCount === 0) return;
    const sorted = this.#pending.subarray(0, this.#pendingCount).sort();
    for (const window of this.#windows) window.addSorted(sorted);
    this.#pendingCount = 0;
    this.#flushAt = this.#firstFlushAt;
  }
}

/** The summaries of one version. */
export class LatencySummaries {
  readonly #request: LatencySummary;
  readonly #queue: LatencySummary;
  readonly #computeInput: LatencySummary;
  readonly #computeInfer: LatencySummary;
  readonly #computeOutput: LatencySummary;

  constructor(wanted: readonly WantedQuantile[], nowMicros: number) {
    const summary = (phase: number) => new LatencySummary(wanted, { nowMicros, phase });
    this.#request = summary(0.2);
    this.#queue = summary(0.4);
    this.#computeInput = summary(0.6);
    this.#computeInfer = summary(0.8);
    this.#computeOutput = summary(1);
  }

  succeeded({ arrivedMicros, dispatchedMicros, execution }: InferenceRequest, nowMicros: number): void {
    this.#request.observe(Math.floor(nowMicros - arrivedMicros), nowMicros);
    this.#queue.observe(Math.max(0, Math.floor(dispatchedMicros - arrivedMicros)), nowMicros);
    if (execution === undefined) return;
    this.#computeInput.observe(Math.floor(execution.computeInputNs / 1000), nowMicros);
    this.#computeInfer.observe(Math.floor(execution.computeInferNs / 1000), nowMicros);
    this.#computeOutput.observe(Math.floor(execution.computeOutputNs / 1000), nowMicros);
  }

  snapshot(nowMicros: number): LatencySummaryStatistics {
    return {
      request: this.#request.snapshot(nowMicros),
      queue: this.#queue.snapshot(nowMicros),
      computeInput: this.#computeInput.snapshot(nowMicros),
      computeInfer: this.#computeInfer.snapshot(nowMicros),
      computeOutput: this.#computeOutput.snapshot(nowMicros),
    };
  }
}
