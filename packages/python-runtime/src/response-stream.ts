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
import type { RequestProgress } from './request-progress.ts';
import { ResponseWindow } from './response-window.ts';
import { scatter, wantedOutputs } from './scatter.ts';
import { type LentStates, numbersFor } from './sequence-states.ts';
import { TurnAnswers } from './turn-answers.ts';

export interface ResponseStreamInit {
  readonly plan: ModelPlan;
  readonly batch: Batch;
  /** What the model is told of the requests. */
  readonly detail: Buffer | undefined;
  /** Of the sequences of the requests. */
  readonly states: LentStates | undefined;
  readonly progressOf: (request: InferenceRequest) => RequestProgress;
  readonly process: ModelProcess;
  readonly context: InstanceContext;
  readonly logger: Logger;
}

export class ResponseStream {
  readonly #init: ResponseStreamInit;
  readonly #wanted: readonly number[];
  /** Requests that wait for further responses, and how far they are. */
  readonly #open: Map<InferenceRequest, RequestProgress>;
  readonly #window = new ResponseWindow(() => this.#call?.grant(1));
  #call: StreamingCall | undefined;
  /** When the response at hand began. */
  #begunNs = process.hrtime.bigint();
  #inferNs = 0;
  #outputNs = 0;

  constructor(init: ResponseStreamInit) {
    this.#init = init;
    this.#wanted = wantedOutputs(init.plan, init.batch.requests);
    const open = init.batch.requests.filter(({ isDone }) => !isDone);
    this.#open = new Map(open.map((request) => [request, init.progressOf(request)]));
  }

  /** Resolves when the process has ended the call. Never rejects. */
  async run(): Promise<void> {
    const { batch, detail, states } = this.#init;
    for (const request of this.#open.keys()) request.onCancel = () => this.#leave(request);
    const call = { tensors: batch.tensors, numbers: numbersFor(this.#wanted, states), detail };
    this.#call = this.#init.process.stream(call, (part) => this.#part(part));
    for (const request of batch.requests) if (request.isCancelled) this.#leave(request);
    try {
      this.#end(await this.#call.ended);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #part(outcome: Outcome): void {
    const [inferNs = 0, outputNs = 0, ...rest] = outcome.numbers;
    const times = { inferNs, outputNs: outputNs + outcome.readNs, besideNs: outcome.readNs };
    try {
      this.#respond({ outcome, times, answers: this.#answers(rest), isEnd: false });
    } catch (thrown) {
      this.#fail(thrown);
      this.#call?.cancel();
    }
  }

  #end(outcome: Outcome): void {
    const [inputNs = 0, inferNs = 0, outputNs = 0, ...rest] = outcome.numbers;
    const times = { inferNs, outputNs: outputNs + outcome.readNs };
    const computeInputNs = outcome.writeNs + inputNs;
    const answers = this.#answers(rest);
    if (outcome.tensors.length > 0) this.#respond({ outcome, times, answers, isEnd: true, computeInputNs });
    else this.#endAlone({ times, answers, computeInputNs });
    for (const [request, progress] of this.#open) {
      // From now on it is the scheduler's.
      request.onCancel = undefined;
      request.reschedule?.(progress.whenRoom());
    }
    this.#open.clear();
  }

  /** The end of a call without a further result. What is left open runs again. */
  #endAlone({ times, answers, computeInputNs }: Ending): void {
    this.#init.states?.keep(answers.dims);
    const last = [...this.#open.keys()].filter((request) => !answers.isAgain(request));
    this.#count('empty', { requests: last, times });
    this.#report(computeInputNs);
    for (const request of last) {
      this.#open.delete(request);
      this.#answer(request, undefined, true);
    }
  }

  #answers(numbers: readonly number[]): TurnAnswers {
    return new TurnAnswers(this.#init.plan, this.#init.batch, numbers);
  }

  /**
   * Gives each request its rows of a result; after the last one, what is left open runs again.
   * @throws {PythonRuntimeError} for outputs that are not what the configuration promises
   */
  #respond({ outcome, times, answers, isEnd, computeInputNs = 0 }: Result): void {
    const { plan, batch, states } = this.#init;
    const responses = scatter({ plan, batch, wanted: this.#wanted, tensors: outcome.tensors });
    if (isEnd) states?.keep(answers.dims);
    const requests = [...this.#open.keys()].filter((request) => !answers.isSilent(request));
    this.#count('success', { requests, times });
    if (isEnd) this.#report(computeInputNs);
    const taken = this.#window.add(requests);
    for (const [i, request] of batch.requests.entries()) {
      const response = responses[i];
      const progress = this.#open.get(request);
      if (response === undefined || progress === undefined || answers.isSilent(request)) continue;
      const isFinal = isEnd && !answers.isAgain(request);
      if (isFinal) this.#open.delete(request);
      progress.sent();
      const release = once(() => {
        taken(request);
        progress.taken();
      });
      this.#answer(request, { ...response, release }, isFinal);
    }
  }

  #fail(thrown: unknown): void {
    const { plan, logger, context, states } = this.#init;
    states?.drop();
    if (this.#open.size === 0) return;
    const error = runError(plan.modelName, thrown);
    if (error instanceof PythonRuntimeError && error.traceback !== undefined) {
      const fields = { model: plan.modelName, instance: context.spec.name, traceback: error.traceback };
      logger.debug(fields, error.message);
    }
    this.#count('fail', { requests: [...this.#open.keys()], times: this.#sinceBegin() });
    for (const request of this.#open.keys()) this.#refuse(request, error);
    this.#open.clear();
  }

  /** The client of a request has gone. */
  #leave(request: InferenceRequest): void {
    const progress = this.#open.get(request);
    if (progress === undefined) return;
    this.#open.delete(request);
    const { plan } = this.#init;
    this.#tell({ index: progress.index, outcome: 'cancel', times: this.#sinceBegin() });
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

  /** Counts the response at hand for the requests that get it; the next begins. */
  #count(
    outcome: ResponseReport['outcome'],
    { requests, times }: { readonly requests: readonly InferenceRequest[]; readonly times: Times },
  ): void {
    for (const request of requests) {
      const progress = this.#open.get(request);
      if (progress !== undefined) this.#tell({ index: progress.index++, outcome, times });
    }
    this.#inferNs += times.inferNs;
    this.#outputNs += times.outputNs - (times.besideNs ?? 0);
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
        requests: [...this.#open.keys()],
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

/** How a call ended. */
interface Ending {
  readonly times: Times;
  readonly answers: TurnAnswers;
  readonly computeInputNs: number;
}

interface Result extends Omit<Ending, 'computeInputNs'> {
  readonly outcome: Outcome;
  /** Whether nothing comes after it. */
  readonly isEnd: boolean;
  readonly computeInputNs?: number;
}

interface Times {
  readonly inferNs: number;
  readonly outputNs: number;
  /** Part of `outputNs` in which the model was at the next result already: of the response, and not of the execution. */
  readonly besideNs?: number;
}

/** An action that happens at its first call only. */
function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}
