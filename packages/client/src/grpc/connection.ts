/** One HTTP/2 connection to a server, made when it is needed and made anew when it has gone. Any number of calls share it. */
import { type ClientHttp2Session, connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import type { Deadline } from '../deadline.ts';
import { usageError } from '../errors.ts';
import { connectionFailure } from '../failure.ts';
import type { TlsOptions } from '../node/transport.ts';

/** What a server may send before it must wait: enough that large tensors flow. */
const WINDOW_BYTES = 8 * 1024 * 1024;

export interface ConnectionOptions {
  /** `grpc://host:port`, `grpcs://host:port` for TLS; without a scheme the first. */
  readonly url: string;
  readonly tls?: TlsOptions | undefined;
  /** A socket in the file system that is called whatever the URL says. */
  readonly socketPath?: string | undefined;
  /**
   * Pings the server so often while calls are under way, and gives the connection up when no answer comes. Milliseconds; default 0: never. Servers of gRPC end a connection
   * with pings that come more often than they allow, where nothing else is sent: five minutes by default (`--grpc-http2-min-recv-ping-interval-without-data`).
   */
  readonly keepAliveMs?: number | undefined;
  /** How long an answer to such a ping may take. Milliseconds; default 20 000. */
  readonly keepAliveTimeoutMs?: number | undefined;
}

export class Connection {
  /** As errors name it. */
  readonly server: string;
  readonly #options: ConnectionOptions;
  readonly #authority: string;
  #session: Promise<ClientHttp2Session> | undefined;
  /** What `#session` has come to. */
  #ready: ClientHttp2Session | undefined;
  #calls = 0;
  #isClosed = false;

  /** @throws {ClientError} `usage` when the address is none */
  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { server, authority } = parseAddress(options.url);
    this.server = server;
    this.#authority = authority;
  }

  /** @throws {ClientError} `connection` with `isNotTaken` when none is made; `timeout`, `cancelled` */
  async session(deadline: Deadline): Promise<ClientHttp2Session> {
    if (this.#isClosed) throw usageError('the client is closed');
    if (this.#ready !== undefined && isUsable(this.#ready)) return this.#ready;
    if (this.#ready !== undefined) this.#session = undefined;
    this.#ready = undefined;
    this.#session ??= this.#open();
    return await Promise.race([this.#session, rejected(deadline)]);
  }

  /** Counts a call: a connection without any does not keep the process alive. */
  begin(session: ClientHttp2Session): void {
    if (this.#calls++ === 0) session.ref();
  }

  end(session: ClientHttp2Session): void {
    if (--this.#calls === 0 && !session.destroyed) session.unref();
  }

  /** Ends the connection; calls under way fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const session = await this.#session?.catch(() => undefined);
    if (this.#calls === 0) session?.close();
    else session?.destroy();
  }

  #open(): Promise<ClientHttp2Session> {
    const { tls, socketPath } = this.#options;
    const session = connect(this.#authority, {
      ...tls,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
      ...(socketPath !== undefined && { createConnection: () => connectSocket(socketPath) }),
    });
    const opened = new Promise<ClientHttp2Session>((resolve, reject) => {
      const forget = () => {
        if (this.#session !== opened) return;
        this.#session = undefined;
        this.#ready = undefined;
      };
      session.once('connect', (_, socket) => {
        session.setLocalWindowSize(WINDOW_BYTES);
        if ('setKeepAlive' in socket) socket.setKeepAlive(true);
        if (this.#calls === 0) session.unref();
        this.#keepAlive(session);
        this.#ready = session;
        resolve(session);
      });
      session.on('error', (error) => {
        forget();
        reject(connectionFailure(error, this.server, { isNotTaken: true }));
      });
      session.on('goaway', forget);
      session.on('close', () => {
        forget();
        reject(connectionFailure(new Error('it was closed'), this.server, { isNotTaken: true }));
      });
    });
    // Whoever waits for it is told; when nobody does any more, nothing is lost.
    opened.catch(() => {});
    return opened;
  }

  #keepAlive(session: ClientHttp2Session): void {
    const { keepAliveMs = 0, keepAliveTimeoutMs = 20_000 } = this.#options;
    if (keepAliveMs === 0) return;
    const timer = setInterval(() => {
      if (this.#calls === 0 || session.closed) return;
      const lost = setTimeout(() => session.destroy(new Error('the server answers no pings')), keepAliveTimeoutMs);
      session.ping(() => clearTimeout(lost));
    }, keepAliveMs);
    timer.unref();
    session.once('close', () => clearInterval(timer));
  }
}

/** Whether it takes further calls. Its events tell when it is too late for that. */
function isUsable(session: ClientHttp2Session): boolean {
  return !session.closed && !session.destroyed;
}

function rejected(deadline: Deadline): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(deadline.error);
    if (deadline.error !== undefined) fail();
    else deadline.signal.addEventListener('abort', fail, { once: true });
  });
}

/** `127.0.0.1:8001` → `grpc://127.0.0.1:8001`, which is `http://127.0.0.1:8001` for HTTP/2. */
function parseAddress(text: string): { readonly server: string; readonly authority: string } {
  const withScheme = text.includes('://') ? text : `grpc://${text}`;
  const [, scheme, rest] = /^(grpcs?):\/\/([^/]+)\/?$/.exec(withScheme) ?? [];
  const authority = `${scheme === 'grpcs' ? 'https' : 'http'}://${rest}`;
  if (rest === undefined || !URL.canParse(authority))
    throw usageError(`'${text}' is no address of a server; give one like grpc://127.0.0.1:8001`);
  return { server: `${scheme}://${rest}`, authority };
}
