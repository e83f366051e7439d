import {
  type InferenceRequest,
  type InferenceResponse,
  InferenceServerError,
  type InstanceContext,
  type Logger,
  type ModelInstance,
} from '@nereid/core';
import { deliver } from './deliver.ts';
import { PythonRuntimeError } from './errors.ts';
import { type Batch, gather } from './gather.ts';
import type { ModelPlan } from './model-plan.ts';
import type { ModelProcess, Outcome } from './model-process.ts';
import { runError } from './python-error.ts';
import { asksForRequests, requestDetails } from './request-details.ts';
import { RequestProgress } from './request-progress.ts';
import { ResponseStream } from './response-stream.ts';
import { emptyResponse, scatter, wantedOutputs } from './scatter.ts';
import { type LentStates, numbersFor, SequenceStates } from './sequence-states.ts';
import { TurnAnswers } from './turn-answers.ts';

/** One batch runs, the next already lies in shared memory, so that the process never waits for an answer to travel. Measured with `bench/`. */
const CAPACITY = 2;

/** Numbers of a result that are times. */
const TIMES = 3;

export interface PythonInstanceInit {
  readonly plan: ModelPlan;
  readonly context: InstanceContext;
  readonly logger: Logger;
  readonly process: ModelProcess;
  /** Whether another instance of the model can take requests. */
  readonly hasReadySibling: () => boolean;
  /** Calls of a decoupled model that run side by side. */
  readonly maxStreams: number;
  /** Responses of a request that its client has not taken when it runs again. */
  readonly maxUnreleased: number;
}

interface FailedCall {
  readonly batch: Batch;
  readonly states: LentStates | undefined;
  readonly error: InferenceServerError;
}

/** One model instance: a Python process of its own. */
export class PythonInstance implements ModelInstance {
  readonly name: string;
  /** Of a decoupled model, a batch leaves room as soon as its call has begun; one of sequences when it has ended. */
  readonly capacity: number;
  readonly #init: PythonInstanceInit;
  readonly #states: SequenceStates;
  /** Of requests of iterative models that have run. */
  readonly #progress = new WeakMap<InferenceRequest, RequestProgress>();
  #isClosed = false;
  #streams = 0;
  readonly #waiters: (() => void)[] = [];
  /** Of the life of the process that `#asks` is about. */
  #greeting: Buffer | undefined;
  #asks = false;

  constructor(init: PythonInstanceInit) {
    this.name = init.context.spec.name;
    this.capacity = init.plan.isDecoupled ? 1 : CAPACITY;
    this.#init = init;
    this.#states = new SequenceStates(init.plan, init.process);
  }

  /** Whether its process is there and can take batches. */
  get isReady(): boolean {
    return !this.#isClosed && this.#init.process.isReady;
  }

  /** Process id while ready. */
  get pid(): number | undefined {
    return this.#init.process.pid;
  }

