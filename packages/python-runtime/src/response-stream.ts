/**
 * The responses of one call of a decoupled model's `forward`. Each result is split among the requests of the call, each of which gets its rows as one response; all
 * end together, but for those that are cancelled, which leave at once. The call is given up when the last has left.
 */
import type {
  InferenceRequest,
  InferenceResponse,
  InferenceServerError,
  InstanceContext,
  Logger,
  ResponseReport,
} from '@nereid/core';
import { deliver } from './deliver.ts';
import { PythonRuntimeError } from './errors.ts';
import type { Batch } from './gather.ts';
import type { ModelPlan } from './model-plan.ts';
import type { ModelProcess, Outcome, StreamingCall } from './model-process.ts';
import { runError } from './python-error.ts';
import { ResponseWindow } from './response-window.ts';
import { scatter, wantedOutputs } from './scatter.ts';

export interface ResponseStreamInit {
  readonly plan: ModelPlan;
  readonly batch: Batch;
  /** What the model is told of the requests. */
  readonly detail: Buffer | undefined;
  readonly process: ModelProcess;
  readonly context: InstanceContext;
  readonly logger: Logger;
}

export class ResponseStream {
  readonly #init: ResponseStreamInit;
  readonly #wanted: readonly number[];
  /** Requests that wait for further responses. */
  readonly #open: Set<InferenceRequest>;
  readonly #window = new ResponseWindow(() => this.#call?.grant(1));
  #call: StreamingCall | undefined;
  #index = 0;
  /** When the response at hand began. */
  #begunNs = process.hrtime.bigint();
  #inferNs = 0;
  #outputNs = 0;

  constructor(init: ResponseStreamInit) {
    this.#init = init;
    this.#wanted = wantedOutputs(init.plan, init.batch.requests);
    this.#open = new Set(init.batch.requests);
  }

  /** Resolves when the process has ended the call. Never rejects. */
  async run(): Promise<void> {
    const { batch, detail } = this.#init;
    for (const request of batch.requests) request.onCancel = () => this.#leave(request);
    const call = { tensors: batch.tensors, numbers: this.#wanted, detail };
    this.#call = this.#init.process.stream(call, (part) => this.#part(part));
    try {
      this.#end(await this.#call.ended);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #part(outcome: Outcome): void {
    const [inferNs = 0, outputNs = 0] = outcome.numbers;
    const times = { inferNs, outputNs: outputNs + outcome.readNs };
    try {
      this.#respond(outcome, times, false);
    } catch (thrown) {
      this.#fail(thrown);
      this.#call?.cancel();
    }
  }

  #end(outcome: Outcome): void {
    const [inputNs = 0, inferNs = 0, outputNs = 0] = outcome.numbers;
    const times = { inferNs, outputNs: outputNs + outcome.readNs };
    const computeInputNs = outcome.writeNs + inputNs;
    if (outcome.tensors.length > 0) {
      this.#respond(outcome, times, true, computeInputNs);
      return;
    }
    this.#count('empty', times);
    this.#report(computeInputNs);
    for (const request of this.#open) this.#answer(request, undefined, true);
    this.#open.clear();
  }

  /** @throws {PythonRuntimeError} for outputs that are not what the configuration promises */
  #respond(outcome: Outcome, times: Times, isFinal: boolean, computeInputNs = 0): void {
    const { plan, batch } = this.#init;
    const responses = scatter({ plan, batch, wanted: this.#wanted, tensors: outcome.tensors });
    this.#count('success', times);
    if (isFinal) this.#report(computeInputNs);
    const taken = this.#window.add(this.#open);
    for (const [i, request] of batch.requests.entries()) {
      const response = responses[i];
      if (response === undefined || !this.#open.has(request)) continue;
      this.#answer(request, { ...response, release: () => taken(request) }, isFinal);
    }
    if (isFinal) this.#open.clear();
  }

  #fail(thrown: unknown): void {
    if (this.#open.size === 0) return;
    const { plan, logger, context } = this.#init;
    const error = runError(plan.modelName, thrown);
    if (error instanceof PythonRuntimeError && error.traceback !== undefined) {
      const fields = { model: plan.modelName, instance: context.spec.name, traceback: error.traceback };
      logger.debug(fields, error.message);
    }
    this.#count('fail', this.#sinceBegin());
    for (const request of this.#open) this.#refuse(request, error);
    this.#open.clear();
  }

  /** The client of a request has gone. */
  #leave(request: InferenceRequest): void {
    if (!this.#open.delete(request)) return;
    const { plan } = this.#init;
    this.#tell({ index: this.#index, outcome: 'cancel', times: this.#sinceBegin() });
    const message = `model '${plan.modelName}': request '${request.id}' was cancelled while it ran`;
    this.#refuse(request, new PythonRuntimeError({ code: 'CANCELLED', reason: 'cancelled', message }));
    this.#window.leave(request);
    if (this.#open.size === 0) this.#call?.cancel();
  }

  #answer(request: InferenceRequest, response: InferenceResponse | undefined, isFinal: boolean): void {
    if (isFinal) request.onCancel = undefined;
    this.#deliver(request, { response, isFinal });
  }

  #refuse(request: InferenceRequest, error: InferenceServerError): void {
    request.onCancel = undefined;
    this.#deliver(request, { error });
  }

  #deliver(request: InferenceRequest, answer: Parameters<typeof deliver>[1]): void {
    const { logger, context } = this.#init;
    deliver(request, answer, { logger, instance: context.spec.name });
  }

  /** Counts the response at hand for every request that waits for it; the next begins. */
  #count(outcome: ResponseReport['outcome'], times: Times): void {
    for (let left = this.#open.size; left > 0; left--) this.#tell({ index: this.#index, outcome, times });
    this.#inferNs += times.inferNs;
    this.#outputNs += times.outputNs;
    this.#index++;
    this.#begunNs = process.hrtime.bigint();
  }

  #tell({ index, outcome, times }: { index: number; outcome: ResponseReport['outcome']; times: Times }): void {
    const response = { index, outcome, computeInferNs: times.inferNs, computeOutputNs: times.outputNs };
    this.#recorded(() => this.#init.context.reportResponse?.(response));
  }

  #report(computeInputNs: number): void {
    const { batch, context } = this.#init;
    if (this.#open.size === 0) return;
    this.#recorded(() =>
      context.report({
        requests: [...this.#open],
        batchSize: batch.total,
        computeInputNs,
        computeInferNs: this.#inferNs,
        computeOutputNs: this.#outputNs,
      }),
    );
  }

  #recorded(record: () => void): void {
    try {
      record();
    } catch (thrown) {
      const { logger, context } = this.#init;
      logger.error({ instance: context.spec.name, err: thrown }, 'statistics of an execution could not be recorded');
    }
  }

  #sinceBegin(): Times {
    return { inferNs: Number(process.hrtime.bigint() - this.#begunNs), outputNs: 0 };
  }
}

interface Times {
  readonly inferNs: number;
  readonly outputNs: number;
}
