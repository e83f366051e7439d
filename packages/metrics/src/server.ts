/** The endpoint: `GET /metrics` and `/metrics/`. As with Triton, any other path is answered 200 without a body, and any other method 405. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { type Logger, silentLogger } from '@nereid/core';
import type { InferenceEngine } from '@nereid/serving';
import { ProcessMonitor } from './process-monitor.ts';
import { type MetricsSelection, renderMetrics } from './render.ts';

/** For the head of a request, and for the whole of it. */
const PATIENCE_MS = 10_000;
/** Longer than collectors usually wait between two scrapes. */
const IDLE_MS = 120_000;

const CONTENT = { 'content-type': 'text/plain; charset=utf-8' };

export interface MetricsServerOptions extends MetricsSelection {
  readonly engine: Pick<InferenceEngine, 'eachStatistics'>;
  /** Milliseconds between two readings of the machine's CPU time. Default 2000. */
  readonly intervalMs?: number;
  /** Drops everything by default. */
  readonly logger?: Logger;
}

/** Where a server listens. */
export interface MetricsAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

export interface MetricsServer {
  /**
   * Starts to listen.
   * @returns the port
   * @throws {Error} as `listen` of Node does, e.g. EADDRINUSE; the server is then closed
   */
  listen(address: MetricsAddress): Promise<number>;
  /** Takes no more connections, ends idle ones, and resolves when the answers under way have been taken. */
  close(): Promise<void>;
  /** Ends every connection at once. */
  abort(): void;
}

/** Makes a server of metrics, which are rendered for each scrape. It is to be closed. */
export function createMetricsServer(options: MetricsServerOptions): MetricsServer {
  return new Endpoint(options);
}

class Endpoint implements MetricsServer {
  readonly #engine: Pick<InferenceEngine, 'eachStatistics'>;
  readonly #selection: MetricsSelection;
  readonly #logger: Logger;
  readonly #monitor: ProcessMonitor;
  readonly #server: Server;

  constructor({ engine, intervalMs = 2000, logger = silentLogger, ...selection }: MetricsServerOptions) {
    this.#engine = engine;
    this.#selection = selection;
    this.#logger = logger;
    this.#monitor = new ProcessMonitor(intervalMs);
    const limits = { headersTimeout: PATIENCE_MS, requestTimeout: PATIENCE_MS, keepAliveTimeout: IDLE_MS };
    this.#server = createServer(limits, (request, response) => this.#answer(request, response));
    this.#server.setTimeout(IDLE_MS);
  }

  async listen({ host, port }: MetricsAddress): Promise<number> {
    try {
      return await new Promise<number>((resolve, reject) => {
        this.#server.once('error', reject);
        this.#server.listen({ host, port }, () => {
          this.#server.off('error', reject);
          resolve((this.#server.address() as AddressInfo).port);
        });
      });
    } catch (error) {
      this.#monitor.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#monitor.close();
    await new Promise<void>((resolve) => {
      // Idle connections are ended by Node. An error says that it does not listen, which is what was asked for.
      this.#server.close(() => resolve());
    });
  }

  abort(): void {
    this.#server.closeAllConnections();
  }

  #answer({ method, url = '/' }: IncomingMessage, response: ServerResponse): void {
    if (method !== 'GET') {
      response.writeHead(405, { allow: 'GET', 'content-length': 0 }).end();
      return;
    }
    const [path] = url.split('?', 1);
    if (path !== '/metrics' && path !== '/metrics/') {
      response.writeHead(200, { 'content-length': 0 }).end();
      return;
    }
    void this.#tell(response);
  }

  /** Statistics are read before the first piece comes, so that a defect in reading them can still be told. */
  async #tell(response: ServerResponse): Promise<void> {
    try {
      const pieces = renderMetrics(this.#engine, { ...this.#selection, sample: this.#monitor.sample() });
      const first = await pieces.next();
      response.writeHead(200, CONTENT);
      await pipeline(joined(first.value ?? '', pieces), response);
    } catch (thrown) {
      // A collector that goes away is no defect.
      if (response.destroyed) return;
      this.#logger.error({ err: thrown }, `metrics met a defect: ${String(thrown)}`);
      if (response.headersSent) response.destroy();
      else response.writeHead(500, CONTENT).end('internal error; see the log\n');
    }
  }
}

async function* joined(first: string, others: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  yield first;
  yield* others;
}
