/** The JSON bodies that are not inference: metadata, statistics, repository index, errors. Compact, in the member order of the original. */

export interface ServerMetadata {
  readonly name: string;
  readonly version: string;
  readonly extensions: readonly string[];
}

export interface TensorMetadataEntry {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
}

export interface ModelMetadataDocument {
  readonly name: string;
  readonly versions: readonly string[];
  readonly platform: string;
  readonly inputs: readonly TensorMetadataEntry[];
  readonly outputs: readonly TensorMetadataEntry[];
}

/** Number of events and their summed nanoseconds. */
export interface DurationEntry {
  readonly count: number;
  readonly ns: number;
}

export interface BatchStatisticsEntry {
  readonly batchSize: number;
  readonly computeInput: DurationEntry;
  readonly computeInfer: DurationEntry;
  readonly computeOutput: DurationEntry;
}

/** Responses of a decoupled model at one position among those of their request. */
export interface ResponseStatisticsEntry {
  readonly index: number;
  readonly computeInfer: DurationEntry;
  readonly computeOutput: DurationEntry;
  readonly success: DurationEntry;
  readonly fail: DurationEntry;
  readonly emptyResponse: DurationEntry;
  readonly cancel: DurationEntry;
}

/** How a scheduler formed batches; `batch_stats` counts executions, which is the same only where every batch runs. */
export interface BatchingEntry {
  /** Batches by their number of rows, ascending. */
  readonly sizes: readonly { readonly batchSize: number; readonly count: number }[];
  /** Batches by the reason why they were closed. */
  readonly closed: Readonly<Record<string, number>>;
}

export interface ModelStatisticsEntry {
  readonly name: string;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly lastInferenceMs: number;
  readonly inferenceCount: number;
  readonly executionCount: number;
  readonly success: DurationEntry;
  readonly fail: DurationEntry;
  readonly queue: DurationEntry;
  readonly computeInput: DurationEntry;
  readonly computeInfer: DurationEntry;
  readonly computeOutput: DurationEntry;
  readonly cacheHit: DurationEntry;
  readonly cacheMiss: DurationEntry;
  readonly batches: readonly BatchStatisticsEntry[];
  readonly responses: readonly ResponseStatisticsEntry[];
  /** Absent where each request runs by itself. Not in the original. */
  readonly batching?: BatchingEntry;
}

export interface RepositoryIndexEntry {
  readonly name: string;
  readonly version?: string;
  readonly state?: string;
  readonly reason?: string;
}

/** `{"name","version","extensions"}` */
export function encodeServerMetadata({ name, version, extensions }: ServerMetadata): string {
  return JSON.stringify({ name, version, extensions });
}

/** `{"name","versions","platform","inputs","outputs"}`; versions are strings. */
export function encodeModelMetadata(model: ModelMetadataDocument): string {
  return JSON.stringify({
    name: model.name,
    versions: model.versions,
    platform: model.platform,
    inputs: model.inputs.map(tensorEntry),
    outputs: model.outputs.map(tensorEntry),
  });
}

/**
 * `{"model_stats":[…]}`; `response_stats` is empty for models that are not decoupled, `memory_usage` always. `batching` is an addition to the protocol: clients of the
 * original ignore it.
 */
export function encodeModelStatistics(models: readonly ModelStatisticsEntry[]): string {
  return JSON.stringify({ model_stats: models.map(statisticsEntry) });
}

/** Array of `{"name","version"?,"state"?,"reason"?}`; empty reasons are left out. */
export function encodeRepositoryIndex(models: readonly RepositoryIndexEntry[]): string {
  return JSON.stringify(
    models.map(({ name, version, state, reason }) => ({
      name,
      version,
      state,
      reason: reason === '' ? undefined : reason,
    })),
  );
}

/** `{"error":"<message>"}` */
export function encodeError(message: string): string {
  return JSON.stringify({ error: message });
}

function tensorEntry({ name, datatype, shape }: TensorMetadataEntry): TensorMetadataEntry {
  return { name, datatype, shape };
}

function duration({ count, ns }: DurationEntry): DurationEntry {
  return { count, ns };
}

function batchingEntry({ sizes, closed }: BatchingEntry): object {
  return { batch_sizes: sizes.map(({ batchSize, count }) => ({ batch_size: batchSize, count })), closed };
}

function responseEntry(response: ResponseStatisticsEntry): [string, object] {
  const counted = {
    compute_infer: duration(response.computeInfer),
    compute_output: duration(response.computeOutput),
    success: duration(response.success),
    fail: duration(response.fail),
    empty_response: duration(response.emptyResponse),
    cancel: duration(response.cancel),
  };
  return [String(response.index), counted];
}

function statisticsEntry(model: ModelStatisticsEntry): object {
  return {
    name: model.name,
    version: model.version,
    last_inference: model.lastInferenceMs,
    inference_count: model.inferenceCount,
    execution_count: model.executionCount,
    inference_stats: {
      success: duration(model.success),
      fail: duration(model.fail),
      queue: duration(model.queue),
      compute_input: duration(model.computeInput),
      compute_infer: duration(model.computeInfer),
      compute_output: duration(model.computeOutput),
      cache_hit: duration(model.cacheHit),
      cache_miss: duration(model.cacheMiss),
    },
    response_stats: Object.fromEntries(model.responses.map(responseEntry)),
    batch_stats: model.batches.map((batch) => ({
      batch_size: batch.batchSize,
      compute_input: duration(batch.computeInput),
      compute_infer: duration(batch.computeInfer),
      compute_output: duration(batch.computeOutput),
    })),
    memory_usage: [],
    batching: model.batching && batchingEntry(model.batching),
  };
}
