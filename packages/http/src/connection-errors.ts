/** What a client is told whose bytes are no request of HTTP, or do not come in time. Its connection is closed: where the next request begins, nobody knows. */
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** Errors of Node's HTTP parser have the reason in words. */
interface ParseError extends NodeJS.ErrnoException {
  readonly reason?: string;
}

interface Limits {
  readonly maxHeadBytes: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

/** Answers broken requests in the form of all other errors. Must be asked before fastify attaches its own answer, which is of another form. */
export function answerBrokenRequests(server: Server, limits: Limits): void {
  server.on('clientError', (error: ParseError, socket: Duplex) => {
    if (socket.writable && error.code !== 'ECONNRESET') {
      const { status, message } = refusalOf(error, limits);
      const body = JSON.stringify({ error: message });
      socket.write(
        `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    }
    socket.destroy();
  });
}

function refusalOf(
  { code, reason }: ParseError,
  limits: Limits,
): { readonly status: string; readonly message: string } {
  const { maxHeadBytes, headersTimeoutMs, requestTimeoutMs } = limits;
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: '431 Request Header Fields Too Large',
        message: `the head of the request has more than ${maxHeadBytes} bytes, which is the limit. Send fewer or shorter headers, or raise --http-max-head-size`,
      };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return {
        status: '413 Payload Too Large',
        message:
          'the chunks of the body have extensions of more than 16384 bytes, which is the limit. Send chunks without extensions',
      };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return {
        status: '408 Request Timeout',
        message: `the request did not come in time: its head must be there within ${headersTimeoutMs} ms (--http-headers-timeout-ms), its body within ${requestTimeoutMs} ms (--http-request-timeout-ms)`,
      };
    default:
      return {
        status: '400 Bad Request',
        message: `what came is no request of HTTP/1.1${reason === undefined ? '' : `: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`}`,
      };
  }
}
