/** A server of bare HTTP/2: what a call does is said by its path. */
import { DEFAULT_HTTP2_LIMITS, type Http2Limits } from '../../src/http2/limits.ts';
import { Http2Server } from '../../src/http2/server.ts';
import type { Session } from '../../src/http2/session.ts';
import type { Stream, StreamHandler } from '../../src/http2/stream.ts';

const HEAD = { fields: [[':status', '200']], recurring: new Set<string>() } as const;
const END = { fields: [['x-end', 'yes']], recurring: new Set<string>() } as const;

/**
 * `/echo` answers with the body, `/headers` with the headers as JSON, `/large` with as many bytes as `x-bytes` says, `/early` before the body, `/hold` not at
 * all, `/throw` as a handler must not, `/pause` with the body once it is resumed by the test, `/late` once it has read that a moment later.
 */
class EchoCall implements StreamHandler {
  readonly stream: Stream;
  readonly pieces: Buffer[] = [];
  hasEnded = false;
  isClosed = false;
  /** Bytes that are no longer needed. */
  writtenBytes = 0;

  constructor(stream: Stream) {
    this.stream = stream;
    stream.handle(this);
    if (this.path === '/early') this.answer(Buffer.from('early'));
    if (this.path === '/pause' || this.path === '/late') stream.pause();
    if (this.path === '/late') setTimeout(() => stream.resume(), 5);
    if (this.path === '/large') this.answer(Buffer.alloc(Number(stream.headers['x-bytes']), 'x'));
  }

  get path(): string {
    return this.stream.headers[':path'] ?? '';
  }

  get body(): Buffer {
    return Buffer.concat(this.pieces);
  }

  data(piece: Buffer): void {
    if (this.path === '/throw') throw new Error('told to throw');
    this.pieces.push(piece);
  }

  ended(): void {
    this.hasEnded = true;
    if (['/echo', '/pause', '/late'].includes(this.path)) this.answer(this.body);
    if (this.path === '/headers') this.answer(Buffer.from(JSON.stringify(this.stream.headers)));
  }

  closed(): void {
    this.isClosed = true;
  }

  answer(body: Buffer): void {
    this.stream.sendHeaders(HEAD);
    this.stream.sendBytes([body], body.length, () => {
      this.writtenBytes += body.length;
    });
    this.stream.sendHeaders(END, true);
  }
}

export interface EchoServer extends AsyncDisposable {
  readonly port: number;
  readonly server: Http2Server;
  /** Every call so far. */
  readonly calls: readonly EchoCall[];
  readonly sessions: readonly Session[];
  /** What went wrong on the server's side. */
  readonly failures: readonly unknown[];
}

export async function serveEcho(limits: Partial<Http2Limits> = {}): Promise<EchoServer> {
  const calls: EchoCall[] = [];
  const sessions: Session[] = [];
  const failures: unknown[] = [];
  const server = new Http2Server({
    tls: undefined,
    limits: { ...DEFAULT_HTTP2_LIMITS, ...limits },
    accept: (stream, isTooLarge) => {
      if (isTooLarge) stream.sendHeaders({ fields: [[':status', '431']], recurring: new Set() }, true);
      else calls.push(new EchoCall(stream));
    },
    opened: (session) => sessions.push(session),
    failed: (thrown) => failures.push(thrown),
  });
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    port,
    server,
    calls,
    sessions,
    failures,
    [Symbol.asyncDispose]: async () => {
      server.abort();
      await server.close();
    },
  };
}
