import {
  type Clock,
  type InferenceRequest,
  type InferenceResponse,
  InferenceServerError,
  type RequestOrigin,
  type RequestTrace,
  type Responder,
  type TraceStart,
} from '@nereid/core';
import { computeMarks, type FinishedTrace, type Mark, requestMarks, type TracedTensor } from './finished-trace.ts';
import type { SpanIdentity } from './span-identity.ts';

export interface TraceInit {
  readonly id: number;
  readonly start: TraceStart;
  readonly clock: Pick<Clock, 'nowMicros'>;
  readonly withTensors: boolean;
  /** Responses that are told one by one; of those beyond only the last is. */
  readonly maxResponses: number;
  /** See `FinishedTrace`. */
  readonly context: unknown;
  readonly identity: SpanIdentity | undefined;
  /** Called once. */
  readonly finished: (trace: FinishedTrace) => void;
}

const RECEIVED = { http: 'HTTP_RECV', grpc: 'GRPC_WAITREAD' } as const;
const RESPONSE = 'INFER_RESPONSE_COMPLETE';
const SENT = { http: 'HTTP_SEND', grpc: 'GRPC_SEND' } as const;

/** A trace while its request is on its way. */
export class Trace implements RequestTrace, Responder {
  readonly #init: TraceInit;
  readonly #front: Mark[] = [];
  readonly #tensors: TracedTensor[] = [];
  #responder: Responder | undefined;
  #request: InferenceRequest | undefined;
  #modelVersion: string;
  #answeredMicros = 0;
  #responses = 0;
  #error: InferenceServerError | undefined;
  #isSending = false;
  #isEnded = false;
  #isFinished = false;

  constructor(init: TraceInit) {
    this.#init = init;
    const { protocol, startedMicros, modelVersion } = init.start;
    this.#modelVersion = modelVersion;
    this.#mark(`${RECEIVED[protocol]}_START`, startedMicros);
  }

  /** Of the request, as if it was not traced. */
  get origin(): RequestOrigin | undefined {
    return this.#responder?.origin;
  }

  /** Under which a model may open spans of its own. */
  get traceparent(): string | undefined {
    const { identity } = this.#init;
    return identity && `00-${identity.traceId}-${identity.spanId}-01`;
  }

  received(): void {
    this.#mark(`${RECEIVED[this.#init.start.protocol]}_END`);
  }

  watch(responder: Responder): Responder {
    this.#responder = responder;
    return this;
  }

  respond(request: InferenceRequest, response: InferenceResponse | undefined, final: boolean): void {
    const isTold = final || ++this.#responses <= this.#init.maxResponses;
    if (response !== undefined) {
      this.#modelVersion = response.modelVersion;
      if (isTold) this.#keepTensors('TENSOR_BACKEND_OUTPUT', response.outputs);
    }
    if (final) this.#answered(request);
    else if (isTold) this.#mark(RESPONSE);
    this.#responder?.respond(request, response, final);
    if (final) this.#finishIfOver();
  }

  fail(request: InferenceRequest, error: InferenceServerError): void {
    this.#error = error;
    this.#answered(request);
    this.#responder?.fail(request, error);
    this.#finishIfOver();
  }

  sending(): void {
    if (this.#isEnded || this.#isSending) return;
    this.#isSending = true;
    this.#mark(`${SENT[this.#init.start.protocol]}_START`);
  }

  end(thrown?: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (thrown !== undefined) this.#error ??= InferenceServerError.from(thrown);
    if (this.#isSending) this.#mark(`${SENT[this.#init.start.protocol]}_END`);
    this.#finishIfOver();
  }

  #answered(request: InferenceRequest): void {
    this.#request = request;
    this.#answeredMicros = this.#init.clock.nowMicros();
    this.#mark(RESPONSE, this.#answeredMicros);
    if (request.observer !== undefined) this.#keepTensors('TENSOR_QUEUE_INPUT', request.inputs);
    if (request.dispatchedMicros > 0) this.#keepTensors('TENSOR_BACKEND_INPUT', request.inputs);
  }

  /** Of what the tensors view nothing may be left when the trace is written. */
  #keepTensors(activity: TracedTensor['activity'], tensors: FinishedTensors): void {
    if (!this.#init.withTensors) return;
    for (const tensor of tensors) {
      this.#tensors.push({ activity, tensor: { ...tensor, data: Uint8Array.from(tensor.data) } });
    }
  }

  #mark(name: string, micros = this.#init.clock.nowMicros()): void {
    this.#front.push({ name, micros });
  }

  #finishIfOver(): void {
    const isAnswered = this.#responder === undefined || this.#request !== undefined;
    // A front end that has sent its answer at once ends the trace while it is given the answer.
    if (this.#isFinished || !this.#isEnded || !isAnswered) return;
    this.#isFinished = true;
    const { id, start, context, identity, finished } = this.#init;
    const { protocol, modelName } = start;
    const request = this.#request;
    const answeredMicros = this.#answeredMicros;
    finished({
      id,
      protocol,
      modelName,
      modelVersion: this.#modelVersion,
      requestId: request?.id ?? '',
      front: this.#front,
      request: request === undefined ? [] : requestMarks(request, answeredMicros),
      compute: request === undefined ? [] : computeMarks(request, answeredMicros),
      batch: request?.batch,
      tensors: this.#tensors,
      error: this.#error,
      context,
      identity,
    });
  }
}

type FinishedTensors = InferenceResponse['outputs'];
