/** The JSON documents of the protocol, read. What a server leaves out is at its default: not every server has every part. */

import type { TraceSettingValues } from '@nereid/core';
import type {
  BatchingEntry,
  BatchStatisticsEntry,
  DurationEntry,
  ModelMetadataDocument,
  PlainJson,
  RepositoryIndexEntry,
  ResponseStatisticsEntry,
  ServerMetadata,
  TensorMetadataEntry,
} from '@nereid/protocol';
import type {
  CudaRegion,
  LogSettingValues,
  MemoryUsage,
  ModelConfigDocument,
  ModelStatistics,
  SystemRegion,
} from '../inference-client.ts';

type Members = Readonly<Record<string, PlainJson>>;

export function readServerMetadata(document: PlainJson): ServerMetadata {
  const { name, version, extensions } = members(document);
  return { name: text(name), version: text(version), extensions: list(extensions).map(text) };
}

/** @throws {Error} when it describes no tensors */
export function readModelMetadata(document: PlainJson): ModelMetadataDocument {
  const { name, versions, platform, inputs, outputs } = members(document);
  if (!Array.isArray(inputs) || !Array.isArray(outputs))
    throw new Error("metadata of a model needs 'inputs' and 'outputs'");
  return {
    name: text(name),
    versions: list(versions).map(text),
    platform: text(platform),
    inputs: inputs.map(tensorMetadata),
    outputs: outputs.map(tensorMetadata),
  };
}

function tensorMetadata(entry: PlainJson): TensorMetadataEntry {
  const { name, datatype, shape } = members(entry);
  return { name: text(name), datatype: text(datatype), shape: list(shape).map(Number) };
}

export function readModelConfig(document: PlainJson): ModelConfigDocument {
  const config = members(document);
  return {
    ...config,
    name: text(config.name),
    platform: text(config.platform),
    backend: text(config.backend),
    max_batch_size: Number(config.max_batch_size ?? 0),
  };
}

/** @throws {Error} when it is no list of statistics */
export function readStatistics(document: PlainJson): readonly ModelStatistics[] {
  const { model_stats } = members(document);
  if (!Array.isArray(model_stats)) throw new Error("statistics need 'model_stats'");
  return model_stats.map(modelStatistics);
}

function modelStatistics(entry: PlainJson): ModelStatistics {
  const model = members(entry);
  const events = members(model.inference_stats);
  return {
    name: text(model.name),
    version: text(model.version),
    lastInferenceMs: count(model.last_inference),
    inferenceCount: count(model.inference_count),
    executionCount: count(model.execution_count),
    success: duration(events.success),
    fail: duration(events.fail),
    queue: duration(events.queue),
    computeInput: duration(events.compute_input),
    computeInfer: duration(events.compute_infer),
    computeOutput: duration(events.compute_output),
    cacheHit: duration(events.cache_hit),
    cacheMiss: duration(events.cache_miss),
    batches: list(model.batch_stats).map(batchStatistics),
    responses: Object.entries(members(model.response_stats)).map(responseStatistics),
    memoryUsage: list(model.memory_usage).map(memoryUsage),
    ...(model.batching !== undefined && { batching: batching(model.batching) }),
  };
}

function batchStatistics(entry: PlainJson): BatchStatisticsEntry {
  const { batch_size, compute_input, compute_infer, compute_output } = members(entry);
  return {
    batchSize: count(batch_size),
    computeInput: duration(compute_input),
    computeInfer: duration(compute_infer),
    computeOutput: duration(compute_output),
  };
}

function responseStatistics([index, entry]: readonly [string, PlainJson]): ResponseStatisticsEntry {
  const { compute_infer, compute_output, success, fail, empty_response, cancel } = members(entry);
  return {
    index: Number(index),
    computeInfer: duration(compute_infer),
    computeOutput: duration(compute_output),
    success: duration(success),
    fail: duration(fail),
    emptyResponse: duration(empty_response),
    cancel: duration(cancel),
  };
}

function memoryUsage(entry: PlainJson): MemoryUsage {
  const { type, id, byte_size } = members(entry);
  return { type: text(type), id: count(id), byteSize: count(byte_size) };
}

function batching(entry: PlainJson): BatchingEntry {
  const { batch_sizes, closed } = members(entry);
  return {
    sizes: list(batch_sizes).map((row) => {
      const { batch_size, count: batches } = members(row);
      return { batchSize: count(batch_size), count: count(batches) };
    }),
    closed: Object.fromEntries(Object.entries(members(closed)).map(([reason, batches]) => [reason, count(batches)])),
  };
}

export function readIndex(document: PlainJson): readonly RepositoryIndexEntry[] {
  return list(document).map((entry) => {
    const { name, version, state, reason } = members(entry);
    return {
      name: text(name),
      ...(version !== undefined && { version: text(version) }),
      ...(state !== undefined && { state: text(state) }),
      ...(reason !== undefined && { reason: text(reason) }),
    };
  });
}

export function readSystemRegions(document: PlainJson): readonly SystemRegion[] {
  return list(document).map((entry) => {
    const { name, key, offset, byte_size } = members(entry);
    return { name: text(name), key: text(key), offset: count(offset), byteSize: count(byte_size) };
  });
}

export function readCudaRegions(document: PlainJson): readonly CudaRegion[] {
  return list(document).map((entry) => {
    const { name, device_id, byte_size } = members(entry);
    return { name: text(name), deviceId: count(device_id), byteSize: count(byte_size) };
  });
}

export function readTraceSettings(document: PlainJson): TraceSettingValues {
  return Object.fromEntries(
    Object.entries(members(document)).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(text) : text(value),
    ]),
  );
}

export function readLogSettings(document: PlainJson): LogSettingValues {
  return Object.fromEntries(
    Object.entries(members(document)).map(([name, value]) => [
      name,
      typeof value === 'boolean' || typeof value === 'number' ? value : text(value),
    ]),
  );
}

/** The members of an object; none for anything else. */
function members(value: PlainJson | undefined): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

function list(value: PlainJson | undefined): readonly PlainJson[] {
  return Array.isArray(value) ? value : [];
}

function text(value: PlainJson | undefined): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : String(value);
}

/** Nothing that is counted goes beyond what a number holds. */
function count(value: PlainJson | undefined): number {
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0;
}

function duration(value: PlainJson | undefined): DurationEntry {
  const { count: events, ns } = members(value);
  return { count: count(events), ns: count(ns) };
}
