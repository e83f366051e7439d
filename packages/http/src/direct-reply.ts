import { EventEmitter } from 'node:events';
import { type OutgoingHttpHeader, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type AnswerHead, headerList } from './answer-head.ts';

/** The connection that an answer leaves on. */
export interface AnswerPlace {
  readonly socket: Socket;
  readonly heads: DirectHeads;
  /** From now on the socket's timeout is that of an answer which the client takes. */
  limited(): void;
  /** The answer has left the process, or, if it is small, was given to the socket. */
  answered(isLast: boolean): void;
}

/** What an exchange answers through. */
export type Reply = ServerResponse | DirectReply;

type Part = readonly [chunk: string | Uint8Array, encoding: BufferEncoding | undefined];

/** An answer on a connection that is read directly. What is written leaves at its end. */
export class DirectReply extends EventEmitter {
  shouldKeepAlive = true;
  headersSent = false;
  readonly socket: Socket;
  readonly #place: AnswerPlace;
  readonly #parts: Part[] = [];

  constructor(place: AnswerPlace) {
    super();
    this.socket = place.socket;
    this.#place = place;
  }

  writeHead(status: number, headers: OutgoingHttpHeader[]): void {
    this.headersSent = true;
    this.#parts.push([this.#place.heads.text({ status, headers, staysOpen: this.shouldKeepAlive }), 'latin1']);
  }

  write(chunk: string | Uint8Array, encoding?: BufferEncoding): void {
    this.#parts.push([chunk, encoding]);
  }

  /** Nothing leaves before the end anyway. */
  cork(): void {}

  end(chunk?: string | Uint8Array, encoding?: BufferEncoding): void {
    if (chunk !== undefined) this.write(chunk, encoding);
    const { socket } = this;
    const last = this.#parts.length - 1;
    socket.cork();
    const left = () => this.#left();
    for (const [i, [part, partEncoding]] of this.#parts.entries())
      socket.write(part, partEncoding, i === last ? left : undefined);
    socket.uncork();
  }

  /** A good answer whose body has one character per byte. */
  endInOneWrite(head: AnswerHead, body: string): void {
    this.headersSent = true;
    const staysOpen = this.shouldKeepAlive;
    this.socket.write(this.#place.heads.good(head, staysOpen) + body, 'latin1');
    this.#place.answered(!staysOpen);
  }

  /** Closes the connection when the client takes nothing of what was written for so long. */
  limitSending(timeoutMs: number): void {
    if (this.socket.writableLength === 0) return;
    this.socket.setTimeout(timeoutMs);
    this.#place.limited();
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Also called when the connection is gone. */
  #left(): void {
    this.emit('close');
    this.#place.answered(!this.shouldKeepAlive);
  }
}

export interface HeadParts {
  readonly status: number;
  /** Names and values by turns. */
  readonly headers: readonly OutgoingHttpHeader[];
  /** Whether the connection does. */
  readonly staysOpen: boolean;
}

/** Writes the heads of answers as Node does. The text of the good answer before is used again for an equal one of the same second. */
export class DirectHeads {
  /** What a connection that stays says of itself. */
  readonly connectionHeaders: readonly (readonly [name: string, value: string])[];
  readonly #stays: string;
  #second = Number.NaN;
  #date = '';
  #good = '';
  #contentLength = Number.NaN;
  #headerLength: number | undefined;
  #staysOpen = true;

  /** @param keepAliveTimeoutMs  what clients are told; 0 says nothing */
  constructor(keepAliveTimeoutMs: number) {
    const hint = ['Keep-Alive', `timeout=${Math.floor(keepAliveTimeoutMs / 1000)}`] as const;
    this.connectionHeaders = [['Connection', 'keep-alive'], ...(keepAliveTimeoutMs === 0 ? [] : [hint])];
    this.#stays = this.connectionHeaders.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  }

  text({ status, headers, staysOpen }: HeadParts): string {
    this.#tick();
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
    return `${text}Date: ${this.#date}\r\n${staysOpen ? this.#stays : 'Connection: close\r\n'}\r\n`;
  }

  /** The head of an answer with status 200. */
  good(head: AnswerHead, staysOpen: boolean): string {
    const { contentLength, headerLength } = head;
    const isKnown =
      !this.#tick() &&
      this.#contentLength === contentLength &&
      this.#headerLength === headerLength &&
      this.#staysOpen === staysOpen;
    if (isKnown) return this.#good;
    this.#contentLength = contentLength;
    this.#headerLength = headerLength;
    this.#staysOpen = staysOpen;
    this.#good = this.text({ status: 200, headers: headerList(head), staysOpen });
    return this.#good;
  }

  /** @returns whether another second has begun */
  #tick(): boolean {
    const second = Math.floor(Date.now() / 1000);
    if (second === this.#second) return false;
    this.#second = second;
    this.#date = new Date(second * 1000).toUTCString();
    this.#contentLength = Number.NaN;
    return true;
  }
}
