import type { OutgoingHttpHeader } from 'node:http';

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
