import type { TraceSettingValues } from '@nereid/core';
import type {
  ModelMetadataDocument,
  ModelStatisticsEntry,
  RepositoryIndexEntry,
  ServerMetadata,
} from '@nereid/protocol';
import type { InferRequest, InferResult } from './infer.ts';
import type { CallOptions } from './options.ts';

/** A model by name, which means its latest version, or one version of it. */
export type ModelAddress = string | { readonly model: string; readonly version?: string | undefined };

/** Bytes of memory that a model version takes. */
export interface MemoryUsage {
  readonly type: string;
  readonly id: number;
  readonly byteSize: number;
}

export interface ModelStatistics extends ModelStatisticsEntry {
  /** Empty where the server does not tell. */
  readonly memoryUsage: readonly MemoryUsage[];
}

/** The configuration that a model is served with, by the names of `config.pbtxt`; 64-bit integers outside the safe range are bigints. */
export interface ModelConfigDocument {
  readonly name: string;
  readonly platform: string;
  readonly backend: string;
  readonly max_batch_size: number;
  readonly [field: string]: unknown;
}

export interface LoadModelOptions extends CallOptions {
  /** JSON of a configuration to use in place of the model's own. */
  readonly config?: string;
  /** Contents of files by `<version>/<path>`, in place of the model's directory; it takes `config` as well. */
  readonly files?: Readonly<Record<string, Uint8Array>>;
}

export interface UnloadModelOptions extends CallOptions {
  /** Whether the members of an ensemble are unloaded too. Default false. */
  readonly unloadDependents?: boolean;
}

export interface SystemRegion {
  readonly name: string;
  /** Name of the object in shared memory, such as `/inputs`. */
  readonly key: string;
  /** Where in the object the region begins. */
  readonly offset: number;
  readonly byteSize: number;
}

export interface CudaRegion {
  readonly name: string;
  readonly deviceId: number;
  readonly byteSize: number;
}

export interface CudaRegistration extends CudaRegion {
  /** The 64 bytes of the `cudaIpcMemHandle_t`. */
  readonly rawHandle: Uint8Array;
}

/** New values of trace settings; null goes back to what holds without it. */
export type TraceChanges = Readonly<Record<string, string | readonly string[] | null>>;

/** Log settings by the names of the protocol: `log_info`, `log_verbose_level` … */
export type LogSettingValues = Readonly<Record<string, string | boolean | number>>;

/** Regions of one kind: of one name, or all of them. */
export interface RegionOptions extends CallOptions {
  readonly name?: string | undefined;
}

export interface TraceOptions extends CallOptions {
  /** Those of a model instead of the server's. */
  readonly model?: string | undefined;
}

/** What both protocols offer. Every method rejects with a `ClientError`. */
export interface InferenceClient extends AsyncDisposable {
  isServerLive(options?: CallOptions): Promise<boolean>;
  isServerReady(options?: CallOptions): Promise<boolean>;
  /** False also for a model that the server does not have. */
  isModelReady(model: ModelAddress, options?: CallOptions): Promise<boolean>;
  serverMetadata(options?: CallOptions): Promise<ServerMetadata>;
  modelMetadata(model: ModelAddress, options?: CallOptions): Promise<ModelMetadataDocument>;
  modelConfig(model: ModelAddress, options?: CallOptions): Promise<ModelConfigDocument>;
  /** Runs a model that answers once. */
  infer(request: InferRequest, options?: CallOptions): Promise<InferResult>;
  /** Of every version that is ready where no model is named. */
  statistics(
    options?: CallOptions & { readonly model?: ModelAddress | undefined },
  ): Promise<readonly ModelStatistics[]>;
  /** @param options.ready  whether only what is ready is listed; default false */
  repositoryIndex(options?: CallOptions & { readonly ready?: boolean }): Promise<readonly RepositoryIndexEntry[]>;
  loadModel(model: string, options?: LoadModelOptions): Promise<void>;
  unloadModel(model: string, options?: UnloadModelOptions): Promise<void>;
  systemSharedMemoryStatus(options?: RegionOptions): Promise<readonly SystemRegion[]>;
  registerSystemSharedMemory(region: SystemRegion, options?: CallOptions): Promise<void>;
  /** Without a name: all of them. */
  unregisterSystemSharedMemory(options?: RegionOptions): Promise<void>;
  cudaSharedMemoryStatus(options?: RegionOptions): Promise<readonly CudaRegion[]>;
  registerCudaSharedMemory(region: CudaRegistration, options?: CallOptions): Promise<void>;
  /** Without a name: all of them. */
  unregisterCudaSharedMemory(options?: RegionOptions): Promise<void>;
  traceSettings(options?: TraceOptions): Promise<TraceSettingValues>;
  /** Changes what `changes` names; resolves with what holds then. */
  updateTraceSettings(changes: TraceChanges, options?: TraceOptions): Promise<TraceSettingValues>;
  logSettings(options?: CallOptions): Promise<LogSettingValues>;
  /** Changes what `changes` names; resolves with what holds then. */
  updateLogSettings(changes: LogSettingValues, options?: CallOptions): Promise<LogSettingValues>;
  /** Ends what is kept open to the server. */
  close(): Promise<void>;
}

/** The parts of an address. */
export function addressOf(model: ModelAddress): { readonly model: string; readonly version: string } {
  return typeof model === 'string' ? { model, version: '' } : { model: model.model, version: model.version ?? '' };
}
