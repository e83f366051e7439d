/**
 * Keeps a process running: when it ends unasked, or does not come back, it is started again after a delay that doubles up to a bound.
 *
 *     idle ──start──► starting ──ready──► ready ──ends──► waiting ──delay──► starting …
 *                         └──fails, first time──► stopped        ◄──fails, later──┘
 *     any state ──stop──► stopped
 */
import type { Clock, Logger, Timer } from '@nereid/core';
import { type Backoff, DEFAULT_BACKOFF, restartDelayMs } from './backoff.ts';
import { Child, type Launch } from './child.ts';
import { SupervisorError, type SupervisorErrorInit } from './errors.ts';
import type { Frame } from './frames.ts';
import { systemClock } from './system-clock.ts';

export interface SupervisorOptions {
  /** From the start to the ready frame. 120 000 by default; then the process is killed. */
  readonly startTimeoutMs?: number;
  /** From the stop frame to the end. 5 000 by default; then the process is killed. */
  readonly stopTimeoutMs?: number;
  readonly backoff?: Partial<Backoff>;
  /** A process that was ready for so long starts the count of failures anew. 10 000 by default. */
  readonly healthyAfterMs?: number;
  /** Largest message taken from the process. 16 MiB by default; then it is killed. */
  readonly maxFrameBytes?: number;
  /** For time-outs and delays. The system's by default. */
  readonly clock?: Clock;
  /** From 0 to 1, for the jitter. `Math.random` by default. */
  readonly random?: () => number;
}

/** Where a process stands. It is healthy when `ready`. */
export type ProcessState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'ready'; readonly pid: number | undefined }
  | {
      readonly kind: 'waiting';
      readonly restartAtMicros: number;
      readonly failures: number;
      readonly error: SupervisorError;
    }
  | { readonly kind: 'stopped' };

export interface ProcessListeners {
  /** A life begins: the process is ready for frames. `payload` came with its ready frame. */
  ready(payload: Buffer): void;
  /** A frame of a type from 16 on. What it throws is a breach of protocol, for which the process is killed. */
  frame(frame: Frame): void;
  /** A life, or the attempt to start one, is over after everything of it was delivered. Not called for the first start nor after `stop`. */
  down(error: SupervisorError): void;
}

export interface SupervisedProcessInit {
  /** Names the process in messages and in the log, e.g. `the process of instance 'm_0'`. */
  readonly name: string;
  /** Called for each start. */
  readonly launch: () => Launch;
  readonly listeners: ProcessListeners;
  readonly logger: Logger;
  /** Put before each line that the process prints, e.g. `model 'm': `. */
  readonly linePrefix: string;
  /** Fields of each log entry. */
  readonly logFields: object;
  readonly options?: SupervisorOptions;
}

const DEFAULTS = { startTimeoutMs: 120_000, stopTimeoutMs: 5_000, healthyAfterMs: 10_000, maxFrameBytes: 2 ** 24 };

export class SupervisedProcess {
  readonly #init: SupervisedProcessInit;
  readonly #options: Required<Omit<SupervisorOptions, 'backoff'>>;
  readonly #backoff: Backoff;
  #state: ProcessState = { kind: 'idle' };
  #child: Child | undefined;
  #readyAtMicros = 0;
  #failures = 0;
  #restartTimer: Timer | undefined;

  constructor(init: SupervisedProcessInit) {
    const { backoff, ...options } = init.options ?? {};
    this.#init = init;
    this.#options = { ...DEFAULTS, clock: systemClock, random: Math.random, ...options };
    this.#backoff = { ...DEFAULT_BACKOFF, ...backoff };
  }

  get state(): ProcessState {
    return this.#state;
  }

  /**
   * Starts the process for the first time; a failure is final.
   * @returns what came with the ready frame
   * @throws {SupervisorError} why it is not ready
   */
  async start(): Promise<void> {
    if (this.#state.kind !== 'idle') throw new Error(`${this.#init.name} was started twice`);
    try {
      await this.#begin();
    } catch (thrown) {
      this.#state = { kind: 'stopped' };
      throw thrown;
    }
  }

  /** Sends a frame to the process that is ready; without one it is dropped. `payload` must not be changed afterwards. */
  send(type: number, payload: Uint8Array): void {
    if (this.#state.kind === 'ready') this.#child?.send(type, payload);
  }

  /** Ends a process that is of no more use at once, with a reason; it is started again. */
  kill(fault: SupervisorErrorInit): void {
    this.#child?.kill(fault);
  }

  /** Ends the process for good: asked first, killed when it does not listen. Idempotent. */
  async stop(): Promise<void> {
    this.#state = { kind: 'stopped' };
    this.#restartTimer?.cancel();
    await this.#child?.stop(this.#options.stopTimeoutMs);
  }

  /** One life from its start to its end; settles when it is ready or is not going to be. */
  async #begin(): Promise<void> {
    const { listeners, launch } = this.#init;
    const { name } = this.#init;
    this.#state = { kind: 'starting' };
    const child = new Child(
      launch(),
      { name, ...this.#options },
      {
        frame: (frame) => listeners.frame(frame),
        line: (stream, text) => this.#print(stream, text),
        log: (level, text) => this.#init.logger[level](this.#init.logFields, text),
      },
    );
    this.#child = child;
    const payload = await child.ready;
    if (this.#isStopped()) return;
    this.#state = { kind: 'ready', pid: child.pid };
    this.#readyAtMicros = this.#options.clock.nowMicros();
    void child.ended.then((error) => this.#ended(error));
    listeners.ready(payload);
  }

  #ended(error: SupervisorError): void {
    if (this.#isStopped()) return;
    const livedMs = (this.#options.clock.nowMicros() - this.#readyAtMicros) / 1000;
    if (livedMs >= this.#options.healthyAfterMs) this.#failures = 0;
    this.#wait(error);
  }

  #wait(error: SupervisorError): void {
    const { clock, random } = this.#options;
    this.#failures++;
    const delayMs = restartDelayMs(this.#backoff, this.#failures, random());
    const restartAtMicros = clock.nowMicros() + delayMs * 1000;
    this.#state = { kind: 'waiting', restartAtMicros, failures: this.#failures, error };
    this.#restartTimer = clock.at(restartAtMicros, () => void this.#restart());
    const fields = { ...this.#init.logFields, failures: this.#failures, lastLines: error.lastLines };
    this.#init.logger.error(fields, `${error.message}; it is started again in ${(delayMs / 1000).toFixed(1)} s`);
    this.#init.listeners.down(error);
  }

  async #restart(): Promise<void> {
    try {
      await this.#begin();
      if (!this.#isStopped()) this.#init.logger.info(this.#init.logFields, `${this.#init.name} is ready again`);
    } catch (thrown) {
      if (!this.#isStopped()) this.#wait(this.#startError(thrown));
    }
  }

  #startError(thrown: unknown): SupervisorError {
    if (thrown instanceof SupervisorError) return thrown;
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    const message = `${this.#init.name} could not be started: ${reason}`;
    return new SupervisorError({ code: 'UNAVAILABLE', reason: 'spawn', message, cause: thrown });
  }

  #print(stream: 'stdout' | 'stderr', text: string): void {
    const { logger, logFields, linePrefix } = this.#init;
    logger[stream === 'stdout' ? 'info' : 'warn']({ ...logFields, stream }, `${linePrefix}${text}`);
  }

  /** A method, because the state may have changed while something was awaited. */
  #isStopped(): boolean {
    return this.#state.kind === 'stopped';
  }
}
