import type { Check } from './rule.ts';

const metricIdentifier: Check = function* ({ config, model }) {
  for (const [i, control] of (config.modelMetrics?.metricControl ?? []).entries()) {
    const path = `model_metrics.metric_control[${i}]`;
    if (control.metricIdentifier === undefined) {
      yield {
        path,
        message: `model metrics must specify 'metric_identifier' for ${model}; add metric_identifier { family: "…" }`,
      };
    } else if (control.metricIdentifier.family === '') {
      const message = `model metrics must specify non-empty 'family' for ${model}, e.g. "nv_inference_first_response_histogram_ms"`;
      yield { path: `${path}.metric_identifier`, message };
    }
  }
};

const histogramBuckets: Check = function* ({ config, model }) {
  for (const [i, { histogramOptions }] of (config.modelMetrics?.metricControl ?? []).entries()) {
    const path = `model_metrics.metric_control[${i}]`;
    if (histogramOptions === undefined) {
      yield {
        path,
        message: `model metrics must specify 'histogram_options' for ${model}; add histogram_options { buckets: [ 10, 100 ] }`,
      };
    } else if (histogramOptions.buckets.length === 0) {
      yield {
        path: `${path}.histogram_options`,
        message: `model metrics must specify non-empty 'buckets' for ${model}`,
      };
    }
  }
};

/** Buckets are upper bounds: a histogram counts into the first that fits. Not checked by Triton. */
const bucketOrder: Check = function* ({ config, model }) {
  for (const [i, { histogramOptions }] of (config.modelMetrics?.metricControl ?? []).entries()) {
    const buckets = histogramOptions?.buckets ?? [];
    if (buckets.every((bound, j) => j === 0 || bound > (buckets[j - 1] ?? bound))) continue;
    const path = `model_metrics.metric_control[${i}].histogram_options.buckets`;
    yield { path, message: `histogram 'buckets' of ${model} must ascend, got [ ${buckets.join(', ')} ]` };
  }
};

/** Rules on the metrics of a model. */
export const METRICS_RULES = {
  'metric-identifier': metricIdentifier,
  'histogram-buckets': histogramBuckets,
  'bucket-order': bucketOrder,
} satisfies Record<string, Check>;
