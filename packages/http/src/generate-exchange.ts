/**
 * One call of the generate extension, from the first byte to the last. Order of checks, the first failure wins: restriction, model, Content-Encoding, length of the body,
 * content, then the engine's own; what they refuse is answered as plain JSON. States: reading → running → answered; the client may go away in each of them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  InferenceRequest,
  type InferenceRequestInit,
  type InferenceResponse,
  type InferenceServerError,
  type RequestOrigin,
  type RequestTrace,
  type Responder,
} from '@nereid/core';
import { decodeGenerateRequest, encodeGenerateResponse, type ModelTarget, moved, runJsonTask } from '@nereid/protocol';
import { type BodySink, readBody } from './body-reader.ts';
import { unwatchClient, type Watcher, watchClient } from './client-watch.ts';
import { type ContentEncoding, contentEncodingOf, decompress } from './encodings.ts';
import { type HttpError, tooLargeForJson } from './errors.ts';
import { EventStream, type GenerateAnswers, OneDocument } from './generate-answers.ts';
import type { ServerState } from './infer-endpoint.ts';
import { loadHeader } from './load-metrics.ts';
import { BESIDE_FROM_BYTES, type HttpSettings } from './options.ts';
import { endsConnection, writeRefusal } from './refusal.ts';
import { restrictionOf } from './restriction.ts';

export interface GenerateInit {
  readonly settings: HttpSettings;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly state: ServerState;
  readonly target: ModelTarget;
  /** Whether the client takes a stream of events. */
  readonly isStream: boolean;
}

interface Answered {
  readonly response: InferenceResponse | undefined;
  /** Its JSON, where that was made on a thread. */
  readonly text: Uint8Array | undefined;
  readonly isFinal: boolean;
}

const bytesOf = ({ outputs }: InferenceResponse) => outputs.reduce((bytes, { data }) => bytes + data.byteLength, 0);

export class GenerateExchange implements Responder, BodySink, Watcher {
  readonly #settings: HttpSettings;
  readonly #message: IncomingMessage;
  readonly #reply: ServerResponse;
  readonly #state: ServerState;
  readonly #target: ModelTarget;
  readonly #answers: GenerateAnswers;
  #contentEncoding: ContentEncoding = 'identity';
  #request: InferenceRequest | undefined;
  /** Undefined for requests that are not traced: nearly all. */
  #trace: RequestTrace | undefined;
  /** Whether the engine is being given the request: what it fails with before that runs is a refusal. */
  #isIssuing = false;
  #isOver = false;
  /** Pending while the text of an answer is made on a thread. */
  #writing: Promise<void> | undefined;

  constructor({ settings, request, response, state, target, isStream }: GenerateInit) {
    this.#settings = settings;
    this.#message = request;
    this.#reply = response;
    this.#state = state;
    this.#target = target;
    const further = () => loadHeader(request, { engine: settings.engine, target });
    const init = { reply: response, settings, further };
    this.#answers = isStream ? new EventStream(init) : new OneDocument(init);
  }

