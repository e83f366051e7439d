/**
 * The addon, one to one: no opinions, no defaults. `@nereid/pytorch-backend` is the friendly side.
 *
 * Datatypes cross as numbers: `DataType` of the model configuration (TYPE_BOOL 1 … TYPE_STRING 13, TYPE_BF16 14); 0 is a torch dtype without one.
 * Every error of a model or a file is an `Error` whose `code` is one of the eight status codes of `@nereid/core` and whose message is torch's text,
 * untrimmed but for the C++ stack. Arguments of the wrong type are TypeErrors and RangeErrors.
 *
 * Importing the package loads the addon. If that fails the import throws an Error with code UNAVAILABLE whose message lists what was tried, what was
 * found and what to do. Every function belongs to the thread that imported it; every thread may import.
 */

export type DatatypeNumber = number;

/** What the addon was built against and runs on. */
export interface BuildInfo {
  readonly torchVersion: string;
  readonly napiVersion: number;
  readonly cuda: boolean;
  /** Compute capability of each GPU by ordinal, e.g. `9.0`; empty without CUDA. */
  readonly gpus: readonly string[];
  /** Best instruction set that this processor has and compiled packages name: e.g. `avx512`, `avx2`, `default`. */
  readonly cpuCapability: string;
}

export function buildInfo(): BuildInfo;

/** Large outputs that JS still holds as external memory, in this thread. V8 counts their bytes in `process.memoryUsage().external`. */
export interface MemoryInfo {
  readonly externalBytes: number;
  readonly externalTensors: number;
}

export function memoryInfo(): MemoryInfo;

/**
 * Returns the memory of large outputs now instead of at the next collection. The buffers are detached: they and all views on them become empty. Buffers that
 * were copied are detached too; one that is detached already is passed over.
 */
export function releaseBuffers(buffers: readonly ArrayBuffer[]): void;

/**
 * A wake-up at one deadline, to within a few tens of microseconds on an idle machine: a thread sleeps until then, while the loop is free for other work
 * or sleeps too. It lives until `close()` or the end of its environment, and keeps the process alive only while a deadline is set.
 */
export interface Alarm {
  /**
   * Calls `onDue` once, on the loop thread, never earlier than so many microseconds from now; 0 and less is as soon as the loop turns, Infinity never. Takes
   * the place of what was set before. Throws UNAVAILABLE after `close()`.
   */
  set(delayMicros: number): void;
  /** Takes the deadline back. */
  clear(): void;
  /** Ends the thread. Idempotent. */
  close(): void;
}

/**
 * @param onDue  called at most once per `set`; also once for a deadline that was taken back or replaced when it was already on its way, so it looks at the
 * time. Must not throw; if it does, that is an uncaught exception.
 */
export function openAlarm(onDue: () => void): Alarm;

/** Memory for what a model keeps of one sequence from run to run: two sides, each with one value per state. Freed at the latest when it is collected. */
export type SequenceHandle = object & { readonly [sequenceTag]: true };
declare const sequenceTag: unique symbol;

export function openSequence(): SequenceHandle;

/** Frees what is kept, so that both sides are empty. Not while a batch with the sequence runs. */
export function releaseSequence(sequence: SequenceHandle): void;

/** Argument of a TorchScript `forward`, without `self`; `type` in torch's spelling: `Tensor`, `List[str]`, `Optional[Tensor]`, `Dict[str, Tensor]`, `int`. */
export interface SchemaArgument {
  readonly name: string;
  readonly type: string;
  readonly hasDefault: boolean;
}

export interface ForwardSchema {
  readonly arguments: readonly SchemaArgument[];
  /** One entry, the type of the result; a NamedTuple is spelt as the `Tuple[…]` that it is. */
  readonly returns: readonly string[];
  /** Whether the module was saved in training mode; it is switched to evaluation in any case. */
  readonly wasTraining: boolean;
}

/**
 * Settings that torch keeps once for the whole process. One that is undefined, or 0, is left alone. Flags hold while the model is loaded; while loaded
 * models want one differently, each sets its own before its runs, and a run beside one of another model may see the other's.
 */
export interface ProcessSettingsRequest {
  /** The model, as messages about conflicts name it. */
  readonly owner: string;
  readonly cudnn?: boolean | undefined;
  /** Profiling graph executor. */
  readonly jitExecutor?: boolean | undefined;
  readonly jitProfiling?: boolean | undefined;
  /** Tensor-expression fuser. */
  readonly tensorFuser?: boolean | undefined;
  /** Torch takes the number once: the first that is above 0 stays for good. */
  readonly interOpThreads: number;
}

