/**
 * One client call on its way through the server, and the answers to it.
 *
 * A request answers through its own `send`, zero, one or many times; plain, decoupled, cached and rejected requests all take that way.
 * Exactly one answer is final. Order of the two listeners per answer: the front end's responder first, then the observer that the
 * engine set (statistics), so that what a client sees is never delayed by bookkeeping.
 */
import type { ExecutionReport } from './backend.ts';
import type { BatchInfo } from './batch-info.ts';
import type { InferenceServerError } from './errors.ts';
import type { SequenceTurn } from './sequence.ts';
import type { Tensor } from './tensor.ts';

/** Value of a request or response parameter. 64-bit integers outside the safe range are bigints. */
export type ParameterValue = string | number | bigint | boolean;

/** Answer of a model: outputs in the order the backend emitted them. */
export interface InferenceResponse {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly outputs: readonly Tensor[];
  readonly parameters?: ReadonlyMap<string, ParameterValue>;
  /**
   * Gives the memory of `outputs` back at once. The front end calls it once after the last byte was handed to the socket; the
   * outputs must not be read afterwards. Without it the memory is returned when the views are collected; but a decoupled model makes no further responses for a
   * request while many of them are not released, so that a client that reads slowly does not fill the memory.
   */
  release?(): void;
}

/** Where a request came from. */
export interface RequestOrigin {
  /** `http`, `grpc`. */
  readonly protocol: string;
  /** IP address of the client; undefined when it has gone. */
  readonly address: string | undefined;
}

/** What a front end implements to receive the answers of a request. It must not throw: whoever answers has other requests to answer. */
export interface Responder {
  /** For the log, which asks only when it writes a line about the request. */
  readonly origin?: RequestOrigin | undefined;
  /** For a model that opens spans of its own; see `InferenceRequest.traceparent`. */
  readonly traceparent?: string | undefined;
  /** `response` is undefined when the final mark comes alone. Ownership of `response` passes to the responder (see `release`). */
  respond(request: InferenceRequest, response: InferenceResponse | undefined, final: boolean): void;
  /** The request failed; no further answer follows. */
  fail(request: InferenceRequest, error: InferenceServerError): void;
}

/** One answer on its way to the responder. */
export type RequestAnswer =
  | { readonly error: InferenceServerError }
  | { readonly error?: never; readonly response: InferenceResponse | undefined; readonly final: boolean };

/**
 * What a scheduler implements to keep answers in order: it gets each answer in place of the responder and hands it on with
 * `request.deliver`, each once and those of one request in the order they came. It must not throw.
 */
export interface AnswerGate {
  take(request: InferenceRequest, answer: RequestAnswer): void;
}

/** What the engine implements to watch a request; called after the responder, also when that threw. It must not throw. */
export interface RequestObserver {
  responded(request: InferenceRequest, response: InferenceResponse | undefined, final: boolean): void;
  failed(request: InferenceRequest, error: InferenceServerError): void;
}

/**
 * What many requests of one client have in common. Requests that carry the same signature object agree in model, version, requested outputs,
 * and in name, datatype, shape and byte size of every input, and have no BYTES input; only ids and contents differ. So a check that depends on those alone
 * is made once per signature: the engine notes here for which loaded model version it passed.
 */
export class RequestSignature {
  /** Loaded model version that accepted a request of this signature. Owned by the engine. */
  acceptedBy: object | undefined = undefined;
  /** Batch size found by that check. */
  batchSize = 1;
}

export interface InferenceRequestInit {
  readonly modelName: string;
  /** Decimal version, or '' for the latest that is ready. */
  readonly modelVersion: string;
  /** Echoed to the client; '' when the client gave none. */
  readonly id: string;
  readonly inputs: readonly Tensor[];
  /** Names of the outputs to compute; empty means every output of the model. */
  readonly requestedOutputs: readonly string[];
  /** 0 takes the model's default level, 1 is served first. */
  readonly priority?: number | bigint;
  /** Queue time limit in microseconds; 0 means none. Honoured by queue policies that allow the override. */
  readonly timeoutMicroseconds?: number | bigint;
  /** Sequence the request belongs to; 0 and '' mean none. */
  readonly correlationId?: number | bigint | string;
  readonly sequenceStart?: boolean;
  readonly sequenceEnd?: boolean;
  readonly parameters?: ReadonlyMap<string, ParameterValue>;
  readonly signature?: RequestSignature | undefined;
}

/** What an execution took, or all turns of an iterative request together; every request that took part is charged the whole of it. Shared by those requests. */
export type ExecutionTimes = Readonly<Pick<ExecutionReport, 'computeInputNs' | 'computeInferNs' | 'computeOutputNs'>>;

const NO_PARAMETERS: ReadonlyMap<string, ParameterValue> = new Map();

export class InferenceRequest {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly id: string;
  readonly inputs: readonly Tensor[];
  readonly requestedOutputs: readonly string[];
  readonly priority: number | bigint;
  readonly timeoutMicroseconds: number | bigint;
  readonly correlationId: number | bigint | string;
  readonly sequenceStart: boolean;
  readonly sequenceEnd: boolean;
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  /** Shared by requests that differ only in id and contents; undefined when the front end does not know. */
  readonly signature: RequestSignature | undefined;

