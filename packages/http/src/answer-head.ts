import type { OutgoingHttpHeader, ServerResponse } from 'node:http';

export interface AnswerHead {
  /** Bytes of the body. */
  readonly contentLength: number;
  /** Bytes of its JSON header; undefined when the whole body is JSON. */
  readonly headerLength: number | undefined;
}

/** The head of an answer as `writeHead` takes it. */
export function headerList({ contentLength, headerLength }: AnswerHead): OutgoingHttpHeader[] {
  if (headerLength === undefined) return ['Content-Type', 'application/json', 'Content-Length', contentLength];
  return [
    'Content-Type',
    'application/octet-stream',
    'Inference-Header-Content-Length',
    headerLength,
    'Content-Length',
    contentLength,
  ];
}

/** A response with the text of its head, as Node keeps it until the first write. */
export interface WrittenResponse extends ServerResponse {
  _header?: unknown;
}

/**
 * Writes the heads of one server's good answers. On a connection that stays open, Node makes the same text for equal answers of the same second (it
 * holds the date): the text of the answer before is used again. Only for a server whose responses get no other headers.
 */
export class HeadWriter {
  #text: string | undefined;
  #second = 0;
  #contentLength = 0;
  #headerLength: number | undefined;

  write(reply: WrittenResponse, head: AnswerHead): void {
    const second = Math.floor(Date.now() / 1000);
    const isPlain = reply.shouldKeepAlive && reply.req.httpVersionMinor === 1;
    if (isPlain && this.#text !== undefined && this.#fits(head, second)) {
      reply._header = this.#text;
      return;
    }
    reply.writeHead(200, headerList(head));
    if (!isPlain || typeof reply._header !== 'string') return;
    this.#text = reply._header;
    this.#second = second;
    this.#contentLength = head.contentLength;
    this.#headerLength = head.headerLength;
  }

  #fits(head: AnswerHead, second: number): boolean {
    return (
      this.#second === second && this.#contentLength === head.contentLength && this.#headerLength === head.headerLength
    );
  }
}
