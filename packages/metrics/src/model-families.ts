/**
 * What the statistics of models become. Names, types and labels of `nv_…` are those of Triton; families of `nereid_…` are ours.
 */
import type {
  FailureReason,
  LatencySummaryStatistics,
  ModelStatistics,
  StatisticDuration,
  SummaryStatistics,
} from '@nereid/serving';
import { type Family, formatNumber, histogramSeries, type Series } from './text.ts';
import type { VersionLabels } from './version-labels.ts';

/** A family with series of each model version. */
export interface ModelFamily extends Family {
  /** Whether it is left out while no version has a series of it. */
  readonly isOptional?: boolean;
  series(model: ModelStatistics, labels: VersionLabels): readonly Series[];
}

const REASONS: readonly FailureReason[] = ['REJECTED', 'CANCELED', 'BACKEND', 'OTHER'];

/** A family with one series per model version. */
function perVersion(family: Family, value: (model: ModelStatistics) => number): ModelFamily {
  return { ...family, series: (model, labels) => [{ labels: labels.plain, value: value(model) }] };
}

function counter(
  name: string,
  { help, value }: { readonly help: string; readonly value: (model: ModelStatistics) => number },
): ModelFamily {
  return perVersion({ name, type: 'counter', help }, value);
}

function gauge(
  name: string,
  { help, value }: { readonly help: string; readonly value: (model: ModelStatistics) => number },
): ModelFamily {
  return perVersion({ name, type: 'gauge', help }, value);
}

const REQUESTS: readonly ModelFamily[] = [
  counter('nv_inference_request_success', {
    help: 'Requests answered with success',
    value: ({ success }) => success.count,
  }),
  {
    name: 'nv_inference_request_failure',
    type: 'counter',
    help: 'Requests that failed after they were accepted, by reason',
    series: ({ failures }, labels) =>
      REASONS.map((reason) => ({ labels: labels.with('reason', reason), value: failures[reason] })),
  },
  counter('nv_inference_count', {
    help: 'Inferences done; a request counts as many as its batch size',
    value: ({ inferenceCount }) => inferenceCount,
  }),
  counter('nv_inference_exec_count', {
    help: 'Executions of the model, of whole batches',
    value: ({ executionCount }) => executionCount,
  }),
];

const DURATIONS: readonly ModelFamily[] = [
  counter('nv_inference_request_duration_us', {
    help: 'Microseconds from arrival to answer, of successful requests',
    value: ({ success }) => micros(success),
  }),
  counter('nv_inference_queue_duration_us', {
    help: 'Microseconds in the queue, of successful requests',
    value: ({ queue }) => micros(queue),
  }),
  counter('nv_inference_compute_input_duration_us', {
    help: 'Microseconds in which inputs were gathered, of successful requests',
    value: ({ computeInput }) => micros(computeInput),
  }),
  counter('nv_inference_compute_infer_duration_us', {
    help: 'Microseconds in which the model ran, of successful requests',
    value: ({ computeInfer }) => micros(computeInfer),
  }),
  counter('nv_inference_compute_output_duration_us', {
    help: 'Microseconds in which outputs were given out, of successful requests',
    value: ({ computeOutput }) => micros(computeOutput),
  }),
];

const GAUGES: readonly ModelFamily[] = [
  gauge('nv_inference_pending_request_count', {
    help: 'Requests that wait for an instance now',
    value: ({ pending }) => pending,
  }),
  gauge('nv_model_load_duration_secs', {
    help: 'Seconds that the version took to load until it could serve',
    value: ({ loadSeconds }) => loadSeconds,
  }),
];

const FIRST_RESPONSE: ModelFamily = {
  name: 'nv_inference_first_response_histogram_ms',
  type: 'histogram',
  help: 'Whole milliseconds from arrival to the first response, failures included',
  isOptional: true,
  series: ({ firstResponseMs }, labels) =>
    firstResponseMs === undefined
      ? []
      : histogramSeries(firstResponseMs, { plain: labels.plain, bound: (le) => labels.with('le', le) }),
};

function summary(name: string, of: keyof LatencySummaryStatistics, help: string): ModelFamily {
  return {
    name,
    type: 'summary',
    help: `${help}, of successful requests; quantiles of the last minute`,
    isOptional: true,
    series: ({ latencyMicros }, labels) =>
      latencyMicros === undefined ? [] : summarySeries(latencyMicros[of], labels),
  };
}

function summarySeries({ count, sum, quantiles }: SummaryStatistics, labels: VersionLabels): readonly Series[] {
  return [
    ...quantiles.map(({ quantile, value }) => ({ labels: labels.with('quantile', formatNumber(quantile)), value })),
    { suffix: '_sum', labels: labels.plain, value: sum },
    { suffix: '_count', labels: labels.plain, value: count },
  ];
}

const SUMMARIES: readonly ModelFamily[] = [
  summary('nv_inference_request_summary_us', 'request', 'Microseconds from arrival to answer'),
  summary('nv_inference_queue_summary_us', 'queue', 'Microseconds in the queue'),
  summary('nv_inference_compute_input_summary_us', 'computeInput', 'Microseconds in which inputs were gathered'),
  summary('nv_inference_compute_infer_summary_us', 'computeInfer', 'Microseconds in which the model ran'),
  summary('nv_inference_compute_output_summary_us', 'computeOutput', 'Microseconds in which outputs were given out'),
];

const OURS: readonly ModelFamily[] = [
  gauge('nereid_executing_request_count', {
    help: 'Requests that instances have now',
    value: ({ executing }) => executing,
  }),
  {
    name: 'nereid_instance_batches',
    type: 'gauge',
    help: 'Batches that the instance has now: the one that it runs, and those in the queue of its thread',
    series: ({ instances }, labels) =>
      instances.map(({ name, batches }) => ({ labels: labels.with('instance', name), value: batches })),
  },
  {
    name: 'nereid_batches_total',
    type: 'counter',
    help: 'Batches formed, by their number of rows; of models whose scheduler forms any',
    series: ({ batching }, labels) =>
      (batching?.sizes ?? []).map(({ batchSize, count }) => ({
        labels: labels.with('batch_size', String(batchSize)),
        value: count,
      })),
  },
  {
    name: 'nereid_batches_closed_total',
    type: 'counter',
    help: 'Batches formed, by the reason why they were closed; of models whose scheduler forms any',
    series: ({ batching }, labels) =>
      Object.entries(batching?.closed ?? {}).map(([reason, value]) => ({
        labels: labels.with('reason', reason),
        value,
      })),
  },
];

/** In the order in which they are written. */
export function modelFamilies({ latencies }: { readonly latencies: boolean }): readonly ModelFamily[] {
  return [...REQUESTS, ...(latencies ? DURATIONS : []), ...GAUGES, FIRST_RESPONSE, ...SUMMARIES, ...OURS];
}

function micros({ ns }: StatisticDuration): number {
  return Math.floor(ns / 1000);
}
