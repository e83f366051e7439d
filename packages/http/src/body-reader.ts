/**
 * Reads a request body with as few copies as can be: one piece stays what it is, a view of what the socket read; of several, each is copied once into a
 * buffer of the announced length. Listeners are shared functions that find their reader on the message: a request costs no closure and no promise.
 */
import { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageMemory } from '@nereid/core';
import { HttpError } from './errors.ts';
import { SIZE_ADVICE } from './options.ts';
import { WholeRequest } from './request-head.ts';

/** Receives the body, or why there is none. Neither is called when the client goes away first. */
export interface BodySink {
  bodyRead(body: Buffer): void;
  bodyRefused(error: HttpError): void;
}

export interface ReadJob {
  readonly maxBytes: number;
  /** Last sentence of the refusal of a longer body. Default: which flag raises the limit. */
  readonly advice?: string;
  /** Where in the body the tensors begin: of a body in pieces they are laid aligned. Default 0. */
  readonly tensorsAt?: number;
  readonly sink: BodySink;
}

const READER = Symbol('body reader');

interface ReadMessage extends IncomingMessage {
  [READER]?: BodyReader | undefined;
}

/** A chunked body may have this many pieces of any size; more only while they are not tiny. */
const MAX_TINY_PIECES = 65_536;
const TINY_BYTES = 1024;

/** Chunks that are taken in one turn of the event loop, beside those that were read already. */
const MAX_IN_TURN = 1024;

/** Bytes of a chunked body that are joined in one turn of the event loop. */
const JOIN_BYTES = 8 * 1024 * 1024;

const EMPTY = Buffer.alloc(0);

/** Starts to read; the sink may be called before this returns, when nothing is to come. */
export function readBody(message: IncomingMessage | WholeRequest, job: ReadJob): void {
  if (message instanceof WholeRequest) {
    const { body } = message;
    if (body.length > job.maxBytes) job.sink.bodyRefused(tooLarge(`has ${body.length} bytes`, job));
    else job.sink.bodyRead(body);
    return;
  }
  if (message.headers['transfer-encoding'] !== undefined) {
    start(message, new BodyReader(job, { message, expected: undefined }));
    return;
  }
  const expected = Number(message.headers['content-length'] ?? 0);
  if (expected > job.maxBytes) job.sink.bodyRefused(tooLarge(`has ${expected} bytes`, job));
  else if (expected === 0) job.sink.bodyRead(EMPTY);
  else start(message, new BodyReader(job, { message, expected }));
}

function start(message: ReadMessage, reader: BodyReader): void {
  message[READER] = reader;
  if (message instanceof DirectMessage && isUntouched(message)) return;
  message.on('data', onData);
  if (reader.readsToTheEnd) message.on('end', onEnd);
}

/** Whether no byte has come yet and nobody else listens. */
function isUntouched(message: IncomingMessage): boolean {
  return message.readableLength === 0 && message.readableFlowing === null && !message.complete;
}

function onData(this: ReadMessage, piece: Buffer): void {
  this[READER]?.take(piece);
}

function onEnd(this: ReadMessage): void {
  this[READER]?.end();
}

/**
 * A request whose body goes from the parser straight to its reader, past the queue of the stream: a few microseconds less per request. Whoever reads it as a
 * stream, without `readBody`, finds an ordinary one.
 */
export class DirectMessage extends IncomingMessage {
  [READER]: BodyReader | undefined;
  /** Whether the whole body went to its reader. */
  isRead = false;
  /** Node's own mark of a body that somebody takes care of; without it the stream is emptied after the answer. */
  declare _consuming: boolean;

  override push(piece: Buffer | null): boolean {
    const reader = this[READER];
    if (reader === undefined || this.readableFlowing !== null) return super.push(piece);
    if (piece !== null) {
      reader.take(piece);
      return true;
    }
    reader.end();
    this.isRead = true;
    this._consuming = true;
    return true;
  }
}