  get origin(): RequestOrigin {
    return { protocol: 'http', address: this.#message.socket.remoteAddress };
  }

  /** Checks the head of the request and reads its body. */
  start(): void {
    try {
      const restriction = restrictionOf('generate', this.#message.headers, this.#settings);
      if (restriction !== undefined) throw restriction;
      this.#modelInputs();
      this.#beginTrace();
      watchClient(this.#message.socket, this);
      this.#contentEncoding = contentEncodingOf(this.#message.headers['content-encoding']);
      readBody(this.#message, { maxBytes: this.#settings.maxInputBytes, sink: this });
    } catch (thrown) {
      this.#refuse(thrown);
    }
  }

  bodyRead(body: Buffer): void {
    this.#trace?.received();
    if (this.#contentEncoding === 'identity') {
      this.#generate(body);
      return;
    }
    decompress(body, this.#contentEncoding, this.#settings.maxInputBytes).then(
      (inflated) => this.#generate(inflated),
      (error: unknown) => this.#refuse(error),
    );
  }

  bodyRefused(error: HttpError): void {
    if (endsConnection(error, this.#message, this.#settings)) this.#reply.shouldKeepAlive = false;
    this.#refuse(error);
  }

  respond(request: InferenceRequest, response: InferenceResponse | undefined, final: boolean): void {
    const release = () => response?.release?.();
    if (this.#isOver) {
      release();
      return;
    }
    const text = response && this.#textBeside(response, request.id);
    if (text === undefined && this.#writing === undefined) {
      this.#respondNow(request, { response, text: undefined, isFinal: final });
      return;
    }
    // Answers keep their order, also when one takes longer to be written.
    const turn = Promise.allSettled([this.#writing, text]).then(([, written]) => {
      if (this.#writing === turn) this.#writing = undefined;
      if (this.#isOver) release();
      else if (written.status === 'fulfilled')
        this.#respondNow(request, { response, text: written.value, isFinal: final });
      else {
        release();
        this.#fail(written.reason);
        request.cancel();
      }
    });
    this.#writing = turn;
  }

  #respondNow(request: InferenceRequest, { response, text, isFinal }: Answered): void {
    // Nothing may escape into the engine, which calls this while it runs other requests.
    try {
      this.#endIfClosing();
      if (response !== undefined) this.#add(response, text ?? (() => encodeGenerateResponse(response, request.id)));
      if (isFinal) this.#finish();
    } catch (thrown) {
      this.#fail(thrown);
      // Only now, as a model may answer its cancellation at once.
      request.cancel();
    }
  }

  fail(request: InferenceRequest, error: InferenceServerError): void {
    const hasRun = !this.#isIssuing || request.dispatchedMicros > 0;
    const end = () => (hasRun ? this.#fail(error) : this.#refuse(error));
    if (this.#writing === undefined) end();
    else void this.#writing.then(end);
  }

  /** The connection is gone. */
  closed(): void {
    if (this.#isOver) return;
    this.#end();
    this.#trace?.end();
    this.#answers.drop();
    this.#request?.cancel();
  }

  #generate(body: Buffer): void {
    if (this.#isOver) return;
    const { limits, beside } = this.#settings;
    if (beside === undefined || body.length <= BESIDE_FROM_BYTES) {
      this.#issue(() => decodeGenerateRequest({ target: this.#target, body, inputs: this.#modelInputs(), limits }));
      return;
    }
    const { bytes, transfer } = moved(body);
    const message = { target: this.#target, body: bytes, inputs: this.#modelInputs(), limits };
    runJsonTask({ kind: 'generate', message }, { ...beside, transfer }).then(
      (decoded) => this.#issue(() => decoded),
      (thrown: unknown) => this.#refuse(thrown),
    );
  }

  #issue(decode: () => InferenceRequestInit): void {
    if (this.#isOver) return;
    try {
      const decoded = decode();
      this.#request = new InferenceRequest(decoded, this.#trace?.watch(this) ?? this);
    } catch (thrown) {
      this.#refuse(thrown);
      return;
    }
    this.#isIssuing = true;
    this.#settings.engine.infer(this.#request);
    this.#isIssuing = false;
  }

  #beginTrace(): void {
    const { tracer } = this.#settings;
    const { headers } = this.#message;
    if (tracer?.isOn) this.#trace = tracer.begin({ protocol: 'http', ...this.#target, headers });
  }

  /** @throws {InferenceServerError} NOT_FOUND or UNAVAILABLE, as the engine says */
  #modelInputs() {
    return this.#settings.engine.modelMetadata(this.#target.modelName, this.#target.modelVersion).inputs;
  }

  /** The text of a response, made on a thread; undefined when it is short, or may not be written at all. Its tensors are copied before this returns. */
  #textBeside(response: InferenceResponse, id: string): Promise<Uint8Array> | undefined {
    const { beside, maxInputBytes } = this.#settings;
    const bytes = bytesOf(response);
    if (beside === undefined || bytes <= BESIDE_FROM_BYTES || bytes > maxInputBytes) return undefined;
    const { modelName, modelVersion, parameters } = response;
    const outputs = response.outputs.map((tensor) => ({ ...tensor, data: new Uint8Array(tensor.data) }));
    const transfer = outputs.map(({ data }) => data.buffer);
    const plain = { modelName, modelVersion, outputs, ...(parameters !== undefined && { parameters }) };
    return runJsonTask({ kind: 'generate-answer', response: plain, id }, { ...beside, transfer });
  }

  #add(response: InferenceResponse, made: Uint8Array | (() => string)): void {
    const release = () => response.release?.();
    let text: string | Uint8Array;
    try {
      const bytes = bytesOf(response);
      const { maxInputBytes } = this.#settings;
      if (bytes > maxInputBytes) throw tooLargeForJson(bytes, maxInputBytes);
      text = typeof made === 'function' ? made() : made;
    } catch (thrown) {
      release();
      throw thrown;
    }
    this.#trace?.sending();
    this.#answers.add(text, release);
  }

  #finish(): void {
    this.#answers.finish();
    this.#trace?.end();
    this.#end();
  }

  #fail(thrown: unknown): void {
    if (this.#isOver) return;
    this.#end();
    this.#endIfClosing();
    this.#trace?.sending();
    this.#answers.fail(thrown);
    this.#trace?.end(thrown);
  }

  #refuse(thrown: unknown): void {
    if (this.#isOver) return;
    this.#end();
    this.#endIfClosing();
    this.#trace?.sending();
    writeRefusal(thrown, { reply: this.#reply, settings: this.#settings });
    this.#trace?.end(thrown);
  }

  /** Nothing is left to do, nor to hear of the client. */
  #end(): void {
    this.#isOver = true;
    unwatchClient(this.#message.socket, this);
  }

  /** A server that closes ends its connections with their current answers. */
  #endIfClosing(): void {
    if (this.#state.isClosing) this.#reply.shouldKeepAlive = false;
  }
}
