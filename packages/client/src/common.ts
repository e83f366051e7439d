/** What clients of both protocols have in common. */
export {
  bf16Bits,
  type Datatype,
  decodeBytes,
  type ErrorCode,
  encodeBytes,
  fp16Bits,
  fromBf16,
  fromFp16,
  type ParameterValue,
  type Shape,
  type SharedMemoryPart,
  type Tensor,
  type TraceSettingValues,
  toBf16,
  toFp16,
  type WeightsReport,
} from '@nereid/core';
export type {
  ModelMetadataDocument,
  PlainJson,
  ProtocolLimits,
  RepositoryIndexEntry,
  ServerMetadata,
} from '@nereid/protocol';
export { ClientError, type ClientErrorInit, type ClientErrorReason } from './errors.ts';
export {
  type InferRequest,
  InferResult,
  type InferResultInit,
  type SequenceMark,
  type SharedInput,
  type WantedOutput,
} from './infer.ts';
export type {
  CudaRegion,
  CudaRegistration,
  InferenceClient,
  LoadModelOptions,
  LogSettingValues,
  MemoryUsage,
  ModelAddress,
  ModelConfigDocument,
  ModelStatistics,
  RegionOptions,
  SystemRegion,
  TraceChanges,
  TraceOptions,
  UnloadModelOptions,
} from './inference-client.ts';
export type { CallOptions, ClientOptions, Compression, RetryOptions } from './options.ts';
export { Sequence, type SequenceCallOptions, type SequenceOptions, type SequenceRequest } from './sequence.ts';
export { type InputValues, type OutputValues, type TensorInit, tensor, valuesOf } from './values.ts';
