import type { ModelStatistics } from '@nereid/serving';
import { renderMetrics } from '../src/index.ts';

const NEVER = { count: 0, ns: 0 };

/** Statistics of a version that was never asked, but for what is given. */
export function statisticsOf(given: Partial<ModelStatistics> = {}): ModelStatistics {
  return {
    name: 'm',
    version: '1',
    metricTags: new Map(),
    loadSeconds: 0,
    pending: 0,
    executing: 0,
    instances: [],
    lastInferenceMs: 0,
    inferenceCount: 0,
    executionCount: 0,
    success: NEVER,
    fail: NEVER,
    failures: { REJECTED: 0, CANCELED: 0, BACKEND: 0, OTHER: 0 },
    queue: NEVER,
    computeInput: NEVER,
    computeInfer: NEVER,
    computeOutput: NEVER,
    cacheHit: NEVER,
    cacheMiss: NEVER,
    batches: [],
    responses: [],
    ...given,
  };
}

/** An engine as far as metrics see it. */
export const engineOf = (...models: readonly ModelStatistics[]) => ({ eachStatistics: () => models });

export async function textOf(...given: Parameters<typeof renderMetrics>): Promise<string> {
  let text = '';
  for await (const piece of renderMetrics(...given)) text += piece;
  return text;
}
