import {
  InferenceRequest,
  type InferenceRequestInit,
  type InferenceResponse,
  InferenceServerError,
  type RequestOrigin,
  type RequestTrace,
  type Responder,
  withBatch,
} from '@nereid/core';
import type { Classification } from '@nereid/serving';
import { RequestMemory } from '@nereid/shared-memory';
import type { Call, CallHandler } from './call.ts';
import { decodeBeside, hasLongContents } from './infer/beside.ts';
import { type Address, addressOf, type DecodedInferRequest } from './infer/request.ts';
import {
  type EncodedPieces,
  encodeStreamError,
  encodeStreamResponse,
  type ResponseHead,
  type StreamAnswer,
} from './infer/response.ts';
import { decodeForwarded } from './metadata.ts';
import type { GrpcSettings } from './options.ts';
import { refusalOf } from './refusal.ts';
import { statusOf } from './status.ts';
import { beginTrace, traceTime } from './trace-start.ts';

interface Waiting {
  /** Undefined while its outputs are being written into shared memory. */
  message: EncodedPieces | undefined;
  written: () => void;
}

/** An answer of the model; `response` is undefined when the final mark comes alone. */
interface Answered {
  readonly response: InferenceResponse | undefined;
  readonly isFinal: boolean;
}

/** A request of a stream in the order they came, with the answers that wait for those before it. */
interface Place {
  /** Undefined until the engine gets it, and for what is no request. */
  request: InferenceRequest | undefined;
  /** Undefined for requests that name no region. */
  readonly memory: RequestMemory | undefined;
  /** Undefined for requests that are not traced: nearly all. */
  readonly trace: RequestTrace | undefined;
  /** Undefined for requests that want no classes. */
  readonly classification: Classification | undefined;
  readonly wantsEmptyFinal: boolean;
  readonly tellsBatch: boolean;
  readonly waiting: Waiting[];
  isDone: boolean;
}

/**
 * `ModelStreamInfer`: many requests, for any models, and their answers. The answers of models that answer once leave in the order of the requests; those of
 * decoupled ones as they come, those of one request in their order. Failures are answers; with `triton_grpc_error` the first one ends the call instead.
 */
export class StreamInfer implements CallHandler, Responder {
  readonly #call: Call;
  readonly #settings: GrpcSettings;
  readonly #forwarded: ReadonlyMap<string, string> | undefined;
  /** Whether the first failure ends the call. */
  readonly #failsWhole: boolean;
  /** Requests under way whose answers leave in order, oldest first. */
  readonly #places: Place[] = [];
  /** Those whose answers leave as they come. */
  readonly #unordered = new Set<Place>();
  readonly #placeOf = new Map<InferenceRequest, Place>();
  /** The request that the engine is being given: what it fails with now is a refusal. */
  #issuing: InferenceRequest | undefined;
  /** Pending while inputs in shared memory are read: what comes meanwhile waits, as requests reach the engine in their order. */
  #reading: Promise<void> | undefined;
  /** Pending while a message is decoded on a thread: what comes meanwhile waits for the same reason. */
  #decoding: Promise<void> | undefined;
  #isCancelled = false;
  #isHalfClosed = false;
  #isPaused = false;

  constructor(init: {
    readonly call: Call;
    readonly settings: GrpcSettings;
    /** Metadata for the models. */
    readonly forwarded: ReadonlyMap<string, string> | undefined;
    readonly failsWhole: boolean;
  }) {
    this.#call = init.call;
    this.#forwarded = init.forwarded;
    this.#settings = init.settings;
    this.#failsWhole = init.failsWhole;
  }