/** What is in force now. */
export interface ProcessSettings {
  readonly cudnn: boolean;
  readonly jitExecutor: boolean;
  readonly jitProfiling: boolean;
  readonly tensorFuser: boolean;
  readonly interOpThreads: number;
}

export function processSettings(): ProcessSettings;

/** A setting that another loaded model wants otherwise, or, with an empty `otherOwner`, that torch refuses to change. */
export interface SettingConflict {
  readonly setting: keyof ProcessSettings;
  /** Asked for; flags are 0 or 1. */
  readonly value: number;
  readonly otherValue: number;
  readonly otherOwner: string;
}

/**
 * Opens a library that registers operators with torch, for good and for the whole process; a file that is open is left as it is. Rejected with NOT_FOUND or
 * INVALID_ARG if it cannot be opened, UNSUPPORTED if the file was replaced since it was opened. Opening a library runs its code.
 */
export function loadOperators(path: string): Promise<void>;

export interface ModelInitOptions {
  /** Absolute path of the library. */
  readonly library: string;
  /** Passed to the library. */
  readonly modelDirectory: string;
  /** Passed to the library: −1 for the CPU, else the GPU's ordinal. */
  readonly device: number;
}

/**
 * Opens a library and calls its `void* triton_pytorch_model_init(const char*, int)` once. Rejected with INVALID_ARG if it cannot be opened or has no such
 * function, INTERNAL if that throws.
 */
export function initModel(options: ModelInitOptions): Promise<ModelInit>;

export interface ModelInit {
  /**
   * Calls `void triton_pytorch_model_fini(void*)`, or `…_release`, where the library has one, with what init returned, and closes the library unless
   * it registered operators. What it serves was closed before. Idempotent; rejected with INTERNAL if the function throws. Unclosed, that happens once
   * the handle is collected.
   */
  close(): Promise<void>;
}

export interface TorchScriptOptions {
  readonly path: string;
  /** Absent: nothing is asked for. */
  readonly process?: ProcessSettingsRequest | undefined;
  readonly inferenceMode: boolean;
  /** −1 for the CPU, else the GPU's ordinal, or `saved` to leave tensors where they were saved. */
  readonly device: number | 'saved';
}

export interface AotiOptions {
  readonly path: string;
  /** Absent: nothing is asked for. */
  readonly process?: ProcessSettingsRequest | undefined;
  /** Model inside the archive, usually `model`. */
  readonly modelName: string;
  /** Runs that may go on at once; they share one copy of the weights. */
  readonly numRunners: number;
  /** −1 for the CPU, else the GPU's ordinal. */
  readonly device: number;
}

/**
 * Both load off the calling thread. Rejected with NOT_FOUND if there is no such file, INVALID_ARG if it is no file or has no `forward`, UNAVAILABLE if it
 * may not be read or the device is not there, INTERNAL if torch refuses it.
 */
export function loadTorchScript(options: TorchScriptOptions): Promise<TorchScriptModule>;
export function loadAoti(options: AotiOptions): Promise<AotiPackage>;

/** A module; its instances share its weights and keep it. Unclosed, it is freed once the handle is collected and they have ended. */
export interface TorchScriptModule {
  readonly schema: ForwardSchema;
  readonly conflicts: readonly SettingConflict[];
  createInstance(options: InstanceOptions): Instance;
  /** Frees the module once its instances are closed; resolves when the memory is back. Idempotent. */
  close(): Promise<void>;
}

/** A package loader; instances made from one handle share its weights and runners. */
export interface AotiPackage {
  /** Two JSON texts: inputs, outputs. */
  readonly callSpec: readonly [inputs: string, outputs: string];
  /** `AOTI_DEVICE_KEY`, `AOTI_PLATFORM`, `AOTI_MACHINE`, `AOTI_CPU_ISA` … as the package states them. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Names of the constants (weights and buffers) in the package. */
  readonly constantNames: readonly string[];
  /** Tensors that a run really takes, in order, as the compiled model names them (`arg3_1`); non-tensor arguments are not among them. */
  readonly inputNames: readonly string[];
  /** Tensors that a run really returns. */
  readonly outputCount: number;
  readonly conflicts: readonly SettingConflict[];
  /** What can be exchanged. */
  readonly weights: readonly WeightInfo[];
  createInstance(options: InstanceOptions): Instance;
  /**
   * Copies new weights to where no run sees them, off the calling thread; those that are not among them keep their value. The bytes are borrowed until
   * the promise settles. Runs go on. Rejected with INVALID_ARG for a name, shape, datatype or byte size that is not the package's. One call at a time.
   */
  stageWeights(weights: readonly Weight[]): Promise<void>;
  /**
   * Exchanges the weights for those staged last, between runs: each run has all old or all new ones, and what is submitted once the promise has resolved
   * has the new. Rejected with INVALID_ARG if none are staged.
   */
  swapWeights(): Promise<void>;
  close(): Promise<void>;
}

