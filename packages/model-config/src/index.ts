export { controlDataType } from './control-data-type.ts';
export { createModelConfig, type Init } from './create.ts';
export { type DeduceOptions, type Deduction, deduceBackend, type VersionFile } from './deduce-backend.ts';
export {
  type ConfigDiagnostic,
  type ConfigReason,
  type FormatConfigDiagnosticOptions,
  formatConfigDiagnostic,
  hasErrors,
  type Locate,
} from './diagnostic.ts';
export type { Finding } from './finding.ts';
export { type MessageProblem, modelConfigFromMessage } from './from-message.ts';
export type {
  BatchInput,
  BatchInputKind,
  BatchOutput,
  BatchOutputKind,
  DataType,
  ModelConfig,
  ModelDynamicBatching,
  ModelEnsembling,
  ModelEnsemblingStep,
  ModelInput,
  ModelInputFormat,
  ModelInstanceGroup,
  ModelInstanceGroupKind,
  ModelInstanceGroupSecondaryDevice,
  ModelInstanceGroupSecondaryDeviceKind,
  ModelMetrics,
  ModelMetricsMetricControl,
  ModelMetricsMetricControlHistogramOptions,
  ModelMetricsMetricControlMetricIdentifier,
  ModelOperations,
  ModelOptimizationPolicy,
  ModelOptimizationPolicyCuda,
  ModelOptimizationPolicyCudaGraphSpec,
  ModelOptimizationPolicyCudaGraphSpecLowerBound,
  ModelOptimizationPolicyCudaGraphSpecShape,
  ModelOptimizationPolicyExecutionAccelerators,
  ModelOptimizationPolicyExecutionAcceleratorsAccelerator,
  ModelOptimizationPolicyGraph,
  ModelOptimizationPolicyModelPriority,
  ModelOptimizationPolicyPinnedMemoryBuffer,
  ModelOutput,
  ModelParameter,
  ModelQueuePolicy,
  ModelQueuePolicyTimeoutAction,
  ModelRateLimiter,
  ModelRateLimiterResource,
  ModelRepositoryAgents,
  ModelRepositoryAgentsAgent,
  ModelResponseCache,
  ModelSequenceBatching,
  ModelSequenceBatchingControl,
  ModelSequenceBatchingControlInput,
  ModelSequenceBatchingControlKind,
  ModelSequenceBatchingInitialState,
  ModelSequenceBatchingState,
  ModelSequenceBatchingStrategyDirect,
  ModelSequenceBatchingStrategyOldest,
  ModelTensorReshape,
  ModelTransactionPolicy,
  ModelVersionPolicy,
  ModelVersionPolicyAll,
  ModelVersionPolicyLatest,
  ModelVersionPolicySpecific,
  ModelWarmup,
  ModelWarmupInput,
} from './generated/types.ts';
export { canUpdateInPlace, instanceGroupSignature } from './in-place-update.ts';
export {
  type InstanceGroupOptions,
  instanceSpecs,
  type PreferredGroup,
  resolveInstanceGroups,
} from './instance-groups.ts';
export { type JsonOptions, modelConfigToJson } from './json/print.ts';
export { normalizeModelConfig } from './normalize.ts';
export { type ParsedModelConfig, type ParseOptions, parseModelConfig } from './parse.ts';
export {
  type CompletedModelConfig,
  type CompleteOptions,
  completeModelConfig,
  type PreparedModelConfig,
  type PrepareOptions,
  prepareModelConfig,
} from './prepare.ts';
export { RULE_NAMES, type RuleName } from './rules/index.ts';
export { modelConfigType } from './schema.ts';
export { modelConfigToMessage } from './to-message.ts';
export { modelConfigToText } from './to-text.ts';
export { type ValidateOptions, validateModelConfig } from './validate.ts';
