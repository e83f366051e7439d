import {
  type InferenceRequest,
  type InferenceResponse,
  InferenceServerError,
  type InstanceContext,
  type Logger,
  type ModelInstance,
} from '@nereid/core';
import type { Instance, InstanceOptions, NativeError, Outcome } from '@nereid/native';
import { PyTorchBackendError } from './errors.ts';
import { type GatheredBatch, gather } from './gather.ts';
import type { ModelPlan } from './model-plan.ts';
import { executionError } from './native-error.ts';
import { groupBySameInputs } from './same-inputs.ts';
import { type Answer, emptyResponse, scatter } from './scatter.ts';
import { dropStates, keepStates, lendStates, type SequenceMemory, writtenDims } from './sequence-states.ts';
import type { ReleaseBuffers } from './shared-response.ts';

/**
 * Batches that an instance takes, the running one included. While its thread has the next one it neither idles nor wakes the loop for each completion:
 * for a run of 20 us, 36 us per batch with 1, 33 with 2, 28 with 4, 20 with 8. How many of these places are used is the scheduler's choice.
 */
const CAPACITY = 64;

const SETTLED = Promise.resolve();

export interface PyTorchInstanceInit {
  readonly plan: ModelPlan;
  readonly context: InstanceContext;
  readonly logger: Logger;
  /** Makes the addon's instance, which reports completions to the given function. */
  readonly open: (onComplete: InstanceOptions['onComplete']) => Instance;
  readonly releaseBuffers: ReleaseBuffers;
  /** Where sequences keep their state. */
  readonly memory: SequenceMemory;
  /** Frees what belongs to this instance alone. */
  readonly dispose: () => Promise<void>;
}

interface BatchInFlight {
  readonly batch: GatheredBatch;
  readonly settle: () => void;
}

/** One model instance over the addon's: gathers requests into one crossing per batch and answers each of them. */
export class PyTorchInstance implements ModelInstance {
  readonly name: string;
  readonly capacity = CAPACITY;
  /** Absent on GPUs, where the calling thread would wait for the device. */
  readonly executeInline?: (batch: readonly InferenceRequest[]) => void;

  readonly #plan: ModelPlan;
  readonly #context: InstanceContext;
  readonly #logger: Logger;
  readonly #native: Instance;
  readonly #releaseBuffers: ReleaseBuffers;
  readonly #memory: SequenceMemory;
  readonly #dispose: () => Promise<void>;
  /** In the order of submission, which is that of completion. */
  readonly #inFlight: BatchInFlight[] = [];
  #closing: Promise<void> | undefined;

  constructor(init: PyTorchInstanceInit) {
    this.name = init.context.spec.name;
    this.#plan = init.plan;
    this.#context = init.context;
    this.#logger = init.logger;
    this.#releaseBuffers = init.releaseBuffers;
    this.#memory = init.memory;
    this.#dispose = init.dispose;
    this.#native = init.open((error, outcome) => this.#completed(error, outcome));
    if (init.context.spec.kind === 'KIND_CPU') this.executeInline = (batch) => this.#executeInline(batch);
  }