/** A weight or buffer of a compiled package. */
export interface WeightInfo {
  /** As in the state dict. */
  readonly name: string;
  readonly datatype: DatatypeNumber;
  readonly shape: readonly number[];
  /** False for a buffer or a constant that the compiler made. */
  readonly isParameter: boolean;
}

export interface Weight {
  readonly name: string;
  readonly datatype: DatatypeNumber;
  readonly shape: readonly number[];
  /** Contiguous. */
  readonly data: Uint8Array;
}

/** One tensor (or list of strings, for TYPE_STRING) that a run takes. */
export interface InputSlot {
  readonly datatype: DatatypeNumber;
  /** TorchScript with one dictionary argument: the key. Otherwise '' and the position in the array is the argument's. */
  readonly key: string;
  /** TorchScript: a batch may leave it out, and the argument's default, or None, takes its place. A key is then not there. */
  readonly optional?: boolean | undefined;
  /**
   * What makes it up. `rows`, the default: a buffer per request, joined along dimension 0 when batching; `joined`: a buffer per request, one after the
   * other, in a shape that is that of the whole; `whole`: one buffer for the batch; `state`: no buffer and no shape, but what is kept of each sequence.
   */
  readonly source?: 'rows' | 'joined' | 'whole' | 'state' | undefined;
}

/** A value that each sequence keeps from one run to the next. */
export interface StateSlot extends OutputSlot {
  /** For messages. */
  readonly name: string;
  readonly datatype: DatatypeNumber;
  /** Of the initial value: of one row, with 1 in front, when batching. */
  readonly shape: readonly number[];
  /** Its bytes, which are copied; none means zeros. */
  readonly initial: Uint8Array;
  /** Whether a run of one request gets the kept memory itself, so that what the model writes into it stays; otherwise it gets a copy. */
  readonly isLent: boolean;
}

/** One result to hand out. */
export interface OutputSlot {
  /** Position in the flattened result; −1 to look the value up by `key` in a returned dictionary. */
  readonly index: number;
  readonly key: string;
}

export interface InstanceOptions {
  readonly name: string;
  /** Intra-op threads of a run, set on the instance's own thread; 0 leaves torch's default. */
  readonly intraOpThreads: number;
  readonly inferenceMode: boolean;
  /** TorchScript only: graph optimisation. */
  readonly optimizedExecution: boolean;
  /** Gives memory that torch keeps for reuse back to the GPUs after each run. */
  readonly cacheCleaning?: boolean | undefined;
  readonly inputs: readonly InputSlot[];
  /** At most 4096, with the states. */
  readonly outputs: readonly OutputSlot[];
  /** One per input that is a state, in the same order; absent without any. */
  readonly states?: readonly StateSlot[] | undefined;
  /** Whether dimension 0 is the batch: inputs of several requests are joined along it. */
  readonly batching: boolean;
  /**
   * Called on the loop thread once per submitted batch, in the order of submission; many batches may be delivered in one wake-up.
   * `error` is undefined on success. Must not throw; if it does, that is an uncaught exception.
   */
  readonly onComplete: (error: NativeError | undefined, outcome: Outcome | undefined) => void;
}

export interface NativeError extends Error {
  readonly code: string;
}

/**
 * One batch. The caller leaves the arrays unchanged: `rows` and `shapes` of the batch before, given again, need not cross again. The bytes behind
 * `buffers` are borrowed until the batch completed: they are kept alive, and the caller leaves them unchanged too. A model that works in place may change the bytes of a request that is alone. Sizes that do not agree fail the
 * batch with INVALID_ARG.
 */
export interface Batch {
  /** Bytes, input after input, each with one buffer per request, or as many as its `source` says. */
  readonly buffers: readonly Uint8Array[];
  /** Rows of each request; `[1]` without batching. */
  readonly rows: readonly number[];
  /**
   * Shape of each input in the first request, each preceded by its rank: `[2, 1, 64, 1, 10]`. Dimension 0 is replaced by the sum of `rows` when batching.
   * A rank of −1 leaves an optional input out; its buffers are there, and empty. A state has no shape here.
   */
  readonly shapes: readonly number[];
  /**
   * For a model with states: the sequence of each request, no two the same. Undefined for one that starts and is not kept; the whole array may be absent.
   */
  readonly sequences?: readonly (SequenceHandle | undefined)[] | undefined;
  /** With `sequences`: the side that each run reads, 0 or 1, or −1 to start with the initial values. It writes side 1 if it read 0, otherwise 0. */
  readonly sides?: readonly number[] | undefined;
}

