/** Header lists of requests: what makes one malformed, and the limits on it. Source: RFC 9113, 8.2 and 8.3. */
import { H2, StreamFault } from './faults.ts';
import type { HpackDecoder } from './hpack/decoder.ts';
import { fieldBytes } from './hpack/static-table.ts';

/** Metadata of a call and its pseudo-headers, by name in lower case. The values of a repeated one are joined by a comma. Never changed: calls may share it. */
export type RequestHeaders = Readonly<Record<string, string | undefined>>;

export interface HeaderList {
  readonly headers: RequestHeaders;
  /** What is wrong with the list wherever it stands, if anything is. */
  readonly flaw: string | undefined;
  /** Why it is not that of a request, if it is not. */
  readonly requestFlaw: string | undefined;
  /** Whether it was longer than the limit; the rest was left out. */
  readonly isTooLarge: boolean;
}

/** Longest block that is kept to be recognised. */
const KEPT_BLOCK_BYTES = 1024;

const NAME = /^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const VALUE_FLAW = /[\0\r\n]|^[ \t]|[ \t]$/;
const REQUEST_PSEUDO_HEADERS = new Set([':method', ':scheme', ':authority', ':path']);
const OF_A_CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

/** Reads the blocks of one connection. A client repeats itself: a block like the last one is not decoded again. */
export class HeaderReader {
  readonly #decoder: HpackDecoder;
  readonly #maxBytes: number;
  #lastBlock: Buffer | undefined;
  #lastVersion = 0;
  #lastList: HeaderList | undefined;

  /** @param maxBytes  longest header list, as HTTP/2 counts it: 32 bytes a field beside its octets */
  constructor(decoder: HpackDecoder, maxBytes: number) {
    this.#decoder = decoder;
    this.#maxBytes = maxBytes;
  }

  /** @throws {ConnectionFault} COMPRESSION_ERROR */
  read(block: Buffer): HeaderList {
    const last = this.#lastList;
    const version = this.#decoder.version;
    if (last !== undefined && version === this.#lastVersion && this.#lastBlock?.equals(block)) return last;
    const list = this.#decode(block);
    // One that changes the table means something else the next time.
    if (version === this.#decoder.version && block.length <= KEPT_BLOCK_BYTES) {
      this.#lastBlock = Buffer.from(block);
      this.#lastVersion = version;
      this.#lastList = list;
    }
    return list;
  }

  #decode(block: Buffer): HeaderList {
    const headers: Record<string, string | undefined> = Object.create(null);
    let flaw: string | undefined;
    let bytes = 0;
    let hasRegular = false;
    this.#decoder.decode(block, (name, value) => {
      bytes += fieldBytes(name, value);
      if (bytes > this.#maxBytes) return;
      flaw ??= flawOf(name, value, hasRegular);
      if (!name.startsWith(':')) hasRegular = true;
      const before = headers[name];
      if (before !== undefined && name.startsWith(':')) flaw ??= `'${name}' stands in it twice`;
      headers[name] = before === undefined ? value : `${before}, ${value}`;
    });
    return { headers, flaw, requestFlaw: flaw ?? requestFlaw(headers), isTooLarge: bytes > this.#maxBytes };
  }
}

function flawOf(name: string, value: string, hasRegular: boolean): string | undefined {
  if (!NAME.test(name)) return 'a name has characters that none may have';
  if (VALUE_FLAW.test(value)) return `the value of '${name}' has characters that none may have`;
  if (OF_A_CONNECTION.has(name)) return `'${name}' is none of HTTP/2`;
  if (name === 'te' && value !== 'trailers') return "'te' may only be 'trailers'";
  if (name.startsWith(':') && hasRegular) return `'${name}' stands behind other fields`;
  return undefined;
}

/** @throws {StreamFault} PROTOCOL_ERROR for a list that is no request */
export function assertRequest(streamId: number, { requestFlaw: flaw }: HeaderList): void {
  if (flaw !== undefined) throw new StreamFault(streamId, H2.PROTOCOL_ERROR, `the request is malformed: ${flaw}`);
}

function requestFlaw(headers: RequestHeaders): string | undefined {
  for (const name in headers)
    if (name.startsWith(':') && !REQUEST_PSEUDO_HEADERS.has(name)) return `'${name}' is none of a request`;
  const method = headers[':method'];
  if (method === undefined) return "it has no ':method'";
  if (method === 'CONNECT') return undefined;
  if (headers[':scheme'] === undefined) return "it has no ':scheme'";
  return headers[':path'] ? undefined : "it has no ':path'";
}

/** @throws {StreamFault} PROTOCOL_ERROR for a list that cannot stand at the end of a request */
export function assertTrailers(streamId: number, { headers, flaw }: HeaderList): void {
  const pseudo = Object.keys(headers).find((name) => name.startsWith(':'));
  const found = flaw ?? (pseudo === undefined ? undefined : `'${pseudo}' is none of trailers`);
  if (found !== undefined) throw new StreamFault(streamId, H2.PROTOCOL_ERROR, `the trailers are malformed: ${found}`);
}

/** Bytes that the body of a request is to have; undefined when it does not say. @throws {StreamFault} PROTOCOL_ERROR */
export function contentLength(streamId: number, headers: RequestHeaders): number | undefined {
  const text = headers['content-length'];
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new StreamFault(streamId, H2.PROTOCOL_ERROR, `content-length '${text}' is no length`);
}
