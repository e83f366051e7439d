import type {
  Backend,
  Clock,
  InferenceRequest,
  InferenceServerError,
  InstanceContext,
  LoadedModel,
  ModelContext,
  ModelInstance,
  WeightsReport,
  WeightsSource,
} from '@nereid/core';
import { type Computation, identity } from './computations.ts';
import { FakeInlineInstance, FakeInstance, type FakeInstanceInit, type RecordedBatch } from './fake-instance.ts';
import type { FakeResponses } from './fake-stream.ts';

/** How a fake model behaves. */
export interface FakeModelOptions {
  /** What it computes; every input unchanged by default. */
  readonly compute?: Computation;
  /** Makes the model decoupled: its requests are answered so, once their batch no longer occupies the instance. */
  readonly responses?: FakeResponses;
  /** Microseconds that a batch occupies the instance, on the backend's clock; 0 by default. */
  readonly serviceMicros?: number | ((batch: readonly InferenceRequest[]) => number);
  /** Batches an instance takes at a time; 1 by default. */
  readonly capacity?: number;
  /** Threads that a loaded model states, see `LoadedModel.threads`; none by default. */
  readonly threads?: number;
  /** Whether instances have `executeInline`; false by default. */
  readonly inline?: boolean;
  /** What loading the model throws. */
  readonly loadFailure?: InferenceServerError;
  /** Exchange of weights, see `LoadedModel.updateWeights`; none by default. */
  readonly updateWeights?: (source: WeightsSource) => Promise<WeightsReport>;
  /** The model's own check of a request, see `LoadedModel.validate`; none by default. */
  readonly validate?: (request: InferenceRequest) => void;
}

export interface FakeBackendOptions extends FakeModelOptions {
  /** `fake` by default. */
  readonly name?: string;
  /** Measures service times. Needed when there are any. */
  readonly clock?: Clock;
  /** Behaviour of single models by name, over the common one. */
  readonly models?: Readonly<Record<string, FakeModelOptions>>;
}

/**
 * A backend with behaviour but without a model: it computes on the real bytes of requests, takes its time on a clock, fails when told to, and
 * records what it was given. It fits any configuration, as it reads none.
 */
export class FakeBackend implements Backend<unknown> {
  readonly name: string;
  readonly #options: FakeBackendOptions;
  readonly #batches: RecordedBatch[] = [];
  readonly #failures: InferenceServerError[] = [];
  readonly #models = new Set<FakeModel>();

  /** @throws {TypeError} when a service time is given without a clock to measure it */
  constructor(options: FakeBackendOptions = {}) {
    const { clock, models = {}, name = 'fake' } = options;
    if (
      clock === undefined &&
      [options, ...Object.values(models)].some(({ serviceMicros = 0 }) => serviceMicros !== 0)
    ) {
      throw new TypeError('serviceMicros needs a clock to pass on; give FakeBackend a clock');
    }
    this.name = name;
    this.#options = options;
  }

  /** Every batch so far, in the order in which instances took them. */
  get batches(): readonly RecordedBatch[] {
    return this.#batches;
  }

  /** `name/version` of the models that are loaded. */
  get loadedModels(): readonly string[] {
    return [...this.#models].map((model) => model.title);
  }

  /** Instances that are open, over all models. */
  get instanceCount(): number {
    return [...this.#models].reduce((count, model) => count + model.instanceCount, 0);
  }

  /** The next batch that any instance takes fails with `error`; several calls fail several batches. */
  failNextBatch(error: InferenceServerError): void {
    this.#failures.push(error);
  }

  async load(context: ModelContext<unknown>): Promise<LoadedModel> {
    const options = { ...this.#options, ...this.#options.models?.[context.name] };
    if (options.loadFailure !== undefined) throw options.loadFailure;
    const model = new FakeModel(context, {
      options,
      begin: (batch) => {
        this.#batches.push(batch);
        return this.#failures.shift();
      },
      closed: () => this.#models.delete(model),
    });
    this.#models.add(model);
    return model;
  }
}

interface FakeModelInit {
  readonly options: FakeBackendOptions;
  readonly begin: FakeInstanceInit['begin'];
  readonly closed: () => void;
}

class FakeModel implements LoadedModel {
  readonly title: string;
  instanceCount = 0;
  readonly threads?: number;
  readonly validate?: (request: InferenceRequest) => void;
  readonly updateWeights?: (source: WeightsSource) => Promise<WeightsReport>;
  readonly #context: ModelContext<unknown>;
  readonly #init: FakeModelInit;

  constructor(context: ModelContext<unknown>, init: FakeModelInit) {
    this.title = `${context.name}/${context.version}`;
    this.#context = context;
    this.#init = init;
    if (init.options.threads !== undefined) this.threads = init.options.threads;
    if (init.options.validate !== undefined) this.validate = init.options.validate;
    if (init.options.updateWeights !== undefined) this.updateWeights = init.options.updateWeights;
  }

  async createInstance(context: InstanceContext): Promise<ModelInstance> {
    const {
      compute = identity(),
      serviceMicros = 0,
      capacity = 1,
      clock,
      inline = false,
      responses,
    } = this.#init.options;
    const Instance = inline ? FakeInlineInstance : FakeInstance;
    this.instanceCount++;
    return new Instance({
      model: this.#context,
      context,
      compute,
      serviceMicros: typeof serviceMicros === 'number' ? () => serviceMicros : serviceMicros,
      capacity,
      clock,
      responses,
      begin: this.#init.begin,
      closed: () => this.instanceCount--,
    });
  }

  /** @throws {Error} (as a rejection) when an instance is still open: a defect of the caller */
  async close(): Promise<void> {
    if (this.instanceCount > 0)
      throw new Error(`model '${this.title}' was closed before ${this.instanceCount} of its instances`);
    this.#init.closed();
  }
}
