/**
 * What the statistics of models become. Names, types and labels of `nv_…` are those of Triton; families of `nereid_…` are ours.
 */
import type { FailureReason, ModelStatistics, StatisticDuration } from '@nereid/serving';
import { type Family, type FamilyType, formatLabels, type Labels, type Series } from './text.ts';

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

export function modelFamilies(models: readonly ModelStatistics[]): readonly Family[] {
  const plain = models.map((model) => formatLabels(labelsOf(model)));
  const perVersion = ({ name, type, help, value }: PerVersion): Family => ({
    name,
    type,
    help,
    series: models.map((model, i) => ({ labels: plain[i] ?? '', value: value(model) })),
  });
  return [
    perVersion(SUCCESS),
    {
      name: 'nv_inference_request_failure',
      type: 'counter',
      help: 'Requests that failed after they were accepted, by reason',
      series: models.flatMap((model) =>
        REASONS.map((reason) => oneOf(model, { label: 'reason', of: reason, value: model.failures[reason] })),
      ),
    },
    ...COUNTS.map(perVersion),
    {
      name: 'nereid_batches_total',
      type: 'counter',
      help: 'Batches formed, by their number of rows; of models whose scheduler forms any',
      series: models.flatMap((model) =>
        (model.batching?.sizes ?? []).map(({ batchSize, count }) =>
          oneOf(model, { label: 'batch_size', of: String(batchSize), value: count }),
        ),
      ),
    },
    {
      name: 'nereid_batches_closed_total',
      type: 'counter',
      help: 'Batches formed, by the reason why they were closed; of models whose scheduler forms any',
      series: models.flatMap((model) =>
        Object.entries(model.batching?.closed ?? {}).map(([reason, value]) =>
          oneOf(model, { label: 'reason', of: reason, value }),
        ),
      ),
    },
  ];
}

function oneOf(
  model: ModelStatistics,
  { label, of, value }: { readonly label: string; readonly of: string; readonly value: number },
): Series {
  return { labels: formatLabels(labelsOf(model, [label, of])), value };
}

function labelsOf({ name, version, metricTags }: ModelStatistics, more?: Labels[number]): Labels {
  const labels = new Map([...metricTags].map(([tag, value]) => [labelName(tag), value]));
  labels.set('model', name).set('version', version);
  if (more !== undefined) labels.set(...more);
  return [...labels].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Configurations may hold any text as the name of a tag; labels may not. Of tags that become one label, the last counts. */
function labelName(tag: string): string {
  return `_${tag.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`;
}

function micros({ ns }: StatisticDuration): number {
  return Math.floor(ns / 1000);
}
