/**
 * The text comes in pieces, and between two of them others may use the event loop: series of a family stand together, so first the series of every version are written
 * for all families, some versions at a time, and then the families are given out.
 */
import type { InferenceEngine } from '@nereid/serving';
import { type ModelFamily, modelFamilies } from './model-families.ts';
import { processFamilies } from './process-families.ts';
import type { ProcessSample } from './process-monitor.ts';
import { headOf, linesOf } from './text.ts';
import { VersionLabels } from './version-labels.ts';

/** Which families are told. */
export interface MetricsSelection {
  /** Use of the machine's CPUs and memory. Default true. */
  readonly cpu?: boolean;
  /** Counters of durations, `nv_inference_…_duration_us`. Default true. */
  readonly counterLatencies?: boolean;
}

export interface RenderOptions extends MetricsSelection {
  /** How the machine and the process are; without it their families are left out. */
  readonly sample?: ProcessSample;
  /** Gives others the event loop; `setImmediate` by default. */
  readonly nextTurn?: () => Promise<unknown>;
}

/** Series that are written in one turn of the event loop; those of one version are not divided. */
const SERIES_PER_TURN = 500;
/** Characters of a piece. */
const PIECE_LENGTH = 65_536;

/**
 * Writes what the engine counts in Prometheus text format 0.0.4. All of it is read here: nothing is done per request. It gives the event loop away after every 500
 * series or so; each version is read at one time, and different ones at different times. Families without series are announced too, but for the histogram and the
 * summaries, which are there once a model has some (`measureFirstResponses`, `summarizeLatencies` of the engine).
 *
 * @returns pieces of the text, some 64 KiB each
 */
export async function* renderMetrics(
  engine: Pick<InferenceEngine, 'eachStatistics'>,
  options: RenderOptions = {},
): AsyncGenerator<string, void, undefined> {
  const { sample, cpu = true, counterLatencies: latencies = true, nextTurn = immediate } = options;
  let piece = '';
  for (const lines of await modelLines(engine, { families: modelFamilies({ latencies }), nextTurn })) {
    piece += lines;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
    await nextTurn();
  }
  for (const family of sample === undefined ? [] : processFamilies(sample, { cpu }))
    piece += headOf(family) + linesOf(family, family.series);
  if (piece !== '') yield piece;
}

/** The families one after the other, each as its head and what was written of it in each turn. */
async function modelLines(
  engine: Pick<InferenceEngine, 'eachStatistics'>,
  { families, nextTurn }: { readonly families: readonly ModelFamily[]; readonly nextTurn: () => Promise<unknown> },
): Promise<readonly string[]> {
  const written = families.map((family) => ({ family, lines: [''] }));
  let count = 0;
  for (const model of engine.eachStatistics()) {
    if (count >= SERIES_PER_TURN) {
      for (const { lines } of written) lines.push('');
      count = 0;
      await nextTurn();
    }
    const labels = new VersionLabels(model);
    for (const { family, lines } of written) {
      const series = family.series(model, labels);
      lines.push((lines.pop() ?? '') + linesOf(family, series));
      count += series.length;
    }
  }
  return written.flatMap(({ family, lines }) =>
    family.isOptional && lines.every((some) => some === '') ? [] : [headOf(family), ...lines],
  );
}

function immediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