  /** Rows this request adds to a batch: its first dimension for batching models, 1 otherwise. Set by the engine. */
  batchSize = 1;
  /** Microseconds on the engine's clock when the request entered the engine. Set by the engine. */
  arrivedMicros = 0;
  /** Microseconds on the engine's clock when the scheduler handed the request to an instance; 0 while it waits. Set by the scheduler. */
  dispatchedMicros = 0;
  /** The batch it runs in; undefined while it waits, and for good under a scheduler that forms no batches. Set by the scheduler. */
  batch: BatchInfo | undefined = undefined;
  /** Times of the execution that ran the request; undefined until the backend reported it. Set by the engine before the request is answered. */
  execution: ExecutionTimes | undefined = undefined;
  /** Watches the answers; set by the engine before the request is enqueued. */
  observer: RequestObserver | undefined = undefined;
  /** Its turn in its sequence; undefined for models without sequences. Set by the scheduler before the request runs. */
  turn: SequenceTurn | undefined = undefined;
  /**
   * Asks for another turn in place of the final answer (iterative sequences). Set by a scheduler that gives one, before the request runs; absent where
   * a request runs once. The turn comes once `ready`, which must not reject, has resolved; at the next chance without it.
   */
  reschedule: ((ready?: Promise<void>) => void) | undefined = undefined;
  /**
   * Set by the scheduler while the request waits: called once when the client cancels, to take it out of the queue. A request that already runs has none,
   * it completes and its answer is dropped by the front end; but the instance of a decoupled model sets it, to stop making responses.
   */
  onCancel: ((request: InferenceRequest) => void) | undefined = undefined;

  /** Holds answers back until their turn; set by a scheduler that keeps them in order, before the request runs. */
  gate: AnswerGate | undefined = undefined;

  readonly #responder: Responder;
  #cancelled = false;
  #done = false;

  constructor(init: InferenceRequestInit, responder: Responder) {
    this.modelName = init.modelName;
    this.modelVersion = init.modelVersion;
    this.id = init.id;
    this.inputs = init.inputs;
    this.requestedOutputs = init.requestedOutputs;
    this.priority = init.priority ?? 0;
    this.timeoutMicroseconds = init.timeoutMicroseconds ?? 0;
    this.correlationId = init.correlationId ?? 0;
    this.sequenceStart = init.sequenceStart ?? false;
    this.sequenceEnd = init.sequenceEnd ?? false;
    this.parameters = init.parameters ?? NO_PARAMETERS;
    this.signature = init.signature;
    this.#responder = responder;
  }

  /** Undefined when its responder does not tell. */
  get origin(): RequestOrigin | undefined {
    return this.#responder.origin;
  }

  /** The span of the request, as a W3C `traceparent`, for spans below it; undefined for a request of which no spans are made. */
  get traceparent(): string | undefined {
    return this.#responder.traceparent;
  }

  /** Whether the final answer was given. It may still wait at the gate. */
  get isDone(): boolean {
    return this.#done;
  }

  get isCancelled(): boolean {
    return this.#cancelled;
  }

  /** Whether `name` is to be returned: it was asked for, or nothing was. */
  wants(name: string): boolean {
    return this.requestedOutputs.length === 0 || this.requestedOutputs.includes(name);
  }

  /**
   * Answers the request. `final` marks the last answer; a response of `undefined` with `final` ends it without outputs.
   * @throws {Error} when the request was already finished: a defect of the caller, never of the client
   */
  respond(response: InferenceResponse | undefined, final = true): void {
    this.#assertOpen();
    if (final) this.#done = true;
    if (this.gate === undefined) this.#deliverResponse(response, final);
    else this.gate.take(this, { response, final });
  }

  /**
   * Ends the request with an error.
   * @throws {Error} when the request was already finished: a defect of the caller, never of the client
   */
  fail(error: InferenceServerError): void {
    this.#assertOpen();
    this.#done = true;
    if (this.gate === undefined) this.#deliverError(error);
    else this.gate.take(this, { error });
  }

  /** Hands on an answer that `gate` took. Only for the gate. */
  deliver(answer: RequestAnswer): void {
    if (answer.error === undefined) this.#deliverResponse(answer.response, answer.final);
    else this.#deliverError(answer.error);
  }

  /** The client no longer waits. A waiting request leaves its queue, a running one completes unless its model is decoupled. Later calls do nothing. */
  cancel(): void {
    if (this.#cancelled || this.#done) return;
    this.#cancelled = true;
    this.onCancel?.(this);
  }

  #deliverResponse(response: InferenceResponse | undefined, final: boolean): void {
    try {
      this.#responder.respond(this, response, final);
    } finally {
      this.observer?.responded(this, response, final);
    }
  }

  #deliverError(error: InferenceServerError): void {
    try {
      this.#responder.fail(this, error);
    } finally {
      this.observer?.failed(this, error);
    }
  }

  #assertOpen(): void {
    if (this.#done) throw new Error(`request '${this.id}' for model '${this.modelName}' was answered twice`);
  }
}
