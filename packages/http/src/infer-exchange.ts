/**
 * One inference over HTTP, from the first byte to the last. Order of checks, the first failure wins: restriction and model (before this starts), Content-Encoding, length of the body, header
 * length, content, then the engine's own. States: reading → running → answered; the client may go away in each of them.
 */
import type { IncomingMessage } from 'node:http';
import {
  InferenceRequest,
  type InferenceResponse,
  type InferenceServerError,
  type RequestOrigin,
  type RequestTrace,
  type Responder,
  type SharedMemoryTensors,
  withBatch,
} from '@nereid/core';
import {
  type DecodedRequest,
  type EncodedMessage,
  type JobPlace,
  type ModelTarget,
  ResponseFormat,
} from '@nereid/protocol';
import { type Classification, withForwarded } from '@nereid/serving';
import { RequestMemory } from '@nereid/shared-memory';
import { headerList } from './answer-head.ts';
import { type BodySink, readBody } from './body-reader.ts';
import { unwatchClient, type Watcher, watchClient } from './client-watch.ts';
import type { Reply } from './direct-reply.ts';
import { acceptedEncoding, type ContentEncoding, compress, contentEncodingOf, decompress } from './encodings.ts';
import { HttpError, notOneResponse, tooLargeForJson } from './errors.ts';
import type { InferEndpoint, ServerState } from './infer-endpoint.ts';
import { BESIDE_FROM_BYTES } from './options.ts';
import { endsConnection, writeRefusal } from './refusal.ts';
import type { WholeRequest } from './request-head.ts';
import { writeMessage } from './write-message.ts';

export interface ExchangeInit {
  readonly endpoint: InferEndpoint;
  readonly request: IncomingMessage | WholeRequest;
  readonly response: Reply;
  readonly state: ServerState;
  readonly target: ModelTarget;
}

export class InferExchange implements Responder, BodySink, Watcher {
  readonly #endpoint: InferEndpoint;
  readonly #message: IncomingMessage | WholeRequest;
  readonly #reply: Reply;
  readonly #state: ServerState;
  readonly #target: ModelTarget;
  /** Undefined for requests that are not traced: nearly all. */
  #trace: RequestTrace | undefined;
  #contentEncoding: ContentEncoding = 'identity';
  #headerLength: number | undefined;
  #request: InferenceRequest | undefined;
  #format = ResponseFormat.binary;
  #tellsBatch = false;
  /** Undefined for requests that want no classes. */
  #classification: Classification | undefined;
  /** Undefined for requests that name no region. */
  #memory: RequestMemory | undefined;
  /** An answer of the model that is not the final one yet, or whose memory the socket still reads. */
  #held: InferenceResponse | undefined;
  #isAnswered = false;
  #isClosed = false;

  constructor(init: ExchangeInit) {
    this.#endpoint = init.endpoint;
    this.#message = init.request;
    this.#reply = init.response;
    this.#state = init.state;
    this.#target = init.target;
  }