  async execute(requests: readonly InferenceRequest[]): Promise<void> {
    const { process, hasReadySibling } = this.#init;
    if (this.#isClosed) {
      for (const request of requests) this.#deliver(request, this.#closedError());
      return;
    }
    await Promise.all(this.#states.groups(requests).map((group) => this.#execute(group)));
    // An instance that is down answers at once, so it looks idle and would attract every request. It stays occupied instead while others can work.
    if (!process.isReady && hasReadySibling()) await process.nextAttempt();
  }

  async #execute(requests: readonly InferenceRequest[]): Promise<void> {
    const { plan } = this.#init;
    const { batches, refused } = gather(plan, requests);
    for (const { request, error } of refused) this.#deliver(request, error);
    for (const request of requests) {
      const error = this.#states.lost(request);
      if (error !== undefined && !request.isDone) this.#deliver(request, error);
    }
    await Promise.all(batches.map((batch) => (plan.isDecoupled ? this.#stream(batch) : this.#run(batch))));
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#init.process.close();
  }

  /** Begins a call; resolves when there is room for another: at its end when it is of sequences, which have one request at a time. */
  async #stream(batch: Batch): Promise<void> {
    const { plan, maxStreams } = this.#init;
    if (batch.total === 0) {
      for (const request of batch.requests) this.#deliver(request, emptyResponse(plan, request));
      return;
    }
    const detail = this.#detail(batch);
    const states = this.#states.lend(batch);
    const progressOf = (request: InferenceRequest) => this.#progressOf(request);
    const stream = new ResponseStream({ ...this.#init, batch, detail, states, progressOf }).run();
    if (plan.sequence !== undefined) {
      await stream;
      return;
    }
    this.#streams++;
    void stream.then(() => this.#streamEnded());
    if (this.#streams >= maxStreams) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  #progressOf(request: InferenceRequest): RequestProgress {
    const known = this.#progress.get(request);
    if (known !== undefined) return known;
    const progress = new RequestProgress(this.#init.maxUnreleased);
    if (this.#init.plan.sequence?.isIterative) this.#progress.set(request, progress);
    return progress;
  }

  #streamEnded(): void {
    this.#streams--;
    this.#waiters.shift()?.();
  }

  async #run(batch: Batch): Promise<void> {
    const { plan, process } = this.#init;
    if (batch.total === 0) {
      for (const request of batch.requests) this.#deliver(request, emptyResponse(plan, request));
      return;
    }
    const wanted = wantedOutputs(plan, batch.requests);
    const states = this.#states.lend(batch);
    try {
      const numbers = numbersFor(wanted, states);
      const outcome = await process.run({ tensors: batch.tensors, numbers, detail: this.#detail(batch) });
      const responses = scatter({ plan, batch, wanted, tensors: outcome.tensors });
      const answers = new TurnAnswers(plan, batch, outcome.numbers.slice(TIMES));
      states?.keep(answers.dims);
      this.#report(batch, outcome);
      for (const [i, request] of batch.requests.entries()) {
        const response = responses[i];
        if (response === undefined || request.isDone) continue;
        if (answers.isAgain(request)) request.reschedule?.();
        else this.#deliver(request, response);
      }
    } catch (thrown) {
      this.#fail({ batch, states, error: runError(plan.modelName, thrown) });
    }
  }

  /** What a model that asks is told of the requests of a batch. */
  #detail(batch: Batch): Buffer | undefined {
    const { greeting } = this.#init.process;
    if (greeting !== this.#greeting) {
      this.#greeting = greeting;
      this.#asks = asksForRequests(greeting);
    }
    return this.#asks ? requestDetails(batch) : undefined;
  }

  #report({ requests, total }: Batch, { numbers, writeNs, readNs }: Outcome): void {
    const [inputNs = 0, inferNs = 0, outputNs = 0] = numbers;
    try {
      this.#init.context.report({
        requests,
        batchSize: total,
        computeInputNs: writeNs + inputNs,
        computeInferNs: inferNs,
        computeOutputNs: outputNs + readNs,
      });
    } catch (thrown) {
      this.#init.logger.error({ instance: this.name, err: thrown }, 'statistics of an execution could not be recorded');
    }
  }

  #fail({ batch, states, error }: FailedCall): void {
    states?.drop();
    if (error instanceof PythonRuntimeError && error.traceback !== undefined) {
      const fields = { model: this.#init.plan.modelName, instance: this.name, traceback: error.traceback };
      this.#init.logger.debug(fields, error.message);
    }
    for (const request of batch.requests) if (!request.isDone) this.#deliver(request, error);
  }

  #deliver(request: InferenceRequest, answer: InferenceResponse | InferenceServerError): void {
    const delivery = answer instanceof InferenceServerError ? { error: answer } : { response: answer, isFinal: true };
    deliver(request, delivery, { logger: this.#init.logger, instance: this.name });
  }

  #closedError(): PythonRuntimeError {
    const message = `instance '${this.name}' of model '${this.#init.plan.modelName}' is closed`;
    return new PythonRuntimeError({ code: 'UNAVAILABLE', reason: 'closed', message });
  }
}
