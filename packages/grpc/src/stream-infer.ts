import {
  InferenceRequest,
  type InferenceResponse,
  InferenceServerError,
  type Responder,
  withBatch,
} from '@nereid/core';
import type { Call, CallHandler } from './call.ts';
import { addressOf, type DecodedInferRequest, decodeInferRequest } from './infer/request.ts';
import {
  type EncodedPieces,
  encodeStreamError,
  encodeStreamResponse,
  type ResponseHead,
  type StreamAnswer,
} from './infer/response.ts';
import type { GrpcSettings } from './options.ts';
import { refusalOf } from './refusal.ts';
import { statusOf } from './status.ts';

interface Waiting {
  readonly message: EncodedPieces;
  readonly written: () => void;
}

/** A request of a stream in the order they came, with the answers that wait for those before it. */
interface Place {
  readonly request: InferenceRequest | undefined;
  readonly wantsEmptyFinal: boolean;
  readonly tellsBatch: boolean;
  readonly waiting: Waiting[];
  isDone: boolean;
}

/**
 * `ModelStreamInfer`: many requests, for any models, and their answers. The answers of a model that answers once leave in the order of the requests; those of
 * a decoupled one as they come. Failures are answers; with `triton_grpc_error` the first one ends the call instead.
 */
export class StreamInfer implements CallHandler, Responder {
  readonly #call: Call;
  readonly #settings: GrpcSettings;
  /** Whether the first failure ends the call. */
  readonly #failsWhole: boolean;
  /** Requests under way, oldest first. */
  readonly #places: Place[] = [];
  readonly #placeOf = new Map<InferenceRequest, Place>();
  /** The request that the engine is being given: what it fails with now is a refusal. */
  #issuing: InferenceRequest | undefined;
  #isHalfClosed = false;
  #isPaused = false;

  constructor(init: { readonly call: Call; readonly settings: GrpcSettings; readonly failsWhole: boolean }) {
    this.#call = init.call;
    this.#settings = init.settings;
    this.#failsWhole = init.failsWhole;
  }

  message(bytes: Buffer): void {
    let request: InferenceRequest;
    let decoded: DecodedInferRequest;
    try {
      decoded = decodeInferRequest(bytes, this.#settings.limits);
      request = new InferenceRequest(decoded, this);
    } catch (thrown) {
      this.#refuse(bytes, refusalOf(bytes, thrown, this.#settings.engine));
      return;
    }
    const { wantsEmptyFinal, tellsBatch } = decoded;
    const place: Place = { request, wantsEmptyFinal, tellsBatch, waiting: [], isDone: false };
    this.#places.push(place);
    this.#placeOf.set(request, place);
    this.#holdBack();
    this.#issuing = request;
    this.#settings.engine.infer(request);
    this.#issuing = undefined;
  }

  halfClosed(): void {
    this.#isHalfClosed = true;
    this.#flush();
  }

  cancelled(): void {
    for (const { request, waiting } of this.#places.splice(0)) {
      for (const { written } of waiting) written();
      request?.cancel();
    }
    this.#placeOf.clear();
  }

  respond(request: InferenceRequest, response: InferenceResponse | undefined, final: boolean): void {
    const place = this.#placeOf.get(request);
    if (place === undefined) {
      response?.release?.();
      return;
    }
    if (final) this.#settle(request, place);
    if (response !== undefined || place.wantsEmptyFinal) this.#add(place, request, { response, isFinal: final });
    this.#flush();
  }

  fail(request: InferenceRequest, error: InferenceServerError): void {
    const place = this.#placeOf.get(request);
    if (place === undefined) return;
    this.#settle(request, place);
    if (this.#failsWhole) {
      this.#endWhole(error);
      return;
    }
    const head = request === this.#issuing ? { id: request.id } : headOf(request);
    place.waiting.push({ message: this.#errorAnswer(error, head), written: ignore });
    this.#flush();
  }

  #settle(request: InferenceRequest, place: Place): void {
    place.isDone = true;
    this.#placeOf.delete(request);
  }

  #add(
    place: Place,
    request: InferenceRequest,
    { response, isFinal }: { readonly response: InferenceResponse | undefined; readonly isFinal: boolean },
  ): void {
    const { batch } = request;
    const told = place.tellsBatch && response && batch ? withBatch(response, batch) : response;
    const { modelName, modelVersion } = response ?? request;
    const answer: StreamAnswer = {
      head: { modelName, modelVersion, id: request.id },
      outputs: response?.outputs ?? [],
      parameters: told?.parameters,
      isFinal,
    };
    place.waiting.push({ message: encodeStreamResponse(answer), written: () => response?.release?.() });
  }

  /** A message that is no request: its answer takes the place of one. */
  #refuse(bytes: Buffer, thrown: unknown): void {
    if (this.#failsWhole) {
      this.#endWhole(InferenceServerError.from(thrown));
      return;
    }
    const message = this.#errorAnswer(thrown, { id: addressOf(bytes).id });
    this.#places.push({
      request: undefined,
      wantsEmptyFinal: false,
      tellsBatch: false,
      isDone: true,
      waiting: [{ message, written: ignore }],
    });
    this.#flush();
  }

  #errorAnswer(thrown: unknown, head: Partial<ResponseHead>): EncodedPieces {
    const { message } = statusOf(thrown, this.#settings.logger);
    return encodeStreamError(message, head, head.modelName !== undefined);
  }

  #endWhole(error: InferenceServerError): void {
    this.#call.fail(error);
    this.cancelled();
  }

  /** Sends what is due: everything of the oldest request, then of the next once that is done. */
  #flush(): void {
    for (let first = this.#places[0]; first !== undefined; first = this.#places[0]) {
      for (const { message, written } of first.waiting.splice(0)) this.#call.send(message, written);
      if (!first.isDone) break;
      this.#places.shift();
    }
    this.#holdBack();
    if (this.#isHalfClosed && this.#places.length === 0) this.#call.end();
  }

  /** Reads no further while too much is under way, or the client does not read its answers. */
  #holdBack(): void {
    const isFull = this.#places.length >= this.#settings.maxStreamRequests;
    const isSlow = this.#call.waitingBytes > this.#settings.maxWaitingBytes;
    if ((isFull || isSlow) === this.#isPaused) return;
    this.#isPaused = !this.#isPaused;
    if (!this.#isPaused) {
      this.#call.resume();
      return;
    }
    this.#call.pause();
    if (isSlow) this.#call.onceDrained(() => this.#holdBack());
  }
}

function headOf({ modelName, modelVersion, id }: InferenceRequest): ResponseHead {
  return { modelName, modelVersion, id };
}

function ignore(): void {}
