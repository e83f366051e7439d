/**
 * One HTTP exchange. Not `fetch`: that refuses some ports and gives up on a slow answer by itself.
 */
import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** For the whole of it. */
  readonly timeoutMs: number;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Rejects with Node's own error; after the timeout with one whose `name` is `AbortError`. */
export async function exchange(url: string, { method, headers = {}, body, timeoutMs }: Exchange): Promise<Reply> {
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  const signal = AbortSignal.timeout(timeoutMs);
  const length = body === undefined ? {} : { 'content-length': String(body.byteLength) };
  const request = send(url, { method, headers: { ...headers, ...length }, signal });
  const answered = once(request, 'response', { signal }) as Promise<[IncomingMessage]>;
  request.end(body);
  const [response] = await answered;
  const chunks: Uint8Array[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}
