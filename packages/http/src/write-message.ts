import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { EncodedMessage } from '@nereid/protocol';
import { type HeadWriter, headerList, type WrittenResponse } from './answer-head.ts';

/** Messages up to this size become one byte string, which Node joins with the head: cheaper than several pieces, and the tensors are free at once. */
const COPY_UP_TO_BYTES = 4096;

export interface OutgoingMessage {
  /** Where the response gets no headers but these; else undefined. */
  readonly heads: HeadWriter | undefined;
  readonly message: EncodedMessage;
  /** See `NereidHttpOptions.sendTimeoutMs`. */
  readonly sendTimeoutMs: number;
}

/**
 * Writes an answer: head, JSON header and blobs leave together.
 * @returns whether the blobs were copied; else they are read until the response closes
 */
export function writeMessage(reply: ServerResponse, { heads, message, sendTimeoutMs }: OutgoingMessage): boolean {
  const { header, blobs, byteLength, headerLength } = message;
  const head = { contentLength: byteLength, headerLength };
  if (heads === undefined) reply.writeHead(200, headerList(head));
  else heads.write(reply, head);
  if (byteLength <= COPY_UP_TO_BYTES) {
    endInOneWrite(reply, joined(message));
    return true;
  }
  if (blobs.length === 0) {
    reply.end(header, 'latin1');
  } else {
    reply.cork();
    reply.write(header, 'latin1');
    for (const blob of blobs) reply.write(blob);
    reply.end();
  }
  limitSending(reply, sendTimeoutMs);
  return blobs.length === 0;
}

/**
 * Ends the response with a body of one character per byte. `end(body)` gives the socket two pieces, the second one empty, and so takes the way of
 * several; a body behind the head in Node's own string takes the short way of one. Without such a string or a connection of Node's, `end` it is.
 */
function endInOneWrite(reply: WrittenResponse, body: string): void {
  if (typeof reply._header === 'string' && reply.socket instanceof Socket) {
    reply._header += body;
    reply.end();
  } else {
    reply.end(body, 'latin1');
  }
}

function joined({ header, blobs }: EncodedMessage): string {
  let text = header;
  for (const blob of blobs) text += latin1(blob);
  return text;
}

function latin1(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('latin1');
}

/** Closes the connection of a client that takes nothing of its answer for a while. Small answers fit the kernel's buffers and need no watch. */
export function limitSending(reply: ServerResponse, timeoutMs: number): void {
  if (timeoutMs === 0) return;
  const { socket } = reply;
  if (socket === null) {
    reply.once('socket', () => limitSending(reply, timeoutMs));
    return;
  }
  // A server under test may write to something that is no connection.
  if (!(socket instanceof Socket) || socket.writableLength === 0) return;
  socket.setTimeout(timeoutMs);
  // Before Node's own listener, which arms the keep-alive timeout.
  reply.prependListener('finish', () => socket.setTimeout(0));
}
