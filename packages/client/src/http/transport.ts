/** How HTTP messages travel. `fetchTransport` is at home everywhere; `nodeTransport` does more where there is Node. */

export interface HttpExchange {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Pieces of the body, in order; none for no body. They are not changed, and not read after the reply. */
  readonly body: readonly Uint8Array[];
  /** Ends the exchange, its body included. */
  readonly signal: AbortSignal;
}

export interface HttpReply {
  readonly status: number;
  /** Value of a header, by its name in lower case. */
  header(name: string): string | undefined;
  /** The whole body, decompressed. */
  bytes(): Promise<Uint8Array>;
  /** The body as it comes, decompressed. Who stops reading ends the exchange. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface HttpTransport {
  /** Rejects with whatever went wrong; `cause.code` or `code` of Node's errors tells more. */
  send(exchange: HttpExchange): Promise<HttpReply>;
  /** Ends kept connections. */
  close?(): void | Promise<void>;
}

/** The part of `fetch` that is used. */
export type Fetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body: Uint8Array<ArrayBuffer> | null; signal: AbortSignal },
) => Promise<Response>;

/**
 * Sends with `fetch`, which keeps connections alive and decompresses on its own. Pieces of a body are joined, which copies them. Browsers choose `Accept-Encoding` themselves.
 * @param fetch  default: the global one
 */
export function fetchTransport(fetch?: Fetch): HttpTransport {
  const send = fetch ?? globalThis.fetch.bind(globalThis);
  return {
    send: async ({ method, url, headers, body, signal }) => {
      const response = await send(url, {
        method,
        headers: { ...headers },
        body: body.length === 0 ? null : joined(body),
        signal,
      });
      return {
        status: response.status,
        header: (name) => response.headers.get(name) ?? undefined,
        bytes: async () => new Uint8Array(await response.arrayBuffer()),
        chunks: () => chunksOf(response.body),
      };
    },
  };
}

/** Not every browser can iterate a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** One piece of memory with all pieces in it; a single one is taken as it is where that is possible. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const [only] = pieces;
  if (pieces.length === 1 && only?.buffer instanceof ArrayBuffer) return only as Uint8Array<ArrayBuffer>;
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.byteLength, 0));
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.byteLength;
  }
  return whole;
}
