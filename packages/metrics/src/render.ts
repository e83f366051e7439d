import type { InferenceEngine } from '@nereid/serving';
import { modelFamilies } from './model-families.ts';
import { processFamilies } from './process-families.ts';
import type { ProcessSample } from './process-monitor.ts';
import { renderFamilies } from './text.ts';

/**
 * Writes what the engine counts in Prometheus text format 0.0.4. All of it is read here: nothing is done per request. Families without series are
 * announced too.
 *
 * @param sample  how the machine and the process are; without it their families are left out
 */
export function renderMetrics(engine: Pick<InferenceEngine, 'statistics'>, sample?: ProcessSample): string {
  return renderFamilies([
    ...modelFamilies(engine.statistics()),
    ...(sample === undefined ? [] : processFamilies(sample)),
  ]);
}
