/** How the responses of a model reach the client of a generate call: one JSON document, or server-sent events. */
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { encodeError } from '@nereid/protocol';
import { describeFailure } from './answer.ts';
import { headerList } from './answer-head.ts';
import { HttpError } from './errors.ts';
import type { HttpSettings } from './options.ts';
import { writeRefusal } from './refusal.ts';
import { limitSending } from './write-message.ts';

/** Takes what a model answers. Each method but `add` ends the answer; none is called after that. */
export interface GenerateAnswers {
  /**
   * One response.
   * @param text  JSON as a byte string, or its bytes
   * @param release  called once, when the client has room for more: a model makes no further responses while many are not released
   * @throws {HttpError} when the client is not to be given any more of them
   */
  add(text: string | Uint8Array, release: () => void): void;
  /** There are no more. @throws {HttpError} when there should have been others */
  finish(): void;
  /** The model failed, or the client is not to be given what it answered. */
  fail(thrown: unknown): void;
  /** The client is gone. */
  drop(): void;
}

interface AnswersInit {
  readonly reply: ServerResponse;
  /** Further headers of a good answer, as `writeHead` takes them. */
  readonly further: () => readonly string[];
  readonly settings: HttpSettings;
}

/** `generate`: exactly one response, or an error. */
export class OneDocument implements GenerateAnswers {
  readonly #init: AnswersInit;
  #text: string | Uint8Array | undefined;

  constructor(init: AnswersInit) {
    this.#init = init;
  }

  add(text: string | Uint8Array, release: () => void): void {
    release();
    if (this.#text !== undefined) throw notOne('more than one');
    this.#text = text;
  }

  finish(): void {
    if (this.#text === undefined) throw notOne('none');
    const { reply, settings, further } = this.#init;
    const head = headerList({ headerLength: undefined, contentLength: this.#text.length });
    reply.writeHead(200, [...head, ...further()]);
    reply.end(this.#text, 'latin1');
    limitSending(reply, settings.sendTimeoutMs);
  }

  fail(thrown: unknown): void {
    writeRefusal(thrown, this.#init);
  }

  drop(): void {}
}

function notOne(found: string): HttpError {
  return new HttpError(
    'not-one-response',
    `generate expects model to produce exactly 1 response, it produced ${found}; use generate_stream`,
  );
}

/**
 * `generate_stream`: an event per response, `data: <JSON>` and an empty line; a failure is an event too, and the last. The status is that of the first
 * event. The end of the body is the end: there is no mark.
 */
export class EventStream implements GenerateAnswers {
  readonly #reply: ServerResponse;
  readonly #settings: HttpSettings;
  readonly #further: () => readonly string[];
  /** Responses that the client has not taken: their memory goes back when it has. */
  #unread: (() => void)[] = [];

  constructor({ reply, settings, further }: AnswersInit) {
    this.#reply = reply;
    this.#further = further;
    this.#settings = settings;
  }

  add(text: string | Uint8Array, release: () => void): void {
    this.#start(200);
    if (this.#writeEvent(text)) release();
    else this.#holdBack(release);
  }

  /** Whether the client has room for more. */
  #writeEvent(text: string | Uint8Array): boolean {
    if (typeof text === 'string') return this.#reply.write(event(text), 'latin1');
    this.#reply.write(EVENT_START);
    this.#reply.write(text);
    return this.#reply.write(EVENT_END);
  }

  finish(): void {
    this.#start(200);
    this.#end();
  }

  fail(thrown: unknown): void {
    const { status, message } = describeFailure(thrown, this.#settings.logger);
    this.#start(status);
    if (this.#isFlooded) {
      // What waits is not being read; behind it an event would never be.
      this.drop();
      this.#reply.destroy();
    } else {
      this.#end(event(encodeError(message)));
    }
  }

  drop(): void {
    for (const release of this.#unread.splice(0)) release();
  }

  #start(status: number): void {
    if (this.#reply.headersSent) return;
    const further = status === 200 ? this.#further() : [];
    this.#reply.writeHead(status, ['Content-Type', 'text/event-stream; charset=utf-8', ...further]);
  }

  #end(last?: string): void {
    this.drop();
    this.#reply.end(last);
    limitSending(this.#reply, this.#settings.sendTimeoutMs);
  }

  get #isFlooded(): boolean {
    return this.#reply.writableLength > this.#settings.maxWaitingBytes;
  }

  /** A client that does not keep up holds the model back; it may take its time, but some bytes now and then, and a model that goes on is stopped. */
  #holdBack(release: () => void): void {
    this.#unread.push(release);
    const { maxWaitingBytes, sendTimeoutMs } = this.#settings;
    if (this.#isFlooded)
      throw new HttpError('slow-reader', `the client reads too slowly: more than ${maxWaitingBytes} bytes wait for it`);
    if (this.#unread.length > 1) return;
    const { socket } = this.#reply;
    const isTimed = sendTimeoutMs > 0 && socket instanceof Socket;
    if (isTimed) socket.setTimeout(sendTimeoutMs);
    this.#reply.once('drain', () => {
      if (isTimed) socket.setTimeout(0);
      this.drop();
    });
  }
}

const EVENT_START = 'data: ';
const EVENT_END = '\n\n';

function event(text: string): string {
  return EVENT_START + text + EVENT_END;
}