  execute(requests: readonly InferenceRequest[]): Promise<void> {
    const groups = groupBySameInputs(this.#plan, requests);
    if (groups.length === 1) return this.#execute(requests);
    return Promise.all(groups.map((group) => this.#execute(group))).then(() => undefined);
  }

  #execute(requests: readonly InferenceRequest[]): Promise<void> {
    const batch = this.#gather(requests);
    if (batch === undefined) return SETTLED;
    return new Promise((settle) => {
      this.#inFlight.push({ batch, settle });
      try {
        this.#native.execute(batch.crossing);
      } catch (thrown) {
        this.#inFlight.pop();
        this.#fail(batch, this.#executionError(thrown));
        settle();
      }
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#native.close().then(this.#dispose);
    return this.#closing;
  }

  #executeInline(requests: readonly InferenceRequest[]): void {
    // A run beside another on the same instance is not allowed; queueing keeps the requests answered where the caller broke that rule.
    if (this.#inFlight.length > 0) {
      void this.execute(requests);
      return;
    }
    for (const group of groupBySameInputs(this.#plan, requests)) this.#runHere(group);
  }

  #runHere(requests: readonly InferenceRequest[]): void {
    const batch = this.#gather(requests);
    if (batch === undefined) return;
    try {
      this.#answer(batch, this.#native.executeSync(batch.crossing));
    } catch (thrown) {
      this.#fail(batch, this.#executionError(thrown));
    }
  }

  /** What is left to run once refused and empty requests were answered. */
  #gather(requests: readonly InferenceRequest[]): GatheredBatch | undefined {
    if (this.#closing !== undefined) {
      const error = this.#closedError();
      for (const request of requests) this.#deliver(request, error);
      return undefined;
    }
    const { batch, refused } = gather(this.#plan, requests);
    for (const { request, error } of refused) this.#deliver(request, error);
    if (batch === undefined) return undefined;
    if (batch.total > 0) return this.#plan.states === undefined ? batch : lendStates(batch, this.#memory);
    for (const request of batch.requests) this.#deliver(request, emptyResponse(this.#plan, request));
    return undefined;
  }

  #completed(error: NativeError | undefined, outcome: Outcome | undefined): void {
    const done = this.#inFlight.shift();
    if (done === undefined) return;
    if (outcome === undefined) this.#fail(done.batch, this.#executionError(error));
    else this.#answer(done.batch, outcome);
    done.settle();
  }

  #answer(batch: GatheredBatch, outcome: Outcome): void {
    let answers: readonly Answer[];
    try {
      answers = this.#scatter(batch, outcome);
    } catch (thrown) {
      this.#fail(batch, InferenceServerError.from(thrown));
      return;
    }
    this.#report(batch, outcome);
    const { requests } = batch;
    for (let i = 0; i < requests.length; i++) {
      const [request, answer] = [requests[i], answers[i]];
      if (request !== undefined && answer !== undefined) this.#deliver(request, answer);
    }
  }

  #scatter(batch: GatheredBatch, { outputs }: Outcome): readonly Answer[] {
    const plan = this.#plan;
    // Before the results are shared out: a state that is not as configured fails the batch.
    const dims = plan.states && writtenDims(plan, batch, outputs.slice(plan.outputs.length));
    const answers = scatter({ plan, batch, outputs, releaseBuffers: this.#releaseBuffers });
    if (dims !== undefined) keepStates(batch, { dims, hasFailed: (i) => answers[i] instanceof InferenceServerError });
    return answers;
  }

  #report({ requests, total }: GatheredBatch, { inputNs, inferNs, outputNs }: Outcome): void {
    try {
      this.#context.report({
        requests,
        batchSize: total,
        computeInputNs: inputNs,
        computeInferNs: inferNs,
        computeOutputNs: outputNs,
      });
    } catch (thrown) {
      this.#logger.error({ instance: this.name, err: thrown }, 'statistics of an execution could not be recorded');
    }
  }

  #fail(batch: GatheredBatch, error: InferenceServerError): void {
    dropStates(batch);
    for (const request of batch.requests) this.#deliver(request, error);
  }

  /** A listener that throws must not keep the other requests of the batch from their answers. */
  #deliver(request: InferenceRequest, answer: InferenceResponse | InferenceServerError): void {
    try {
      if (answer instanceof InferenceServerError) request.fail(answer);
      else request.respond(answer);
    } catch (thrown) {
      this.#logger.error({ instance: this.name, request: request.id, err: thrown }, 'a listener of an answer failed');
    }
  }

  #executionError(thrown: unknown): PyTorchBackendError {
    return executionError({ plan: this.#plan, instanceName: this.name, thrown });
  }

  #closedError(): PyTorchBackendError {
    const message = `instance '${this.name}' of model '${this.#plan.modelName}' is closed`;
    return new PyTorchBackendError({ code: 'UNAVAILABLE', reason: 'closed', message });
  }
}
