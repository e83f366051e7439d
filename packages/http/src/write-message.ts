import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { EncodedMessage } from '@nereid/protocol';

/** Messages up to this size become one byte string, which Node joins with the head: cheaper than several pieces, and the tensors are free at once. */
const COPY_UP_TO_BYTES = 4096;

export interface OutgoingMessage {
  readonly headers: OutgoingHttpHeader[];
  readonly message: EncodedMessage;
  /** See `NereidHttpOptions.sendTimeoutMs`. */
  readonly sendTimeoutMs: number;
}

/**
 * Writes an answer: head, JSON header and blobs leave together.
 * @returns whether the blobs were copied; else they are read until the response closes
 */
export function writeMessage(reply: ServerResponse, { headers, message, sendTimeoutMs }: OutgoingMessage): boolean {
  reply.writeHead(200, headers);
  const { header, blobs, byteLength } = message;
  if (blobs.length === 0) {
    reply.end(header, 'latin1');
  } else if (byteLength <= COPY_UP_TO_BYTES) {
    reply.end(joined(message), 'latin1');
    return true;
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
function limitSending(reply: ServerResponse, timeoutMs: number): void {
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
