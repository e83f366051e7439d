import type { IncomingHttpHeaders } from 'node:http';
import { encodeError } from '@nereid/protocol';
import { describeFailure } from './answer.ts';
import { headerList } from './answer-head.ts';
import { DirectReply, type Reply } from './direct-reply.ts';
import { SUPPORTED_ENCODINGS } from './encodings.ts';
import { HttpError } from './errors.ts';
import type { HttpSettings } from './options.ts';

/** Answers a request with a failure, unless its client is gone; cuts it off where an answer has begun. */
export function writeRefusal(
  thrown: unknown,
  { reply, settings }: { readonly reply: Reply; readonly settings: HttpSettings },
): void {
  const { status, message } = describeFailure(thrown, settings.logger);
  // An answer of Node's that waits behind another has no socket yet.
  const { socket } = reply instanceof DirectReply ? reply : reply.req;
  if (socket.destroyed) return;
  if (reply.headersSent) {
    reply.destroy();
    return;
  }
  const body = encodeError(message);
  const head = headerList({ headerLength: undefined, contentLength: Buffer.byteLength(body) });
  if (status === 503) head.push('Retry-After', settings.retryAfterSeconds);
  if (thrown instanceof HttpError && thrown.reason === 'unsupported-encoding') {
    head.push('Accept-Encoding', SUPPORTED_ENCODINGS);
  }
  reply.writeHead(status, head);
  reply.end(body);
}

/**
 * Whether the connection ends with the refusal of a body. Node reads the rest and drops it, so that a client that sends before it listens gets its answer;
 * beyond reason it does not.
 */
export function endsConnection(
  error: HttpError,
  { headers }: { readonly headers: IncomingHttpHeaders },
  { maxBodyBytes }: HttpSettings,
): boolean {
  return error.reason === 'too-many-chunks' || Number(headers['content-length'] ?? 0) > maxBodyBytes;
}
