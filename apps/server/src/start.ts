/** Puts the parts of a server together and takes them apart again. */
import { createServerFactory, nereidHttp } from '@nereid/http';
import { usableGpus } from '@nereid/pytorch-backend';
import { ModelRepository } from '@nereid/repository';
import { createEngine, type ModelRow, type ServingEngine, type StopReport } from '@nereid/serving';
import { type FastifyInstance, fastify } from 'fastify';
import { pytorchBackend } from './backends.ts';
import { StartError } from './errors.ts';
import type { Log } from './log.ts';
import { openClock, type ServerClock } from './open-clock.ts';
import type { HttpOptions, ServerOptions } from './options.ts';
import { type FileRepository, openFileRepository } from './served-files.ts';

export interface RunningServer extends AsyncDisposable {
  /** Where HTTP is served; undefined when it is not. */
  readonly url: string | undefined;
  readonly engine: ServingEngine;
  /** Every model and version with its state: the table shown after start-up. */
  models(): readonly ModelRow[];
  /** Not ready from here on; requests in flight are answered, models unloaded, sockets closed, all within the exit timeout. */
  stop(): Promise<StopReport>;
}

/**
 * Loads every model, then opens the port: a client that gets a connection meets a server that is done starting.
 *
 * @throws {StartError} when the repository is unusable, a model failed and `exitOnError` is set, or the port cannot be had
 */
export async function startServer(options: ServerOptions, log: Log): Promise<RunningServer> {
  const files = options.files.length === 0 ? undefined : await openFileRepository(options.files);
  const paths = [...options.repositories, ...(files === undefined ? [] : [files.path])];
  const time = await openClock();
  const engine = createEngine({
    clock: time.clock,
    repository: new ModelRepository({ paths, configName: options.configName }),
    backends: [pytorchBackend(options)],
    scheduler: {
      maxQueueSize: options.maxQueueSize,
      ...(options.inlineMaxRunMicros > 0 && { inline: { maxRunMicros: options.inlineMaxRunMicros } }),
    },
    logger: log,
    strictReadiness: options.strictReadiness,
    modelLoadConcurrency: options.modelLoadConcurrency,
    requireConfig: options.requireConfig,
    gpus: await usableGpus(),
  });
  try {
    const report = await engine.load();
    if (report.error) throw new StartError(report.error.message);
    if (!report.isComplete && options.exitOnError)
      throw new StartError(
        'failed to load all models; the errors above say why (--exit-on-error=false serves the others)',
      );
    const app = options.http && (await openHttp(engine, { ...options, ...options.http }, log));
    return new Server({ engine, app, options, files, time });
  } catch (error) {
    await engine.stop({ timeoutMs: options.exitTimeoutMs });
    time.close();
    files?.remove();
    throw error;
  }
}

interface ServerParts {
  readonly engine: ServingEngine;
  readonly app: FastifyInstance | undefined;
  readonly options: ServerOptions;
  readonly files: FileRepository | undefined;
  readonly time: ServerClock;
}

class Server implements RunningServer {
  readonly engine: ServingEngine;
  readonly url: string | undefined;
  readonly #app: FastifyInstance | undefined;
  readonly #options: ServerOptions;
  readonly #files: FileRepository | undefined;
  readonly #time: ServerClock;

  constructor({ engine, app, options, files, time }: ServerParts) {
    this.engine = engine;
    this.#app = app;
    this.#options = options;
    this.#files = files;
    this.#time = time;
    this.url = app && addressOf(app);
  }

  models(): readonly ModelRow[] {
    return this.engine.models();
  }

  async stop(): Promise<StopReport> {
    const report = await this.engine.stop({ timeoutMs: this.#options.exitTimeoutMs });
    // Every answer is under way: what is still open after a moment is a client that does not read.
    const closing = this.#app?.close();
    const impatience = setTimeout(() => this.#app?.server.closeAllConnections(), LAST_BYTES_MS);
    await closing;
    clearTimeout(impatience);
    this.#time.close();
    this.#files?.remove();
    return report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

const LAST_BYTES_MS = 2000;

async function openHttp(
  engine: ServingEngine,
  http: HttpOptions & Pick<ServerOptions, 'id' | 'allowWeightUpdates'>,
  log: Log,
): Promise<FastifyInstance> {
  const front = {
    engine,
    logger: log,
    serverName: http.id,
    allowWeightUpdates: http.allowWeightUpdates,
    maxInputBytes: http.maxInputBytes,
    maxBodyBytes: http.maxBodyBytes,
    headersTimeoutMs: http.headersTimeoutMs,
    requestTimeoutMs: http.requestTimeoutMs,
    keepAliveTimeoutMs: http.keepAliveTimeoutMs,
  };
  const app = fastify({ serverFactory: createServerFactory(front), forceCloseConnections: 'idle' });
  await app.register(nereidHttp, front);
  try {
    await app.listen({ host: http.address, port: http.port });
  } catch (error) {
    throw new StartError(listenProblem(error as NodeJS.ErrnoException, http));
  }
  return app;
}

function listenProblem(error: NodeJS.ErrnoException, { address, port }: HttpOptions): string {
  const place = `${address}:${port}`;
  if (error.code === 'EADDRINUSE')
    return `${place} is already in use: stop what listens there, or choose another --http-port (0 takes a free one)`;
  if (error.code === 'EACCES')
    return `listening on ${place} is not permitted: ports below 1024 need privileges; choose another --http-port`;
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return `${address} is no address of this machine: give --http-address one that is (127.0.0.1, or 0.0.0.0 for all)`;
  return `cannot listen on ${place}: ${error.message}`;
}

function addressOf(app: FastifyInstance): string {
  const bound = app.server.address();
  // A name only for a unix socket, which is never asked for here.
  if (bound === null || typeof bound === 'string')
    throw new StartError(`the HTTP service is bound to ${bound}, not to a port`);
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
}
