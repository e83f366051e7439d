// Generated from proto/model_config.proto by scripts/generate.mjs; edit that and run `pnpm generate`.

/** Datatype of a tensor. TYPE_STRING is called BYTES on the wire; the others lose only their prefix there. */
export type DataType =
  | 'TYPE_INVALID'
  | 'TYPE_BOOL'
  | 'TYPE_UINT8'
  | 'TYPE_UINT16'
  | 'TYPE_UINT32'
  | 'TYPE_UINT64'
  | 'TYPE_INT8'
  | 'TYPE_INT16'
  | 'TYPE_INT32'
  | 'TYPE_INT64'
  | 'TYPE_FP16'
  | 'TYPE_FP32'
  | 'TYPE_FP64'
  | 'TYPE_STRING'
  | 'TYPE_BF16';

/** What an instance occupies while it runs, and how often it gets its turn. */
export interface ModelRateLimiter {
  /** Everything that must be free before an execution starts. */
  readonly resources: readonly ModelRateLimiterResource[];
  /** 0 and 1 are the same; an instance of priority n gets 1/n of the turns of one of priority 1. */
  readonly priority: number;
}

/** A counted resource that an execution holds. */
export interface ModelRateLimiterResource {
  /** Compared without regard to case. */
  readonly name: string;
  /** Whether all devices share one pool of it instead of having one each. */
  readonly global: boolean;
  /** Copies held during one execution. */
  readonly count: number;
}

/** Model instances of one kind on the same set of devices. */
export interface ModelInstanceGroup {
  /** Instances are called `<name>_<i>`; an empty name is replaced by `<model>_<index of the group>`. */
  readonly name: string;
  /** KIND_AUTO becomes KIND_GPU or KIND_CPU when instance groups are resolved. */
  readonly kind: ModelInstanceGroupKind;
  /** Instances per listed device; 0 means the default, 1. */
  readonly count: number;
  readonly rateLimiter?: ModelRateLimiter;
  /** Ids of the GPUs, for KIND_GPU and KIND_AUTO; empty means all that are usable. An id listed twice gets twice the instances. */
  readonly gpus: readonly number[];
  readonly secondaryDevices: readonly ModelInstanceGroupSecondaryDevice[];
  /** Indices of TensorRT optimisation profiles, as text. */
  readonly profile: readonly string[];
  /** Whether the instances are created but given no work by the scheduler. */
  readonly passive: boolean;
  /** Name of the thread and memory placement policy; empty means `cpu`, `model` or `gpu_<id>`. */
  readonly hostPolicy: string;
}

/** Where the instances run. */
export type ModelInstanceGroupKind = 'KIND_AUTO' | 'KIND_GPU' | 'KIND_CPU' | 'KIND_MODEL';

/** A further device, beside the one that `kind` names. */
export interface ModelInstanceGroupSecondaryDevice {
  readonly kind: ModelInstanceGroupSecondaryDeviceKind;
  readonly deviceId: number;
}

/** The only kind there is. */
export type ModelInstanceGroupSecondaryDeviceKind = 'KIND_NVDLA';

/** Another shape with the same elements. Empty drops every dimension but the batch dimension. */
export interface ModelTensorReshape {
  readonly shape: readonly number[];
}

/** A tensor that requests provide. */
export interface ModelInput {
  readonly name: string;
  readonly dataType: DataType;
  /** Anything but FORMAT_NONE requires three dims. */
  readonly format: ModelInputFormat;
  /** Shape without the batch dimension; −1 stands for a variable dimension. */
  readonly dims: readonly number[];
  /** Shape in which the model receives the tensor, where it differs from `dims`. */
  readonly reshape?: ModelTensorReshape;
  /** TensorRT only. */
  readonly isShapeTensor: boolean;
  /** Whether requests with different shapes of this input may share a batch. */
  readonly allowRaggedBatch: boolean;
  /** Whether a request may leave the input out. */
  readonly optional: boolean;
  /** TensorRT only. */
  readonly isNonLinearFormatIo: boolean;
}

