export type {
  Backend,
  CompletionContext,
  ExecutionReport,
  InstanceContext,
  InstanceKind,
  InstanceSpec,
  LoadedModel,
  ModelContext,
  ModelInstance,
  ResponseReport,
  WeightsReport,
  WeightsSource,
} from './backend.ts';
export type { BatchCloseReason, BatchInfo } from './batch-info.ts';
export { withBatch } from './batch-parameters.ts';
export type { BatchStrategy, FormingBatch, OpenBatchStrategy, StrategyContext } from './batch-strategy.ts';
export type { Clock, Timer } from './clock.ts';
export {
  type ConfigDatatype,
  DATATYPES,
  type Datatype,
  datatypeFromConfig,
  datatypeToConfig,
  isDatatype,
  type TypedArrayOf,
} from './datatypes.ts';
export { type ErrorCode, InferenceServerError } from './errors.ts';
export { bf16Bits, fp16Bits, fromBf16, fromFp16, toBf16, toFp16 } from './half.ts';
export type { JobResult, JobThreads, ThreadJob } from './job-threads.ts';
export {
  type LogChanges,
  type LogControl,
  type LogLineFormat,
  type LogSettings,
  logSettingsDocument,
  readLogChanges,
} from './log-settings.ts';
export { type Logger, silentLogger } from './logger.ts';
export { messageMemory } from './message-memory.ts';
export { nearestName } from './nearest-name.ts';
export {
  type AnswerGate,
  type ExecutionTimes,
  InferenceRequest,
  type InferenceRequestInit,
  type InferenceResponse,
  type ParameterValue,
  type RequestAnswer,
  type RequestObserver,
  type RequestOrigin,
  RequestSignature,
  type Responder,
} from './request.ts';
export type { Scheduler } from './scheduler.ts';
export { type HeldState, SequenceState, type SequenceTurn } from './sequence.ts';
export { elementCount, formatShape, type Shape, shapeMatches } from './shape.ts';
export type { SharedMemoryPart, SharedMemoryTensors } from './shared-memory.ts';
export {
  decodeBytes,
  describeTensor,
  elements,
  encodeBytes,
  expectedByteSize,
  type Tensor,
  tensorFrom,
} from './tensor.ts';
export type {
  RequestTrace,
  RequestTracer,
  TraceSettingChanges,
  TraceSettingValues,
  TraceStart,
} from './trace.ts';
