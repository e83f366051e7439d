/**
 * What the statistics of models become. Names, types and labels of `nv_…` are those of Triton; families of `nereid_…` are ours.
 */
import type { FailureReason, ModelStatistics, StatisticDuration } from '@nereid/serving';
import { type Family, type FamilyType, formatLabel, formatNumber, type Series } from './text.ts';

const REASONS: readonly FailureReason[] = ['REJECTED', 'CANCELED', 'BACKEND', 'OTHER'];

/** A family with one series per model version. */
interface PerVersion {
  readonly name: string;
  readonly type: FamilyType;
  readonly help: string;
  readonly value: (model: ModelStatistics) => number;
}

const COUNTS: readonly PerVersion[] = [
  {
    name: 'nv_inference_count',
    type: 'counter',
    help: 'Inferences done; a request counts as many as its batch size',
    value: ({ inferenceCount }) => inferenceCount,
  },
  {
    name: 'nv_inference_exec_count',
    type: 'counter',
    help: 'Executions of the model, of whole batches',
    value: ({ executionCount }) => executionCount,
  },
  {
    name: 'nv_inference_request_duration_us',
    type: 'counter',
    help: 'Microseconds from arrival to answer, of successful requests',
    value: ({ success }) => micros(success),
  },
  {
    name: 'nv_inference_queue_duration_us',
    type: 'counter',
    help: 'Microseconds in the queue, of successful requests',
    value: ({ queue }) => micros(queue),
  },
  {
    name: 'nv_inference_compute_input_duration_us',
    type: 'counter',
    help: 'Microseconds in which inputs were gathered, of successful requests',
    value: ({ computeInput }) => micros(computeInput),
  },
  {
    name: 'nv_inference_compute_infer_duration_us',
    type: 'counter',
    help: 'Microseconds in which the model ran, of successful requests',
    value: ({ computeInfer }) => micros(computeInfer),
  },
  {
    name: 'nv_inference_compute_output_duration_us',
    type: 'counter',
    help: 'Microseconds in which outputs were given out, of successful requests',
    value: ({ computeOutput }) => micros(computeOutput),
  },
  {
    name: 'nv_inference_pending_request_count',
    type: 'gauge',
    help: 'Requests that wait for an instance now',
    value: ({ pending }) => pending,
  },
  {
    name: 'nv_model_load_duration_secs',
    type: 'gauge',
    help: 'Seconds that the version took to load until it could serve',
    value: ({ loadSeconds }) => loadSeconds,
  },
];

const SUCCESS: PerVersion = {
  name: 'nv_inference_request_success',
  type: 'counter',
  help: 'Requests answered with success',
  value: ({ success }) => success.count,
};

const DURATION = /_duration_us$/;

/** @param latencies  whether counters of durations are among them */
export function modelFamilies(
  models: readonly ModelStatistics[],
  { latencies }: { readonly latencies: boolean },
): readonly Family[] {
  const versions = models.map((model) => ({ model, labels: versionLabels(model) }));
  const perVersion = ({ name, type, help, value }: PerVersion): Family => ({
    name,
    type,
    help,
    series: versions.map(({ model, labels }) => ({ labels: labels.plain, value: value(model) })),
  });
  return [
    perVersion(SUCCESS),
    {
      name: 'nv_inference_request_failure',
      type: 'counter',
      help: 'Requests that failed after they were accepted, by reason',
      series: versions.flatMap(({ model: { failures }, labels }) =>
        REASONS.map((reason) => ({ labels: labels.withReason(reason), value: failures[reason] })),
      ),
    },
    ...COUNTS.filter(({ name }) => latencies || !DURATION.test(name)).map(perVersion),
    ...firstResponses(versions),
    {
      name: 'nereid_batches_total',
      type: 'counter',
      help: 'Batches formed, by their number of rows; of models whose scheduler forms any',
      series: versions.flatMap(({ model: { batching }, labels }) =>
        (batching?.sizes ?? []).map(({ batchSize, count }) => ({
          labels: labels.withBatchSize(batchSize),
          value: count,
        })),
      ),
    },
    {
      name: 'nereid_batches_closed_total',
      type: 'counter',
      help: 'Batches formed, by the reason why they were closed; of models whose scheduler forms any',
      series: versions.flatMap(({ model: { batching }, labels }) =>
        Object.entries(batching?.closed ?? {}).map(([reason, value]) => ({ labels: labels.withReason(reason), value })),
      ),
    },
  ];
}

/** One histogram for each version that measures; no family where none does. */
function firstResponses(versions: readonly Version[]): Family[] {
  const series = versions.flatMap(({ model: { firstResponseMs }, labels }): Series[] => {
    if (firstResponseMs === undefined) return [];
    const { buckets, count, sum } = firstResponseMs;
    return [
      ...[...buckets, { bound: Number.POSITIVE_INFINITY, count }].map(
        (bucket): Series => ({ suffix: '_bucket', labels: labels.withBound(bucket.bound), value: bucket.count }),
      ),
      { suffix: '_sum', labels: labels.plain, value: sum },
      { suffix: '_count', labels: labels.plain, value: count },
    ];
  });
  const help = 'Whole milliseconds from arrival to the first response, failures included';
  return series.length === 0
    ? []
    : [{ name: 'nv_inference_first_response_histogram_ms', type: 'histogram', help, series }];
}

interface Version {
  readonly model: ModelStatistics;
  readonly labels: VersionLabels;
}

/** Labels of one version as they are written, ascending by name: tags, batch size, bound, model, reason, version. */
interface VersionLabels {
  readonly plain: string;
  withReason(reason: string): string;
  withBatchSize(batchSize: number): string;
  withBound(bound: number): string;
}

function versionLabels({ name, version, metricTags }: ModelStatistics): VersionLabels {
  const tags = new Map([...metricTags].map(([tag, value]) => [labelName(tag), value]));
  const start = [...tags.keys()]
    .sort()
    .map((tag) => `${formatLabel(tag, tags.get(tag) ?? '')},`)
    .join('');
  const model = formatLabel('model', name);
  const end = formatLabel('version', version);
  return {
    plain: `{${start}${model},${end}}`,
    withReason: (reason) => `{${start}${model},reason="${reason}",${end}}`,
    withBatchSize: (batchSize) => `{${start}batch_size="${batchSize}",${model},${end}}`,
    withBound: (bound) => `{${start}le="${formatNumber(bound)}",${model},${end}}`,
  };
}

/** Configurations may hold any text as the name of a tag; labels may not. Of tags that become one label, the last counts. */
function labelName(tag: string): string {
  return `_${tag.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`;
}

function micros({ ns }: StatisticDuration): number {
  return Math.floor(ns / 1000);
}