/** What the dimensions mean; descriptive only. */
export type ModelInputFormat = 'FORMAT_NONE' | 'FORMAT_NHWC' | 'FORMAT_NCHW';

/** A tensor that the model computes. */
export interface ModelOutput {
  readonly name: string;
  readonly dataType: DataType;
  /** Shape that clients see, without the batch dimension; −1 stands for a variable dimension. */
  readonly dims: readonly number[];
  /** Shape that the model produces, where it differs from `dims`. */
  readonly reshape?: ModelTensorReshape;
  /** Text file with one label per line, relative to the model directory; used by classification. */
  readonly labelFilename: string;
  /** TensorRT only. */
  readonly isShapeTensor: boolean;
  /** TensorRT only. */
  readonly isNonLinearFormatIo: boolean;
}

/** A tensor that the server makes for each batch, e.g. the lengths of ragged inputs. */
export interface BatchInput {
  readonly kind: BatchInputKind;
  /** Inputs of the model that receive the tensor. */
  readonly targetName: readonly string[];
  /** TYPE_INT32 or TYPE_FP32. */
  readonly dataType: DataType;
  /** Exactly one declared input. */
  readonly sourceInput: readonly string[];
}

/** How the values follow from the source input. */
export type BatchInputKind =
  | 'BATCH_ELEMENT_COUNT'
  | 'BATCH_ACCUMULATED_ELEMENT_COUNT'
  | 'BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO'
  | 'BATCH_MAX_ELEMENT_COUNT_AS_SHAPE'
  | 'BATCH_ITEM_SHAPE'
  | 'BATCH_ITEM_SHAPE_FLATTEN';

/** An output whose batch is split among the requests by another rule than its first dimension. */
export interface BatchOutput {
  /** Declared outputs, each once. */
  readonly targetName: readonly string[];
  readonly kind: BatchOutputKind;
  /** Exactly one declared input. */
  readonly sourceInput: readonly string[];
}

/** How the split follows from the source input. */
export type BatchOutputKind = 'BATCH_SCATTER_WITH_INPUT_SHAPE';

/** Which of the version directories are served. */
export interface ModelVersionPolicy {
  readonly latest?: ModelVersionPolicyLatest;
  readonly all?: ModelVersionPolicyAll;
  readonly specific?: ModelVersionPolicySpecific;
}

/** The numerically greatest versions. */
export interface ModelVersionPolicyLatest {
  readonly numVersions: number;
}

/** Every version. */
export type ModelVersionPolicyAll = Readonly<Record<never, never>>;

/** The listed versions; those that are missing are skipped. */
export interface ModelVersionPolicySpecific {
  readonly versions: readonly number[];
}

/** Hints that may make a model faster. None changes results. */
export interface ModelOptimizationPolicy {
  readonly graph?: ModelOptimizationPolicyGraph;
  readonly priority: ModelOptimizationPolicyModelPriority;
  readonly cuda?: ModelOptimizationPolicyCuda;
  readonly executionAccelerators?: ModelOptimizationPolicyExecutionAccelerators;
  /** Enabled when absent. */
  readonly inputPinnedMemory?: ModelOptimizationPolicyPinnedMemoryBuffer;
  /** Enabled when absent. */
  readonly outputPinnedMemory?: ModelOptimizationPolicyPinnedMemoryBuffer;
  /** Gather by a kernel when a batch has at least this many input buffers; 0 means never. */
  readonly gatherKernelBufferThreshold: number;
  /** Prepare the next batch while the current one runs. */
  readonly eagerBatching: boolean;
}

/** Graph optimisation by the backend. */
export interface ModelOptimizationPolicyGraph {
  /** −1 off, 0 the backend's default, 1 and above more. */
  readonly level: number;
}

/** Priority of a model among those that share a device. */
export type ModelOptimizationPolicyModelPriority = 'PRIORITY_DEFAULT' | 'PRIORITY_MAX' | 'PRIORITY_MIN';

