/** Messages of the calls that run no model, as the documents that both protocols give. Fields that are not set are at their default. */
import type { TraceSettingValues } from '@nereid/core';
import { modelConfigFromMessage, modelConfigToJson, modelConfigType } from '@nereid/model-config';
import {
  type BatchStatisticsEntry,
  type DurationEntry,
  type ModelMetadataDocument,
  parseJson,
  type RepositoryIndexEntry,
  type ResponseStatisticsEntry,
  type ServerMetadata,
} from '@nereid/protocol';
import { readModelConfig } from '../http/documents.ts';
import type {
  CudaRegion,
  LogSettingValues,
  ModelConfigDocument,
  ModelStatistics,
  SystemRegion,
  TraceChanges,
} from '../inference-client.ts';

/** A message as protobufjs gives it with its defaults: lowerCamelCase, 64-bit integers as numbers. */
export type Plain = Readonly<Record<string, unknown>>;

export function serverMetadata({ name, version, extensions }: Plain): ServerMetadata {
  return { name: text(name), version: text(version), extensions: list(extensions).map(text) };
}

export function modelMetadata(message: Plain): ModelMetadataDocument {
  return {
    name: text(message.name),
    versions: list(message.versions).map(text),
    platform: text(message.platform),
    inputs: messages(message.inputs).map(tensorMetadata),
    outputs: messages(message.outputs).map(tensorMetadata),
  };
}

function tensorMetadata({ name, datatype, shape }: Plain) {
  return { name: text(name), datatype: text(datatype), shape: list(shape).map(Number) };
}

/** The configuration is bytes here: its messages are those of `@nereid/model-config`. */
export function modelConfig({ config }: Plain): ModelConfigDocument {
  const message = modelConfigType().decode(config instanceof Uint8Array ? config : new Uint8Array());
  return readModelConfig(parseJson(modelConfigToJson(modelConfigFromMessage(message).config)));
}

export function statistics({ modelStats }: Plain): readonly ModelStatistics[] {
  return messages(modelStats).map((model) => {
    const events = members(model.inferenceStats);
    return {
      name: text(model.name),
      version: text(model.version),
      lastInferenceMs: count(model.lastInference),
      inferenceCount: count(model.inferenceCount),
      executionCount: count(model.executionCount),
      success: duration(events.success),
      fail: duration(events.fail),
      queue: duration(events.queue),
      computeInput: duration(events.computeInput),
      computeInfer: duration(events.computeInfer),
      computeOutput: duration(events.computeOutput),
      cacheHit: duration(events.cacheHit),
      cacheMiss: duration(events.cacheMiss),
      batches: messages(model.batchStats).map(batchStatistics),
      responses: Object.entries(members(model.responseStats)).map(responseStatistics),
      memoryUsage: messages(model.memoryUsage).map(({ type, id, byteSize }) => ({
        type: text(type),
        id: count(id),
        byteSize: count(byteSize),
      })),
    };
  });
}

function batchStatistics(batch: Plain): BatchStatisticsEntry {
  return {
    batchSize: count(batch.batchSize),
    computeInput: duration(batch.computeInput),
    computeInfer: duration(batch.computeInfer),
    computeOutput: duration(batch.computeOutput),
  };
}

function responseStatistics([index, message]: readonly [string, unknown]): ResponseStatisticsEntry {
  const response = members(message);
  return {
    index: Number(index),
    computeInfer: duration(response.computeInfer),
    computeOutput: duration(response.computeOutput),
    success: duration(response.success),
    fail: duration(response.fail),
    emptyResponse: duration(response.emptyResponse),
    cancel: duration(response.cancel),
  };
}

export function index({ models }: Plain): readonly RepositoryIndexEntry[] {
  return messages(models).map(({ name, version, state, reason }) => ({
    name: text(name),
    ...(version !== '' && { version: text(version) }),
    ...(state !== '' && { state: text(state) }),
    ...(reason !== '' && { reason: text(reason) }),
  }));
}

export function systemRegions({ regions }: Plain): readonly SystemRegion[] {
  return Object.values(members(regions)).map((region) => {
    const { name, key, offset, byteSize } = members(region);
    return { name: text(name), key: text(key), offset: count(offset), byteSize: count(byteSize) };
  });
}

export function cudaRegions({ regions }: Plain): readonly CudaRegion[] {
  return Object.values(members(regions)).map((region) => {
    const { name, deviceId, byteSize } = members(region);
    return { name: text(name), deviceId: count(deviceId), byteSize: count(byteSize) };
  });
}

/** Levels are a list, everything else is one text, as over HTTP. */
export function traceSettings({ settings }: Plain): TraceSettingValues {
  return Object.fromEntries(
    Object.entries(members(settings)).map(([name, setting]) => {
      const values = list(members(setting).value).map(text);
      return [name, name === 'trace_level' ? values : (values[0] ?? '')];
    }),
  );
}

/** A setting without values goes back to what holds without it. */
export function traceChanges(changes: TraceChanges): Plain {
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [name, { value: value === null ? [] : [value].flat() }]),
  );
}

export function logSettings({ settings }: Plain): LogSettingValues {
  return Object.fromEntries(
    Object.entries(members(settings)).map(([name, setting]) => {
      const { boolParam, uint32Param, stringParam } = members(setting);
      return [
        name,
        typeof boolParam === 'boolean' ? boolParam : uint32Param === undefined ? text(stringParam) : count(uint32Param),
      ];
    }),
  );
}

export function logChanges(changes: LogSettingValues): Plain {
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [
      name,
      typeof value === 'boolean'
        ? { boolParam: value }
        : typeof value === 'number'
          ? { uint32Param: value }
          : { stringParam: value },
    ]),
  );
}

function members(value: unknown): Plain {
  return typeof value === 'object' && value !== null ? (value as Plain) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function messages(value: unknown): readonly Plain[] {
  return list(value).map(members);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : String(value);
}

/** Nothing that is counted goes beyond what a number holds. */
function count(value: unknown): number {
  return Number(value ?? 0);
}

function duration(value: unknown): DurationEntry {
  const { count: events, ns } = members(value);
  return { count: count(events), ns: count(ns) };
}
