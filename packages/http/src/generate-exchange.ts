/**
 * One call of the generate extension, from the first byte to the last. Order of checks, the first failure wins: restriction, model, Content-Encoding, length of the body,
 * content, then the engine's own; what they refuse is answered as plain JSON. States: reading → running → answered; the client may go away in each of them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  InferenceRequest,
  type InferenceResponse,
  type InferenceServerError,
  type RequestOrigin,
  type RequestTrace,
  type Responder,
} from '@nereid/core';
import { decodeGenerateRequest, encodeGenerateResponse, type ModelTarget } from '@nereid/protocol';
import { type BodySink, readBody } from './body-reader.ts';
import { unwatchClient, type Watcher, watchClient } from './client-watch.ts';
import { type ContentEncoding, contentEncodingOf, decompress } from './encodings.ts';
import type { HttpError } from './errors.ts';
import { EventStream, type GenerateAnswers, OneDocument } from './generate-answers.ts';
import type { ServerState } from './infer-endpoint.ts';
import { loadHeader } from './load-metrics.ts';
import type { HttpSettings } from './options.ts';
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
    if (this.#isOver) {
      response?.release?.();
      return;
    }
    // Nothing may escape into the engine, which calls this while it runs other requests.
    try {
      this.#endIfClosing();
      if (response !== undefined) this.#add(response, request.id);
      if (final) this.#finish();
    } catch (thrown) {
      this.#fail(thrown);
      // Only now, as a model may answer its cancellation at once.
      request.cancel();
    }
  }

  fail(request: InferenceRequest, error: InferenceServerError): void {
    const hasRun = !this.#isIssuing || request.dispatchedMicros > 0;
    if (hasRun) this.#fail(error);
    else this.#refuse(error);
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
    try {
      const { limits } = this.#settings;
      const decoded = decodeGenerateRequest({ target: this.#target, body, inputs: this.#modelInputs(), limits });
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

  #add(response: InferenceResponse, id: string): void {
    const release = () => response.release?.();
    let text: string;
    try {
      text = encodeGenerateResponse(response, id);
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
