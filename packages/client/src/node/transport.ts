/**
 * HTTP of Node.js itself. Over `fetch` it has that pieces of a body are not joined, that no port is refused, that the only deadline is that of the call, TLS with
 * certificates of its own, and sockets in the file system.
 */
import { once } from 'node:events';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import type { HttpExchange, HttpReply, HttpTransport } from '../http/transport.ts';

export interface TlsOptions {
  /** Authorities whose certificates are taken, PEM text. Default: those that Node knows. */
  readonly ca?: string | undefined;
  /** Certificate and key of the client, PEM text, for servers that want one. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface NodeTransportOptions {
  readonly tls?: TlsOptions | undefined;
  /** Connections at a time; further exchanges wait for one. Default: no limit. */
  readonly maxConnections?: number | undefined;
  /** A socket in the file system that is called whatever the URL says. */
  readonly socketPath?: string | undefined;
}

/** Keeps connections alive; `close` ends them. */
export function nodeTransport(options: NodeTransportOptions = {}): HttpTransport {
  const { tls = {}, maxConnections = Number.POSITIVE_INFINITY, socketPath } = options;
  const shared = { keepAlive: true, noDelay: true, maxSockets: maxConnections };
  const plain = new HttpAgent(shared);
  const secure = new HttpsAgent({ ...shared, ...tls });
  return {
    send: async ({ method, url, headers, body, signal }: HttpExchange): Promise<HttpReply> => {
      const isSecure = url.startsWith('https:');
      const request = (isSecure ? requestHttps : requestHttp)(url, {
        method,
        headers: { ...headers, ...(method === 'POST' && { 'content-length': lengthOf(body) }) },
        agent: isSecure ? secure : plain,
        signal,
        ...(socketPath !== undefined && { socketPath }),
      });
      // After the response, what goes wrong is thrown by whoever reads its body.
      request.on('error', () => {});
      const answered = once(request, 'response') as Promise<[IncomingMessage]>;
      request.cork();
      for (const piece of body) request.write(piece);
      request.end();
      const [response] = await answered;
      return replyOf(response);
    },
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

function lengthOf(pieces: readonly Uint8Array[]): string {
  return String(pieces.reduce((size, piece) => size + piece.byteLength, 0));
}

function replyOf(response: IncomingMessage): HttpReply {
  const body = () => decompressed(response);
  return {
    status: response.statusCode ?? 0,
    header: (name) => {
      const value = response.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    bytes: async () => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of body()) chunks.push(chunk);
      const [only] = chunks;
      return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
    },
    chunks: body,
  };
}

function decompressed(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding'];
  if (encoding !== 'gzip' && encoding !== 'deflate') return response;
  // What goes wrong is thrown by whoever reads the result.
  return pipeline(response, encoding === 'gzip' ? createGunzip() : createInflate(), () => {});
}