// What was read past the stream needs no end of it. (A property to TypeScript, an accessor in fact: so it cannot be overridden in the class.)
Object.defineProperty(DirectMessage.prototype, 'readableEnded', {
  get(this: DirectMessage): boolean {
    return this.isRead || Reflect.get(IncomingMessage.prototype, 'readableEnded', this);
  },
});

class BodyReader {
  readonly #job: ReadJob;
  readonly #message: IncomingMessage;
  readonly #expected: number | undefined;
  /** Chunks that came in this turn of the event loop. */
  #inTurn = 0;
  /** Of the announced length; made when a second piece is to come. */
  #whole: Buffer | undefined;
  #pieces: Buffer[] = [];
  #received = 0;
  #isDone = false;

  /** @param body.expected  announced length; undefined for a chunked body */
  constructor(job: ReadJob, body: { readonly message: IncomingMessage; readonly expected: number | undefined }) {
    this.#job = job;
    this.#message = body.message;
    this.#expected = body.expected;
  }

  /** Only the end tells that a chunked body is complete; the others are with their last byte. */
  get readsToTheEnd(): boolean {
    return this.#expected === undefined;
  }

  take(piece: Buffer): void {
    if (this.#isDone) return;
    if (this.#expected === undefined) this.#takeChunked(piece);
    else this.#takeAnnounced(piece, this.#expected);
  }

  end(): void {
    if (this.#isDone || !this.readsToTheEnd) return;
    const [only] = this.#pieces;
    if (this.#pieces.length === 1 && only !== undefined) this.#finish(only);
    else if (this.#received <= JOIN_BYTES) this.#finish(Buffer.concat(this.#pieces, this.#received));
    else void this.#join();
  }

  /** Joins many bytes in several turns of the event loop: copying a gigabyte at once would hold up everybody. */
  async #join(): Promise<void> {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#isDone = true;
    const whole = messageMemory(Buffer.allocUnsafeSlow, this.#received, this.#job.tensorsAt);
    let at = 0;
    let turnsAt = JOIN_BYTES;
    for (const piece of pieces) {
      at += piece.copy(whole, at);
      if (at < turnsAt) continue;
      turnsAt += JOIN_BYTES;
      await nextTurn();
    }
    this.#job.sink.bodyRead(whole);
  }

  #takeAnnounced(piece: Buffer, expected: number): void {
    if (piece.length === expected) {
      this.#finish(piece);
      return;
    }
    this.#whole ??= messageMemory(Buffer.allocUnsafeSlow, expected, this.#job.tensorsAt);
    piece.copy(this.#whole, this.#received);
    this.#received += piece.length;
    if (this.#received === expected) this.#finish(this.#whole);
  }

  #takeChunked(piece: Buffer): void {
    this.#received += piece.length;
    if (this.#received > this.#job.maxBytes) {
      this.#refuse(tooLarge('is longer', this.#job));
      return;
    }
    this.#pieces.push(piece);
    if (++this.#inTurn === MAX_IN_TURN) this.#yield();
    const { length } = this.#pieces;
    if (length > MAX_TINY_PIECES && this.#received < length * TINY_BYTES) this.#refuse(tooManyChunks());
  }

  /** Lets others have a turn: a socket gives up to two megabytes in one, which may be hundreds of thousands of chunks. */
  #yield(): void {
    const { socket } = this.#message;
    socket.pause();
    setImmediate(() => {
      this.#inTurn = 0;
      socket.resume();
    });
  }

  #finish(body: Buffer): void {
    this.#isDone = true;
    this.#pieces = [];
    this.#job.sink.bodyRead(body);
  }

  #refuse(error: HttpError): void {
    this.#isDone = true;
    this.#pieces = [];
    this.#job.sink.bodyRefused(error);
  }
}

function tooLarge(found: string, { maxBytes, advice = SIZE_ADVICE }: ReadJob): HttpError {
  return new HttpError('body-too-large', `the request body ${found}, more than the limit of ${maxBytes}. ${advice}`);
}

function tooManyChunks(): HttpError {
  return new HttpError(
    'too-many-chunks',
    `the request body has more than ${MAX_TINY_PIECES} chunks, most of them tiny`,
  );
}