  get origin(): RequestOrigin {
    return { protocol: 'grpc', address: this.#call.remoteAddress };
  }

  message(bytes: Buffer): void {
    const { beside, limits } = this.#settings;
    const forwarded = this.#forwarded;
    const decode = () => decodeForwarded(bytes, { limits, forwarded });
    const isLong = beside !== undefined && hasLongContents(bytes);
    if (this.#decoding === undefined && !isLong) {
      this.#take(decode, () => addressOf(bytes));
      return;
    }
    // Read first: the bytes are moved.
    const address = addressOf(bytes);
    const read = isLong ? decodeBeside(bytes, { limits, forwarded, beside }) : undefined;
    const turn = Promise.allSettled([this.#decoding, read]).then(([, result]) => {
      if (this.#decoding === turn) this.#decoding = undefined;
      if (this.#isCancelled) return;
      const told = () => address;
      if (result.status === 'rejected') this.#refuse(told, refusalOf(address, result.reason, this.#settings.engine));
      else if (result.value === undefined) this.#take(decode, told);
      else {
        const { value } = result;
        this.#take(() => value, told);
      }
    });
    this.#decoding = turn;
    this.#holdBack();
  }

  #take(decode: () => DecodedInferRequest, address: () => Address): void {
    const { sharedMemory, engine } = this.#settings;
    const cameMicros = traceTime(this.#settings);
    let decoded: DecodedInferRequest;
    let memory: RequestMemory | undefined;
    let classification: Classification | undefined;
    try {
      decoded = decode();
      classification = decoded.classes && engine.classification(decoded, decoded.classes);
      memory = decoded.sharedMemory && new RequestMemory(sharedMemory, decoded.sharedMemory);
    } catch (thrown) {
      this.#refuse(address, refusalOf(address(), thrown, engine));
      return;
    }
    const { wantsEmptyFinal, tellsBatch } = decoded;
    const trace = cameMicros === undefined ? undefined : this.#beginTrace(decoded, cameMicros);
    const asked = { trace, memory, classification, wantsEmptyFinal, tellsBatch };
    const place: Place = { ...asked, request: undefined, waiting: [], isDone: false };
    if (engine.isDecoupled(decoded.modelName, decoded.modelVersion)) this.#unordered.add(place);
    else this.#places.push(place);
    this.#holdBack();
    if (memory === undefined && this.#reading === undefined) this.#issue(place, decoded);
    else this.#issueInTurn(place, decoded, address);
  }

  halfClosed(): void {
    this.#isHalfClosed = true;
    this.#afterSending();
  }

  cancelled(): void {
    this.#isCancelled = true;
    const places = [...this.#places.splice(0), ...this.#unordered];
    this.#unordered.clear();
    for (const { request, waiting, memory, trace } of places) {
      trace?.end();
      for (const { written } of waiting) written();
      memory?.close();
      request?.cancel();
    }
    this.#placeOf.clear();
  }

  #beginTrace({ modelName, modelVersion }: DecodedInferRequest, cameMicros: number): RequestTrace | undefined {
    return beginTrace(this.#settings, { modelName, modelVersion, call: this.#call, cameMicros });
  }

  #issue(place: Place, init: InferenceRequestInit): void {
    const request = new InferenceRequest(init, place.trace?.watch(this) ?? this);
    place.request = request;
    this.#placeOf.set(request, place);
    this.#issuing = request;
    this.#settings.engine.infer(request);
    this.#issuing = undefined;
  }

  #issueInTurn(place: Place, decoded: DecodedInferRequest, address: () => Address): void {
    const inputs = place.memory?.readInputs(decoded.inputs) ?? decoded.inputs;
    const turn = Promise.allSettled([this.#reading, inputs]).then(([, read]) => {
      if (this.#reading === turn) this.#reading = undefined;
      if (this.#isCancelled) return;
      if (read.status === 'fulfilled') this.#issue(place, { ...decoded, inputs: read.value });
      else this.#failUnissued(place, refusalOf(address(), read.reason, this.#settings.engine), decoded.id);
    });
    this.#reading = turn;
  }

  #failUnissued(place: Place, thrown: unknown, id: string): void {
    place.isDone = true;
    place.memory?.close();
    if (this.#failsWhole) {
      this.#endWhole(InferenceServerError.from(thrown));
      return;
    }
    place.waiting.push({ message: this.#errorAnswer(thrown, { id }), written: ignore });
    this.#flush(place);
  }

  respond(request: InferenceRequest, response: InferenceResponse | undefined, final: boolean): void {
    const place = this.#placeOf.get(request);
    if (place === undefined) {
      response?.release?.();
      return;
    }
    if (final) this.#settle(request, place);
    if (response !== undefined && place.memory !== undefined) {
      void this.#addFromMemory({ place, request, memory: place.memory, response, isFinal: final });
      return;
    }
    if (final) place.memory?.close();
    if (response !== undefined || place.wantsEmptyFinal) this.#add(place, request, { response, isFinal: final });
    this.#flush(place);
  }

  #add(place: Place, request: InferenceRequest, answer: Answered): void {
    const release = () => answer.response?.release?.();
    try {
      place.waiting.push({ message: this.#encode(place, request, answer), written: release });
    } catch (thrown) {
      release();
      if (this.#failsWhole) this.#endWhole(InferenceServerError.from(thrown));
      else place.waiting.push({ message: this.#errorAnswer(thrown, headOf(request)), written: ignore });
    }
  }

  fail(request: InferenceRequest, error: InferenceServerError): void {
    const place = this.#placeOf.get(request);
    if (place === undefined) return;
    this.#settle(request, place);
    place.memory?.close();
    if (this.#failsWhole) {
      this.#endWhole(error);
      return;
    }
    const head = request === this.#issuing ? { id: request.id } : headOf(request);
    place.waiting.push({ message: this.#errorAnswer(error, head), written: ignore });
    this.#flush(place);
  }

  #settle(request: InferenceRequest, place: Place): void {
    place.isDone = true;
    this.#placeOf.delete(request);
  }

  /** Keeps the place of an answer while its outputs are written; their memory goes back after that, whatever becomes of the stream. */
  async #addFromMemory(answer: {
    readonly place: Place;
    readonly request: InferenceRequest;
    readonly memory: RequestMemory;
    readonly response: InferenceResponse;
    readonly isFinal: boolean;
  }): Promise<void> {
    const { place, request, memory, response, isFinal } = answer;
    const slot: Waiting = { message: undefined, written: ignore };
    place.waiting.push(slot);
    const release = () => response.release?.();
    try {
      const rest = await memory.writeOutputs(response);
      slot.message = this.#encode(place, request, { response: rest, isFinal });
      slot.written = release;
    } catch (thrown) {
      release();
      if (this.#failsWhole) this.#endWhole(InferenceServerError.from(thrown));
      else slot.message = this.#errorAnswer(thrown, headOf(request));
    }
    if (isFinal) memory.close();
    if (this.#isCancelled) slot.written();
    else this.#flush(place);
  }

  /** @throws {InferenceServerError} for classes that cannot be told */
  #encode(place: Place, request: InferenceRequest, { response, isFinal }: Answered): EncodedPieces {
    const { batch } = request;
    const classified = response && (place.classification?.apply(response) ?? response);
    const told = place.tellsBatch && classified && batch ? withBatch(classified, batch) : classified;
    const { modelName, modelVersion } = response ?? request;
    const answer: StreamAnswer = {
      head: { modelName, modelVersion, id: request.id },
      outputs: told?.outputs ?? [],
      parameters: told?.parameters,
      isFinal,
    };
    return encodeStreamResponse(answer);
  }

  /** A message that is no request: its answer takes the place of one. */
  #refuse(address: () => Address, thrown: unknown): void {
    if (this.#failsWhole) {
      this.#endWhole(InferenceServerError.from(thrown));
      return;
    }
    const message = this.#errorAnswer(thrown, { id: address().id });
    const place: Place = {
      request: undefined,
      memory: undefined,
      trace: undefined,
      classification: undefined,
      wantsEmptyFinal: false,
      tellsBatch: false,
      isDone: true,
      waiting: [{ message, written: ignore }],
    };
    this.#places.push(place);
    this.#flush(place);
  }

  #errorAnswer(thrown: unknown, head: Partial<ResponseHead>): EncodedPieces {
    const { message } = statusOf(thrown, this.#settings.logger);
    return encodeStreamError(message, head, head.modelName !== undefined);
  }

  #endWhole(error: InferenceServerError): void {
    this.#call.fail(error);
    this.cancelled();
  }

  /** Sends what is due now that a place has something more. */
  #flush(place: Place): void {
    if (!this.#unordered.has(place)) this.#flushInOrder();
    else if (this.#sendDue(place)) this.#unordered.delete(place);
    this.#afterSending();
  }

  /** Everything of the oldest request, then of the next once that is done. */
  #flushInOrder(): void {
    for (let first = this.#places[0]; first !== undefined && this.#sendDue(first); first = this.#places[0]) {
      this.#places.shift();
    }
  }

  #afterSending(): void {
    this.#holdBack();
    if (this.#isHalfClosed && this.#underWay === 0 && this.#decoding === undefined) this.#call.end();
  }

  get #underWay(): number {
    return this.#places.length + this.#unordered.size;
  }

  /**
   * Sends the answers of a place up to one whose outputs are still being written.
   * @returns whether nothing more will come
   */
  #sendDue({ waiting, isDone, trace }: Place): boolean {
    for (let next = waiting[0]; next?.message !== undefined; next = waiting[0]) {
      waiting.shift();
      trace?.sending();
      this.#call.send(next.message, next.written);
    }
    const isOver = isDone && waiting.length === 0;
    if (isOver) trace?.end();
    return isOver;
  }

  /** Reads no further while too much is under way, or the client does not read its answers. */
  #holdBack(): void {
    const isFull = this.#underWay >= this.#settings.maxStreamRequests || this.#decoding !== undefined;
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
