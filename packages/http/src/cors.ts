/** Cross-origin requests of browsers: which pages may call, and what of an answer they may read. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Headers of an answer that pages may read beside those that they always may. */
const EXPOSED = 'Inference-Header-Content-Length, Retry-After';
const METHODS = 'GET, POST';
const PREFLIGHT_SECONDS = 600;
const ANY = '*';

export class Cors {
  readonly #origins: ReadonlySet<string>;
  readonly #isOpen: boolean;

  /** @param origins  `scheme://host[:port]` as browsers send them, or `*` for all */
  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
    this.#isOpen = this.#origins.has(ANY);
  }

  /** Gives the answer its headers, before anything else does. */
  decorate(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#isOpen) response.setHeader('Vary', 'Origin');
    const allowed = this.#allowedOrigin(request);
    if (allowed === undefined) return;
    response.setHeader('Access-Control-Allow-Origin', allowed);
    response.setHeader('Access-Control-Expose-Headers', EXPOSED);
  }

  /**
   * Answers the question that browsers ask before a request; other requests are left alone.
   * @returns whether it was one
   */
  tryPreflight(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, headers } = request;
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
    if (this.#allowedOrigin(request) === undefined) return false;
    const asked = headers['access-control-request-headers'];
    response.setHeader('Access-Control-Allow-Methods', METHODS);
    if (asked !== undefined) response.setHeader('Access-Control-Allow-Headers', asked);
    response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
    response.writeHead(204).end();
    return true;
  }

  #allowedOrigin({ headers: { origin } }: IncomingMessage): string | undefined {
    if (origin === undefined) return undefined;
    if (this.#isOpen) return ANY;
    return this.#origins.has(origin) ? origin : undefined;
  }
}
