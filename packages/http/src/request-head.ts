/** Heads of requests that are read without Node's parser: only those that leave nothing to interpret. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/** What a head says, shared by all requests that have the same bytes: nobody can change it. */
export interface RequestHead {
  readonly method: 'GET' | 'POST';
  /** As it stands in the request line: a path, perhaps with a query. */
  readonly url: string;
  /** By names in lower case; every name occurs once. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Names and values by turns, as they came. */
  readonly rawHeaders: readonly string[];
  /** Bytes of the head, with the empty line. */
  readonly byteLength: number;
  /** Bytes of the body. */
  readonly contentLength: number;
}

/** A request of which everything is there. */
export class WholeRequest {
  readonly socket: Socket;
  readonly #head: RequestHead;
  readonly body: Buffer;

  constructor(socket: Socket, head: RequestHead, body: Buffer) {
    this.socket = socket;
    this.#head = head;
    this.body = body;
  }

  get headers(): IncomingHttpHeaders {
    return this.#head.headers;
  }

  get rawHeaders(): readonly string[] {
    return this.#head.rawHeaders;
  }
}

const REQUEST_LINE = /^(GET|POST) (\/[!-~]*) HTTP\/1\.1$/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t -~]*$/;
const DIGITS = /^\d{1,9}$/;
const MAX_HEADERS = 100;

/** They say something of the connection, or of how the body comes. */
const NOT_TAKEN = new Set([
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Reads the text of a head, without its empty line: a GET without a body or a POST with `Content-Length`, of HTTP/1.1, for a path, with `Host`, no name twice, printable
 * ASCII only, no folded lines, and a connection that stays.
 * @returns undefined for any other, which may be as good: that is for a parser of all of HTTP to say
 */
export function readHead(text: string): RequestHead | undefined {
  const [top = '', ...lines] = text.split('\r\n');
  const [, method, url] = REQUEST_LINE.exec(top) ?? [];
  if ((method !== 'GET' && method !== 'POST') || url === undefined || lines.length > MAX_HEADERS) return undefined;
  const headers: IncomingHttpHeaders = {};
  const rawHeaders: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(':');
    const [name, value] = [line.slice(0, Math.max(colon, 0)), line.slice(colon + 1).trim()];
    const key = name.toLowerCase();
    if (!NAME.test(name) || !VALUE.test(value) || NOT_TAKEN.has(key) || Object.hasOwn(headers, key)) return undefined;
    Object.defineProperty(headers, key, { value, enumerable: true, writable: true, configurable: true });
    rawHeaders.push(name, value);
  }
  const contentLength = lengthOf(method, headers['content-length']);
  const isStaying = (headers.connection ?? 'keep-alive').toLowerCase() === 'keep-alive';
  if (contentLength === undefined || !isStaying || !headers.host) return undefined;
  Object.freeze(headers);
  Object.freeze(rawHeaders);
  return { method, url, headers, rawHeaders, byteLength: text.length + 4, contentLength };
}

function lengthOf(method: 'GET' | 'POST', header: string | undefined): number | undefined {
  if (method === 'GET') return header === undefined ? 0 : undefined;
  return header !== undefined && DIGITS.test(header) ? Number(header) : undefined;
}