/** Results of one batch. */
export interface Outcome {
  /** The outputs, then one per state, without bytes. Of a state whose dimension 0 is not the batch nothing was kept. */
  readonly outputs: readonly OutputTensor[];
  /** Nanoseconds spent gathering inputs, running the model, and preparing outputs. */
  readonly inputNs: number;
  readonly inferNs: number;
  readonly outputNs: number;
}

export interface OutputTensor {
  readonly datatype: DatatypeNumber;
  /** The same array as for the batch before while the numbers are the same. */
  readonly shape: readonly number[];
  /**
   * Contiguous bytes of the whole batch. Up to 4 KiB they are copied; larger ones are external memory that holds the tensor until the buffer
   * is collected or given to `releaseBuffers`. TYPE_STRING: every element as 4-byte little-endian length and bytes.
   */
  readonly data: ArrayBuffer;
  /** TYPE_STRING only: byte offset of each element and, last, the end. */
  readonly offsets?: readonly number[];
}

/**
 * A thread that runs one batch after the other. It lives until `close()` or the end of its environment, which drops what is queued and waits for the batch
 * that runs; only awaited batches and closings keep the process alive.
 */
export interface Instance {
  /** Queues a batch for the instance's thread and returns at once. Throws UNAVAILABLE after `close()`. */
  execute(batch: Batch): void;
  /**
   * Runs a batch on the calling thread with one intra-op thread. The caller makes sure that nothing is queued. Throws NativeError. A compiled package
   * that was run so stays mapped after `close()`, until the calling thread ends.
   */
  executeSync(batch: Batch): Outcome;
  /** Finishes what is queued, then ends the thread. Idempotent. */
  close(): Promise<void>;
}

export interface BatchStrategyOptions {
  /** Absolute path of a shared library with the five functions of a custom batching strategy, built against Triton's public headers. */
  readonly library: string;
  readonly modelName: string;
  /** Decimal. */
  readonly modelVersion: string;
  readonly modelDirectory: string;
  /** The model's configuration in JSON, as the library gets it. */
  readonly config: string;
  /** Inputs that requests may have. */
  readonly inputNames: readonly string[];
  /** Outputs of a request that asks for none by name. */
  readonly outputNames: readonly string[];
  /** Takes what the library logs while it is called. Must not throw; if it does, that is lost. */
  readonly onLog: (level: 'debug' | 'info' | 'warn' | 'error', message: string) => void;
}

/**
 * Opens a library and lets it initialise, both on the calling thread. Throws NOT_FOUND or INVALID_ARG if it cannot be opened or lacks one of the functions, else
 * the library's own error. Opening a library runs its code. From the first on, the functions `TRITONSERVER_*` and `TRITONBACKEND_*` that such libraries
 * call are visible to everything in the process that is opened later.
 */
export function openBatchStrategy(options: BatchStrategyOptions): BatchStrategyLibrary;

/** Calls happen on the calling thread and throw the library's errors. It is to be closed; unclosed, it lives as long as its thread. */
export interface BatchStrategyLibrary {
  /** A batch begins; several may be open at a time. */
  startBatch(): number;
  /** Whether the request joins the batch. TypeError for an input that is not among `inputNames`. */
  include(batch: number, request: StrategyRequest): boolean;
  /** The batch is over; once for each. */
  endBatch(batch: number): void;
  /** Lets the library finalise and closes it. No batch is open. Idempotent. */
  close(): void;
}

/** What a library can ask of a request. Nothing of it is kept after the call. */
export interface StrategyRequest {
  readonly id: string;
  readonly correlationId: number | bigint | string;
  readonly sequenceStart: boolean;
  readonly sequenceEnd: boolean;
  readonly isCancelled: boolean;
  /** `datatype` in the spelling of the protocol: `FP32`, `BYTES`. */
  readonly inputs: readonly {
    readonly name: string;
    readonly datatype: string;
    readonly shape: readonly number[];
    readonly data: Uint8Array;
  }[];
  readonly requestedOutputs: readonly string[];
  /** Whole numbers reach the library as integers, others as doubles. */
  readonly parameters: ReadonlyMap<string, string | number | bigint | boolean>;
}
