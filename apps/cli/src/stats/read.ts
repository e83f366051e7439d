/** One entry of a statistics answer. Whatever a server leaves out counts as 0: not every one has every part. */
import { asObject } from '../infer/document.ts';

export interface Duration {
  readonly count: number;
  readonly ns: number;
}

export interface Statistics {
  readonly name: string;
  readonly version: string;
  /** Rows that were inferred. */
  readonly inferenceCount: number;
  readonly executionCount: number;
  readonly success: Duration;
  readonly fail: Duration;
  readonly queue: Duration;
  readonly computeInput: Duration;
  readonly computeInfer: Duration;
  readonly computeOutput: Duration;
  /** Executions by their number of rows. */
  readonly batches: readonly { readonly batchSize: number; readonly computeInfer: Duration }[];
  /** Batches by the reason why they were closed; undefined where the server tells none. */
  readonly closed: ReadonlyMap<string, number> | undefined;
}

export function readStatistics(entry: unknown): Statistics {
  const { name, version, inference_count, execution_count, inference_stats, batch_stats, batching } = members(entry);
  const durations = members(inference_stats);
  const closed = asObject(members(batching).closed);
  return {
    name: String(name ?? ''),
    version: String(version ?? ''),
    inferenceCount: count(inference_count),
    executionCount: count(execution_count),
    success: duration(durations.success),
    fail: duration(durations.fail),
    queue: duration(durations.queue),
    computeInput: duration(durations.compute_input),
    computeInfer: duration(durations.compute_infer),
    computeOutput: duration(durations.compute_output),
    batches: (Array.isArray(batch_stats) ? batch_stats : []).map((batch: unknown) => {
      const { batch_size, compute_infer } = members(batch);
      return { batchSize: count(batch_size), computeInfer: duration(compute_infer) };
    }),
    closed: closed && new Map(Object.entries(closed).map(([reason, batches]) => [reason, count(batches)])),
  };
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return asObject(value) ?? {};
}

function duration(value: unknown): Duration {
  const { count: events, ns } = members(value);
  return { count: count(events), ns: count(ns) };
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