  get origin(): RequestOrigin {
    return { protocol: 'http', address: this.#message.socket.remoteAddress };
  }

  /** Checks the head of the request and reads its body. */
  start(): void {
    const { headers } = this.#message;
    const { tracer } = this.#endpoint.settings;
    if (tracer?.isOn) this.#trace = tracer.begin({ protocol: 'http', ...this.#target, headers });
    try {
      watchClient(this.#message.socket, this);
      this.#contentEncoding = contentEncodingOf(headers['content-encoding']);
      this.#headerLength = headerLengthOf(headers['inference-header-content-length']);
      const tensorsAt = this.#headerLength ?? 0;
      readBody(this.#message, { maxBytes: this.#maxBytes(), tensorsAt, sink: this });
    } catch (thrown) {
      this.refuse(thrown);
    }
  }

  bodyRead(body: Buffer): void {
    this.#trace?.received();
    if (this.#contentEncoding === 'identity') {
      this.#infer(body);
      return;
    }
    decompress(body, this.#contentEncoding, this.#endpoint.settings.maxInputBytes).then(
      (inflated) => this.#infer(inflated),
      (error: unknown) => this.refuse(error),
    );
  }

  bodyRefused(error: HttpError): void {
    if (endsConnection(error, this.#message, this.#endpoint.settings)) this.#reply.shouldKeepAlive = false;
    this.refuse(error);
  }

  respond(_request: InferenceRequest, response: InferenceResponse | undefined, final: boolean): void {
    if (this.#isAnswered || this.#isClosed) {
      response?.release?.();
      return;
    }
    if (this.#held !== undefined && response !== undefined) {
      response.release?.();
      this.refuse(notOneResponse(this.#target.modelName));
      this.#request?.cancel();
      return;
    }
    const answer = response ?? this.#held;
    this.#held = answer;
    if (!final) return;
    if (answer === undefined) this.refuse(notOneResponse(this.#target.modelName));
    else this.#answer(answer);
  }

  fail(_request: InferenceRequest, error: InferenceServerError): void {
    this.refuse(error);
  }

  /** The answer was handed over whole, or the connection is gone. */
  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#trace?.end();
    this.#settle();
    if (!this.#isAnswered) this.#request?.cancel();
  }

  /** Binary parts may be as large as a body can be; everything else is bounded more tightly. */
  #maxBytes(): number {
    const { maxBodyBytes, maxInputBytes } = this.#endpoint.settings;
    const hasBinaryPart = this.#headerLength !== undefined && this.#headerLength !== 0;
    return hasBinaryPart && this.#contentEncoding === 'identity' ? maxBodyBytes : maxInputBytes;
  }

  #infer(body: Buffer): void {
    if (this.#isClosed || this.#isAnswered) return;
    if (this.#endpoint.isLong(body, this.#headerLength)) {
      this.#endpoint.decodeBeside(this.#target, body, this.#headerLength).then(
        (decoded) => this.#inferDecoded(() => decoded),
        (thrown: unknown) => this.#refuseContent(thrown),
      );
      return;
    }
    this.#inferDecoded(() => this.#endpoint.decode(this.#target, body, this.#headerLength));
  }

  #inferDecoded(decode: () => DecodedRequest): void {
    if (this.#isClosed || this.#isAnswered) return;
    const { engine, forwarding } = this.#endpoint.settings;
    try {
      let decoded = decode();
      if (forwarding !== undefined) decoded = withForwarded(decoded, forwarding.parametersOf(this.#message.rawHeaders));
      this.#format = decoded.format;
      this.#tellsBatch = decoded.tellsBatch;
      const { classes } = decoded;
      if (classes !== undefined) this.#classification = engine.classification(decoded, classes);
      if (decoded.sharedMemory !== undefined) {
        void this.#inferFromMemory(decoded, decoded.sharedMemory);
        return;
      }
      this.#request = new InferenceRequest(decoded, this.#trace?.watch(this) ?? this);
    } catch (thrown) {
      this.#refuseContent(thrown);
      return;
    }
    engine.infer(this.#request);
  }

  async #inferFromMemory(decoded: DecodedRequest, tensors: SharedMemoryTensors): Promise<void> {
    const { engine, sharedMemory } = this.#endpoint.settings;
    try {
      this.#memory = new RequestMemory(sharedMemory, tensors);
      const inputs = await this.#memory.readInputs(decoded.inputs);
      if (this.#isClosed) return;
      this.#request = new InferenceRequest({ ...decoded, inputs }, this.#trace?.watch(this) ?? this);
    } catch (thrown) {
      this.#refuseContent(thrown);
      return;
    }
    engine.infer(this.#request);
  }

  /** The model counts before the content: it may have gone since its path was remembered. */
  #refuseContent(thrown: unknown): void {
    try {
      this.#endpoint.assertServed(this.#target);
      this.refuse(thrown);
    } catch (gone) {
      this.refuse(gone);
    }
  }

  #answer(response: InferenceResponse): void {
    if (this.#memory === undefined) this.#send(response);
    else void this.#answerIntoMemory(response, this.#memory);
  }

  async #answerIntoMemory(response: InferenceResponse, memory: RequestMemory): Promise<void> {
    // Not to be released while the outputs are written, whatever becomes of the client.
    this.#held = undefined;
    let rest: InferenceResponse;
    try {
      rest = await memory.writeOutputs(response);
    } catch (thrown) {
      response.release?.();
      this.refuse(thrown);
      return;
    }
    if (this.#isClosed) {
      response.release?.();
      return;
    }
    this.#held = response;
    this.#send(rest);
  }

  #send(response: InferenceResponse): void {
    try {
      const classified = this.#classification?.apply(response) ?? response;
      const batch = this.#tellsBatch ? this.#request?.batch : undefined;
      const told = batch === undefined ? classified : withBatch(classified, batch);
      const jsonBytes = this.#format.jsonBytes(told);
      const { beside, maxInputBytes } = this.#endpoint.settings;
      if (jsonBytes > maxInputBytes) throw tooLargeForJson(jsonBytes, maxInputBytes);
      if (beside !== undefined && jsonBytes > BESIDE_FROM_BYTES) void this.#writeBeside(told, beside);
      else this.#writeEncoded(this.#format.encode(told, this.#request?.id ?? ''));
    } catch (thrown) {
      // Nothing may escape into the engine, which calls this while it runs other requests.
      this.#isAnswered = false;
      this.refuse(thrown);
    }
  }

  #writeEncoded(message: EncodedMessage): void {
    const encoding = acceptedEncoding(this.#message.headers['accept-encoding']);
    if (encoding === 'identity') this.#write(message);
    else void this.#writeCompressed(message, encoding);
  }

  /** What the model answered is held meanwhile, as its binary outputs are not copied. */
  async #writeBeside(told: InferenceResponse, beside: JobPlace): Promise<void> {
    this.#isAnswered = true;
    try {
      const message = await this.#format.encodeBeside(told, this.#request?.id ?? '', beside);
      if (!this.#isClosed) this.#writeEncoded(message);
    } catch (thrown) {
      this.#isAnswered = false;
      this.refuse(thrown);
    }
  }

  #write(message: EncodedMessage): void {
    this.#isAnswered = true;
    this.#trace?.sending();
    this.#endIfClosing();
    const isCopied = writeMessage(this.#reply, {
      message,
      sendTimeoutMs: this.#endpoint.settings.sendTimeoutMs,
    });
    if (isCopied) {
      this.#settle();
      this.#trace?.end();
    } else this.#reply.once('close', () => this.closed());
  }

  async #writeCompressed(message: EncodedMessage, encoding: Exclude<ContentEncoding, 'identity'>): Promise<void> {
    this.#isAnswered = true;
    try {
      const body = Buffer.concat([Buffer.from(message.header, 'latin1'), ...message.blobs], message.byteLength);
      this.#release();
      const compressed = await compress(body, encoding);
      if (this.#isClosed) return;
      this.#settle();
      this.#endIfClosing();
      this.#trace?.sending();
      const head = headerList({ headerLength: message.headerLength, contentLength: compressed.length });
      this.#reply.writeHead(200, [...head, 'Content-Encoding', encoding]);
      this.#reply.end(compressed);
      this.#trace?.end();
    } catch (thrown) {
      this.#isAnswered = false;
      this.refuse(thrown);
    }
  }

  /** A server that closes ends its connections with their current answers. */
  #endIfClosing(): void {
    if (this.#state.isClosing) this.#reply.shouldKeepAlive = false;
  }

  /** Answers with a failure, unless the request was answered already. */
  refuse(thrown: unknown): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#settle();
    this.#endIfClosing();
    this.#trace?.sending();
    writeRefusal(thrown, { reply: this.#reply, settings: this.#endpoint.settings });
    this.#trace?.end(thrown);
  }

  /** Nothing is left to do, nor to hear of the client. */
  #settle(): void {
    this.#release();
    this.#memory?.close();
    unwatchClient(this.#message.socket, this);
  }

  /** Gives the memory of the answer back, once. */
  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    held?.release?.();
  }
}

/** Digits beyond these are more bytes than any body has. */
const MAX_LENGTH_DIGITS = 15;

/** @throws {HttpError} `bad-header-length` for anything but decimal digits */
function headerLengthOf(value: string | string[] | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '' || value.length > MAX_LENGTH_DIGITS) throw badHeaderLength(value);
  let length = 0;
  for (let i = 0; i < value.length; i++) {
    const digit = value.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) throw badHeaderLength(value);
    length = length * 10 + digit;
  }
  return length;
}

function badHeaderLength(value: string | string[]): HttpError {
  return new HttpError(
    'bad-header-length',
    `inference header size should be in range of the body, a number of bytes, got '${String(value)}'`,
  );
}
