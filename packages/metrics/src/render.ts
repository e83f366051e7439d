import type { InferenceEngine } from '@nereid/serving';
import { modelFamilies } from './model-families.ts';
import { processFamilies } from './process-families.ts';
import type { ProcessSample } from './process-monitor.ts';
import { renderFamilies } from './text.ts';

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
}

/**
 * Writes what the engine counts in Prometheus text format 0.0.4. All of it is read here: nothing is done per request. Families without series are
 * announced too, but for the histogram, which is there once a model has one (`measureFirstResponses` of the engine).
 */
export function renderMetrics(
  engine: Pick<InferenceEngine, 'statistics'>,
  { sample, cpu = true, counterLatencies: latencies = true }: RenderOptions = {},
): string {
  return renderFamilies([
    ...modelFamilies(engine.statistics(), { latencies }),
    ...(sample === undefined ? [] : processFamilies(sample, { cpu })),
  ]);
}