/** CUDA specific hints. */
export interface ModelOptimizationPolicyCuda {
  readonly graphs: boolean;
  /** Spin instead of sleeping while waiting for the device. */
  readonly busyWaitEvents: boolean;
  readonly graphSpec: readonly ModelOptimizationPolicyCudaGraphSpec[];
  /** Copy outputs on a stream of their own. */
  readonly outputCopyStream: boolean;
}

/** One CUDA graph to capture. */
export interface ModelOptimizationPolicyCudaGraphSpec {
  readonly batchSize: number;
  /** Shape of every input by name. */
  readonly input: ReadonlyMap<string, ModelOptimizationPolicyCudaGraphSpecShape>;
  readonly graphLowerBound?: ModelOptimizationPolicyCudaGraphSpecLowerBound;
}

/** Shape of one input, without the batch dimension. */
export interface ModelOptimizationPolicyCudaGraphSpecShape {
  readonly dim: readonly number[];
}

/** Smallest request that the graph still serves. */
export interface ModelOptimizationPolicyCudaGraphSpecLowerBound {
  readonly batchSize: number;
  readonly input: ReadonlyMap<string, ModelOptimizationPolicyCudaGraphSpecShape>;
}

/** Accelerators that run a part of the graph. */
export interface ModelOptimizationPolicyExecutionAccelerators {
  readonly gpuExecutionAccelerator: readonly ModelOptimizationPolicyExecutionAcceleratorsAccelerator[];
  readonly cpuExecutionAccelerator: readonly ModelOptimizationPolicyExecutionAcceleratorsAccelerator[];
}

