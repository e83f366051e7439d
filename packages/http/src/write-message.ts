import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { EncodedMessage } from '@nereid/protocol';

/** Messages up to this size are copied into one piece: cheaper than a system call's vector, and the tensors are free at once. */
const COPY_UP_TO_BYTES = 8192;

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
    reply.end(joined(message));
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

function joined({ header, blobs, byteLength }: EncodedMessage): Buffer {
  const bytes = Buffer.allocUnsafe(byteLength);
  let offset = bytes.write(header, 'latin1');
  for (const blob of blobs) {
    bytes.set(blob, offset);
    offset += blob.byteLength;
  }
  return bytes;
}

/** Closes the connection of a client that takes nothing of its answer for a while. Small answers fit the kernel's buffers and need no watch. */
function limitSending(reply: ServerResponse, timeoutMs: number): void {
  if (timeoutMs === 0) return;
  const { socket } = reply;
  if (socket === null) {
    reply.once('socket', () => limitSending(reply, timeoutMs));
    return;
  }
  if (socket.writableLength === 0) return;
  socket.setTimeout(timeoutMs);
  // Before Node's own listener, which arms the keep-alive timeout.
  reply.prependListener('finish', () => socket.setTimeout(0));
}
