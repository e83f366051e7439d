import { Socket } from 'node:net';
import type { EncodedMessage } from '@nereid/protocol';
import { headerList } from './answer-head.ts';
import { DirectReply, type Reply } from './direct-reply.ts';

/** Messages up to this size become one byte string: cheaper than several pieces, and the tensors are free at once. */
const COPY_UP_TO_BYTES = 4096;

export interface OutgoingMessage {
  readonly message: EncodedMessage;
  /** See `NereidHttpOptions.sendTimeoutMs`. */
  readonly sendTimeoutMs: number;
}

/**
 * Writes an answer: head, JSON header and blobs leave together.
 * @returns whether the blobs were copied; else they are read until the response closes
 */
export function writeMessage(reply: Reply, { message, sendTimeoutMs }: OutgoingMessage): boolean {
  const { header, blobs, byteLength, headerLength } = message;
  const head = { contentLength: byteLength, headerLength };
  const isSmall = byteLength <= COPY_UP_TO_BYTES;
  if (isSmall && reply instanceof DirectReply) {
    reply.endInOneWrite(head, joined(message));
    return true;
  }
  reply.writeHead(200, headerList(head));
  if (isSmall) {
    reply.end(joined(message), 'latin1');
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
export function limitSending(reply: Reply, timeoutMs: number): void {
  if (timeoutMs === 0) return;
  if (reply instanceof DirectReply) {
    reply.limitSending(timeoutMs);
    return;
  }
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
