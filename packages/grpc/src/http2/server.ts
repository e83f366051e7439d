import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';

import type { Http2Limits } from './limits.ts';
import { Session } from './session.ts';
import type { Stream } from './stream.ts';

export interface TlsOptions {
  /** PEM texts. */
  readonly cert: string;
  readonly key: string;
  /** Authorities whose client certificates are taken; PEM text. */
  readonly ca?: string | undefined;
  /** Whether clients must have a certificate of such an authority. Default false. */
  readonly requireClientCertificate?: boolean;
}

/** Where a server listens: a port (0 takes a free one), or a socket in the file system, which goes away with the server. */
export type ListenAddress =
  | {
      readonly host: string;
      readonly port: number;
      /** Whether other processes may listen on the port as well, where Node.js can do that (22.12, 23.1). Default false. */
      readonly reusePort?: boolean;
    }
  | { readonly path: string };

/** Listens, and makes a `Session` of each socket: HTTP/2 with prior knowledge, or agreed on by ALPN with TLS. */
export class Http2Server {
  readonly #server: Server;
  readonly #sessions = new Set<Session>();
  /** Those of TLS before their handshake as well. */
  readonly #sockets = new Set<Socket>();
  readonly #limits: Http2Limits;
  readonly #accept: (stream: Stream, isTooLarge: boolean) => void;
  readonly #opened: (session: Session) => void;
  readonly #failed: (thrown: unknown) => void;

  constructor(init: {
    readonly tls: TlsOptions | undefined;
    readonly limits: Http2Limits;
    /** A call begins. It is answered through the stream; its headers are not whole when they were too large. */
    readonly accept: (stream: Stream, isTooLarge: boolean) => void;
    readonly opened: (session: Session) => void;
    /** Something went wrong on this side while a connection was read; it has ended. */
    readonly failed: (thrown: unknown) => void;
  }) {
    this.#limits = init.limits;
    this.#accept = init.accept;
    this.#opened = init.opened;
    this.#failed = init.failed;
    this.#server = init.tls === undefined ? this.#openPlain() : this.#openSecure(init.tls);
    // Of a connection that could not be accepted, e.g. for want of descriptors; the next one may be.
    this.#server.on('error', () => {});
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /**
   * Starts to listen.
   * @returns the port; 0 for a socket in the file system
   * @throws {Error} as `listen` does, e.g. EADDRINUSE
   */
  listen(address: ListenAddress): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(address, () => {
        this.#server.off('error', reject);
        resolve('path' in address ? 0 : (this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Takes no more connections and calls, and resolves when those under way have ended. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of this.#sessions) session.close();
    await closed;
  }

  /** Ends every call and connection at once. */
  abort(): void {
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }

  #openPlain(): Server {
    return createServer({ noDelay: true }, (socket) => this.#connect(socket));
  }

  #openSecure({ cert, key, ca, requireClientCertificate = false }: TlsOptions): Server {
    const server = createTlsServer(
      {
        cert,
        key,
        ...(ca !== undefined && { ca }),
        requestCert: requireClientCertificate,
        rejectUnauthorized: requireClientCertificate,
        ALPNProtocols: ['h2'],
        noDelay: true,
      },
      (socket: TLSSocket) => {
        if (socket.alpnProtocol === 'h2') this.#connect(socket);
        else socket.destroy();
      },
    );
    // Of a handshake that failed.
    server.on('tlsClientError', (_, socket) => socket.destroy());
    return server;
  }

  #connect(socket: Socket): void {
    const session = new Session({
      socket,
      limits: this.#limits,
      accept: this.#accept,
      closed: () => this.#sessions.delete(session),
      failed: this.#failed,
    });
    this.#sessions.add(session);
    this.#opened(session);
  }
}
