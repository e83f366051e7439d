/**
 * What runs models. `Config` is the model configuration type that engine and backend agree on; core knows nothing of it.
 *
 * Lifetimes: a `Backend` lives as long as the process; a `LoadedModel` as long as one model version is loaded; its instances die before it.
 */
import type { Logger } from './logger.ts';
import type { InferenceRequest } from './request.ts';
import type { Tensor } from './tensor.ts';

export type InstanceKind = 'KIND_CPU' | 'KIND_GPU' | 'KIND_MODEL';

/** One model instance to create. */
export interface InstanceSpec {
  /** e.g. `mlp_0_1`: instance group name and running number. */
  readonly name: string;
  readonly kind: InstanceKind;
  /** GPU ordinal; 0 for CPU and MODEL kinds. */
  readonly deviceId: number;
}

export interface ModelContext<Config> {
  readonly name: string;
  readonly version: string;
  /** Absolute path of the model directory (holds config.pbtxt). */
  readonly modelDirectory: string;
  /** Absolute path of the version directory (holds the model file). */
  readonly versionDirectory: string;
  /** Completed and normalised configuration. */
  readonly config: Config;
  /** Every instance that will be created, so that shared resources can be sized. */
  readonly instances: readonly InstanceSpec[];
  readonly logger: Logger;
}

/** What completing a configuration starts from. */
export interface CompletionContext<Config> extends Omit<ModelContext<Config>, 'instances'> {
  /** Whether the model has a configuration at all; without one `config` holds only what was deduced from its files. */
  readonly isConfigured: boolean;
  /**
   * Whether the configuration states a field in so many words, e.g. `max_batch_size`: its value alone does not tell a 0 that was written from
   * one that was not.
   */
  states(path: string): boolean;
}

/** Time one execution took, in nanoseconds. */
export interface ExecutionReport {
  /** Requests that ran together. */
  readonly requests: readonly InferenceRequest[];
  /** Rows that ran together: the sum of the requests' batch sizes. */
  readonly batchSize: number;
  /** Gathering the inputs. */
  readonly computeInputNs: number;
  /** The model's own run. */
  readonly computeInferNs: number;
  /** Splitting the outputs and answering. */
  readonly computeOutputNs: number;
}

/** One response of a decoupled model, and how it came about. */
export interface ResponseReport {
  /** Position among the responses of its request, from 0 on. */
  readonly index: number;
  /** `success`: it has outputs. `empty`: the final mark alone. `fail` and `cancel` end the request. */
  readonly outcome: 'success' | 'empty' | 'fail' | 'cancel';
  /** From the begin of the response until its outputs were there, or until it was known that there are none. */
  readonly computeInferNs: number;
  /** Handing the outputs out; 0 when there are none. */
  readonly computeOutputNs: number;
}

export interface InstanceContext {
  readonly spec: InstanceSpec;
  /**
   * Called once per execution that ran, before the requests of it are answered. Not called when every request failed.
   * The callback reads the report during the call and keeps no reference to it.
   */
  report(execution: ExecutionReport): void;
  /** Called for each response of a decoupled model, the one that ends a request included. Absent where nobody counts them. */
  reportResponse?(response: ResponseReport): void;
}

export interface Backend<Config> {
  /** The `backend` of a configuration, e.g. `pytorch`. */
  readonly name: string;
  /**
   * Adds what the model file tells and the configuration leaves out, before instances are created. The engine takes `max_batch_size`, `input`,
   * `output` and, unless a scheduler is configured, `dynamic_batching` of the answer, normalises and checks it. What is configured stays; where it
   * contradicts the file, `load` says so. Absent when the backend completes nothing.
   * @returns the same object when nothing was added
   * @throws {InferenceServerError} with what is missing and the lines to add; NOT_FOUND when the model is not configured at all
   */
  complete?(context: CompletionContext<Config>): Promise<Config>;
  /**
   * Opens one version of a model.
   * @throws {InferenceServerError} with a message that says what is wrong with the model and what to do
   */
  load(context: ModelContext<Config>): Promise<LoadedModel>;
}

/** New weights: a file that holds them, by its absolute path, or the tensors, which are not kept. */
export type WeightsSource = { readonly file: string } | { readonly tensors: readonly Tensor[] };

/** What became of the weights, by their names. */
export interface WeightsReport {
  readonly updated: readonly string[];
  /** Those of the model that were not given and kept their value. */
  readonly kept: readonly string[];
  /** Those given that the model does not use. */
  readonly ignored: readonly string[];
}

export interface LoadedModel {
  /** Intra-op threads of one run, on each instance; absent where the backend does not set them. */
  readonly threads?: number;
  /**
   * Checks a request against what the model file itself declares (datatypes, ranges), after it passed the configuration's checks
   * and before it is queued. Absent when the file declares nothing.
   * @throws {InferenceServerError} INVALID_ARG
   */
  validate?(request: InferenceRequest): void;
  createInstance(context: InstanceContext): Promise<ModelInstance>;
  /**
   * Exchanges the model's weights while it runs: each batch has either all old or all new ones, and what is executed once the promise has resolved has
   * the new. Absent when the backend cannot. Nothing has changed when it rejects.
   * @throws {InferenceServerError} INVALID_ARG for weights that are not the model's, naming both sides
   */
  updateWeights?(source: WeightsSource): Promise<WeightsReport>;
  /** Frees the model. Every instance was closed before. */
  close(): Promise<void>;
}

export interface ModelInstance {
  readonly name: string;
  /**
   * Batches it takes at a time, 1 at least. More than 1 lets the next batch wait at the instance, so that it never idles while an answer
   * travels back; they still run one after another.
   */
  readonly capacity: number;
  /**
   * Runs requests together and answers each of them, in success and failure alike. Resolves when the batch no longer occupies the
   * instance; the answers of a decoupled model may come later, unless it has sequences. Never rejects: a failure belongs to the requests.
   * The caller passes ownership of the requests and keeps at most `capacity` calls unsettled.
   */
  execute(batch: readonly InferenceRequest[]): Promise<void>;
  /**
   * Runs one batch on the calling thread and answers before returning. Only present when the backend can run that way. The caller makes sure that
   * nothing else runs on the instance.
   */
  executeInline?(batch: readonly InferenceRequest[]): void;
  /** Waits for the batch in flight, then frees the instance. */
  close(): Promise<void>;
}
