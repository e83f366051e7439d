import type { Clock, Logger, Timer } from '@nereid/core';

export interface StopOptions {
  /** How long requests in flight, and unloading, may take. Default 30 000; 0 gives up at once what is not done at once. */
  readonly timeoutMs?: number | undefined;
}

/** A version that was still there when the time was up. */
export interface LeftOver {
  readonly name: string;
  readonly version: string;
  /** LOADING: its load had begun before the stop. */
  readonly state: 'LOADING' | 'UNLOADING';
  /** Requests without an answer. */
  readonly inFlight: number;
}

export interface StopReport {
  /** Whether every request was answered and every model unloaded in time. */
  readonly isComplete: boolean;
  /** Versions that were not unloaded in time; they still finish in the background. */
  readonly left: readonly LeftOver[];
}

export interface Drain {
  /** Settles when all is unloaded. */
  readonly done: Promise<void>;
  /** Versions not unloaded yet. */
  left(): readonly LeftOver[];
  readonly timeoutMs: number;
}

const SECOND_MICROS = 1_000_000;

/** Waits for a drain until its time is up, and logs each second what it waits for. */
export async function awaitDrain(drain: Drain, env: DrainEnv): Promise<StopReport> {
  const countdown = new Countdown(drain, env);
  const isDone = await Promise.race([drain.done.then(() => true), countdown.expired.then(() => false)]);
  countdown.cancel();
  if (isDone) return { isComplete: true, left: [] };
  env.logger.error({}, `Exit timeout expired: not everything was done within ${drain.timeoutMs} ms`);
  return { isComplete: false, left: drain.left() };
}

export interface DrainEnv {
  readonly clock: Clock;
  readonly logger: Logger;
}

class Countdown {
  readonly expired: Promise<void>;
  readonly #drain: Drain;
  readonly #env: DrainEnv;
  readonly #deadlineMicros: number;
  #expire: () => void = () => {};
  #timer: Timer | undefined;

  constructor(drain: Drain, env: DrainEnv) {
    this.#drain = drain;
    this.#env = env;
    this.#deadlineMicros = env.clock.nowMicros() + drain.timeoutMs * 1000;
    this.expired = new Promise((resolve) => {
      this.#expire = resolve;
    });
    this.#arm();
  }

  cancel(): void {
    this.#timer?.cancel();
  }

  #arm(): void {
    const { clock } = this.#env;
    const nextSecond = clock.nowMicros() + SECOND_MICROS;
    this.#timer = clock.at(Math.min(nextSecond, this.#deadlineMicros), () => this.#tick());
  }

  #tick(): void {
    const leftMicros = this.#deadlineMicros - this.#env.clock.nowMicros();
    if (leftMicros <= 0) {
      this.#expire();
      return;
    }
    this.#env.logger.info({}, waitingLine(this.#drain, leftMicros));
    this.#arm();
  }
}

function waitingLine(drain: Drain, leftMicros: number): string {
  const busy = drain.left().filter((version) => version.inFlight > 0);
  const seconds = Math.ceil(leftMicros / SECOND_MICROS);
  return `Timeout ${seconds}: Found ${busy.length} model versions that have in-flight inferences`;
}