/** One accelerator with its settings. */
export interface ModelOptimizationPolicyExecutionAcceleratorsAccelerator {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Whether copies to or from the device go through pinned memory. */
export interface ModelOptimizationPolicyPinnedMemoryBuffer {
  readonly enable: boolean;
}

/** How long and how many requests may wait. */
export interface ModelQueuePolicy {
  readonly timeoutAction: ModelQueuePolicyTimeoutAction;
  /** 0 means no limit. */
  readonly defaultTimeoutMicroseconds: bigint;
  /** Whether a request's own timeout may shorten the default. */
  readonly allowTimeoutOverride: boolean;
  /** Requests beyond this many waiting ones are refused; 0 means no limit. */
  readonly maxQueueSize: number;
}

/** What happens to a request whose time is up. */
export type ModelQueuePolicyTimeoutAction = 'REJECT' | 'DELAY';

/** Dynamic batcher: joins requests that wait into one execution. */
export interface ModelDynamicBatching {
  /** Batch sizes that are sent at once; empty means `max_batch_size` alone. */
  readonly preferredBatchSize: readonly number[];
  /** How long a batch of another size is held back for more requests. */
  readonly maxQueueDelayMicroseconds: bigint;
  /** Whether responses leave in the order in which the requests came. */
  readonly preserveOrdering: boolean;
  /** Levels are 1 to this number, 1 is served first; 0 turns priorities off. */
  readonly priorityLevels: bigint;
  /** Level of requests that name none; required when there are levels. */
  readonly defaultPriorityLevel: bigint;
  /** Policy of the levels that have none of their own. */
  readonly defaultQueuePolicy?: ModelQueuePolicy;
  /** Policy by level. */
  readonly priorityQueuePolicy: ReadonlyMap<bigint, ModelQueuePolicy>;
}

/** Sequence batcher: routes every request of a sequence to the same instance. */
export interface ModelSequenceBatching {
  /** Taken when neither is set. */
  readonly direct?: ModelSequenceBatchingStrategyDirect;
  readonly oldest?: ModelSequenceBatchingStrategyOldest;
  /** Idle time after which a sequence loses its slot; 0 means one second. */
  readonly maxSequenceIdleMicroseconds: bigint;
  readonly controlInput: readonly ModelSequenceBatchingControlInput[];
  readonly state: readonly ModelSequenceBatchingState[];
  /** Whether one request is scheduled again until the model ends it. */
  readonly iterativeSequence: boolean;
}

/** One meaning of a control tensor, and its values. */
export interface ModelSequenceBatchingControl {
  readonly kind: ModelSequenceBatchingControlKind;
  /** The values for false and true. */
  readonly int32FalseTrue: readonly number[];
  /** The values for false and true. */
  readonly fp32FalseTrue: readonly number[];
  /** The values for false and true. */
  readonly boolFalseTrue: readonly boolean[];
  /** Datatype of a correlation ID; for CONTROL_SEQUENCE_CORRID only. */
  readonly dataType: DataType;
}

/** What the tensor tells the model. */
export type ModelSequenceBatchingControlKind =
  | 'CONTROL_SEQUENCE_START'
  | 'CONTROL_SEQUENCE_READY'
  | 'CONTROL_SEQUENCE_END'
  | 'CONTROL_SEQUENCE_CORRID';

/** An input of the model that the batcher fills; not listed among the inputs. */
export interface ModelSequenceBatchingControlInput {
  readonly name: string;
  readonly control: readonly ModelSequenceBatchingControl[];
}

/** What a state holds when its sequence starts. */
export interface ModelSequenceBatchingInitialState {
  /** The state's datatype. */
  readonly dataType: DataType;
  /** Fixed, and compatible with the state's dims. */
  readonly dims: readonly number[];
  /** Zeros, whatever the value: only its presence counts. */
  readonly zeroData?: boolean;
  /** File in the model's `initial_state` directory. */
  readonly dataFile?: string;
  /** Label of the state; required. */
  readonly name: string;
}

/** A tensor that one request of a sequence leaves for the next. */
export interface ModelSequenceBatchingState {
  /** Input that receives the previous value. */
  readonly inputName: string;
  /** Output that becomes the next value. */
  readonly outputName: string;
  readonly dataType: DataType;
  /** Without the batch dimension; −1 stands for a variable dimension. */
  readonly dims: readonly number[];
  /** At most one. */
  readonly initialState: readonly ModelSequenceBatchingInitialState[];
  /** Whether input and output are one buffer. */
  readonly useSameBufferForInputOutput: boolean;
  /** Whether that buffer grows in place; GPU only. */
  readonly useGrowableMemory: boolean;
}

/** Each sequence keeps one slot of the batch. */
export interface ModelSequenceBatchingStrategyDirect {
  /** Honoured together with a utilization above 0. */
  readonly maxQueueDelayMicroseconds: bigint;
  /** Fraction of the slots, 0 to 1, that ends the delay early. */
  readonly minimumSlotUtilization: number;
}

/** Requests of the oldest sequences are joined dynamically. */
export interface ModelSequenceBatchingStrategyOldest {
  /** Active sequences per instance; 0 means the batcher's default. */
  readonly maxCandidateSequences: number;
  /** As for the dynamic batcher. */
  readonly preferredBatchSize: readonly number[];
  /** As for the dynamic batcher. */
  readonly maxQueueDelayMicroseconds: bigint;
  /** As for the dynamic batcher. */
  readonly preserveOrdering: boolean;
}

/** A graph of models behind one name. */
export interface ModelEnsembling {
  readonly step: readonly ModelEnsemblingStep[];
  /** Concurrent requests per step; 0 means no limit. */
  readonly maxInflightRequests: number;
}

/** One member of the graph. */
export interface ModelEnsemblingStep {
  readonly modelName: string;
  /** −1 means the latest version that is ready. */
  readonly modelVersion: number;
  /** Ensemble tensor by input name of the member. */
  readonly inputMap: ReadonlyMap<string, string>;
  /** Ensemble tensor by output name of the member. */
  readonly outputMap: ReadonlyMap<string, string>;
  /** Set by the server. */
  readonly modelNamespace: string;
}

/** A setting for the backend. Always text, also for numbers and booleans. */
export interface ModelParameter {
  readonly stringValue: string;
}

/** Requests that an instance runs before it counts as ready. */
export interface ModelWarmup {
  /** Name of the sample, as messages show it. */
  readonly name: string;
  /** Requests that run together; 0 skips the sample. */
  readonly batchSize: number;
  /** Data by input name. */
  readonly inputs: ReadonlyMap<string, ModelWarmupInput>;
  /** Repetitions; 0 and 1 are the same. */
  readonly count: number;
}

/** Data of one input. */
export interface ModelWarmupInput {
  readonly dataType: DataType;
  /** Fixed shape, without the batch dimension. */
  readonly dims: readonly number[];
  /** Zeros, whatever the value: only its presence counts. */
  readonly zeroData?: boolean;
  /** Random values, whatever the value: only its presence counts. */
  readonly randomData?: boolean;
  /** File in the model's `warmup` directory. */
  readonly inputDataFile?: string;
}

/** Libraries with custom operators. */
export interface ModelOperations {
  /** Paths, in the order in which they are opened. */
  readonly opLibraryFilename: readonly string[];
}

/** How requests and responses correspond. */
export interface ModelTransactionPolicy {
  /** Whether a request may get any number of responses instead of exactly one. */
  readonly decoupled: boolean;
}

/** Agents that act when the model is loaded or unloaded. */
export interface ModelRepositoryAgents {
  /** In the order in which they act. */
  readonly agents: readonly ModelRepositoryAgentsAgent[];
}

/** One agent with its settings. */
export interface ModelRepositoryAgentsAgent {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Whether responses are taken from the response cache. */
export interface ModelResponseCache {
  readonly enable: boolean;
}

/** Metrics of the model that differ from the server's. */
export interface ModelMetrics {
  readonly metricControl: readonly ModelMetricsMetricControl[];
}

/** One metric family. */
export interface ModelMetricsMetricControl {
  readonly metricIdentifier?: ModelMetricsMetricControlMetricIdentifier;
  readonly histogramOptions?: ModelMetricsMetricControlHistogramOptions;
}

/** Names the family. */
export interface ModelMetricsMetricControlMetricIdentifier {
  readonly family: string;
}

/** Options of a histogram. */
export interface ModelMetricsMetricControlHistogramOptions {
  /** Upper bounds. */
  readonly buckets: readonly number[];
}

/** Everything the server knows about a model beside its files. */
export interface ModelConfig {
  /** Equals the name of the model directory; taken from there when empty. */
  readonly name: string;
  /** Framework flavour, e.g. `pytorch_libtorch`, `torch_aoti` or `ensemble`. */
  readonly platform: string;
  /** What runs the model, e.g. `pytorch`; empty for an ensemble. */
  readonly backend: string;
  /** Replaces the file that implements the backend. */
  readonly runtime: string;
  /** The latest version when absent. */
  readonly versionPolicy?: ModelVersionPolicy;
  /** Largest batch; 0 means that the tensors have no batch dimension. */
  readonly maxBatchSize: number;
  readonly input: readonly ModelInput[];
  readonly output: readonly ModelOutput[];
  readonly batchInput: readonly BatchInput[];
  readonly batchOutput: readonly BatchOutput[];
  readonly optimization?: ModelOptimizationPolicy;
  readonly dynamicBatching?: ModelDynamicBatching;
  readonly sequenceBatching?: ModelSequenceBatching;
  readonly ensembleScheduling?: ModelEnsembling;
  /** One default group when empty. */
  readonly instanceGroup: readonly ModelInstanceGroup[];
  /** File or directory inside the version directory; empty means the backend's default. */
  readonly defaultModelFilename: string;
  /** File by CUDA compute capability, e.g. `7.5`. */
  readonly ccModelFilenames: ReadonlyMap<string, string>;
  /** Labels added to the model's metrics. */
  readonly metricTags: ReadonlyMap<string, string>;
  /** Settings of the backend by key. */
  readonly parameters: ReadonlyMap<string, ModelParameter>;
  readonly modelWarmup: readonly ModelWarmup[];
  readonly modelOperations?: ModelOperations;
  readonly modelTransactionPolicy?: ModelTransactionPolicy;
  readonly modelRepositoryAgents?: ModelRepositoryAgents;
  readonly responseCache?: ModelResponseCache;
  readonly modelMetrics?: ModelMetrics;
}
