import { ClientError } from './errors.ts';

/** Longest time that a timer takes. */
const LONGEST_MS = 2 ** 31 - 1;

export interface DeadlineInit {
  /** 0 for none. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** As errors name it. */
  readonly server: string;
}

/** Ends a call when its time is over or its caller gives up, whichever comes first. */
export class Deadline {
  /** Aborted when the call is to end. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #init: DeadlineInit;
  readonly #ends: number;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #abort = () => this.#controller.abort(this.#cancelled());

  constructor(init: DeadlineInit) {
    this.#init = init;
    this.signal = this.#controller.signal;
    const { timeoutMs, signal } = init;
    this.#ends = timeoutMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
    if (timeoutMs > 0)
      this.#timer = setTimeout(() => this.#controller.abort(this.#timedOut()), Math.min(timeoutMs, LONGEST_MS));
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Milliseconds that are left; Infinity without a timeout. */
  get remainingMs(): number {
    return this.#ends - performance.now();
  }

  /** Why the call has ended; undefined while it goes on. */
  get error(): ClientError | undefined {
    return this.signal.aborted && this.signal.reason instanceof ClientError ? this.signal.reason : undefined;
  }

  /** @throws {ClientError} `timeout`, `cancelled` */
  assertOpen(): void {
    if (this.error !== undefined) throw this.error;
  }

  /** Waits. @throws {ClientError} `timeout`, `cancelled` when the call ends meanwhile */
  async wait(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, delayMs);
      this.signal.addEventListener('abort', wake);
    });
    this.assertOpen();
  }

  /** Forgets the call. Not `using`: browsers may lack what that takes. */
  close(): void {
    clearTimeout(this.#timer);
    this.#init.signal?.removeEventListener('abort', this.#abort);
  }

  #timedOut(): ClientError {
    const { server, timeoutMs } = this.#init;
    return new ClientError({
      reason: 'timeout',
      code: 'UNAVAILABLE',
      summary: `no answer from ${server} within ${timeoutMs / 1000} s`,
      advice: 'give it longer with timeoutMs, or find out what it is busy with',
    });
  }

  #cancelled(): ClientError {
    return new ClientError({
      reason: 'cancelled',
      code: 'CANCELLED',
      summary: 'the call was cancelled by its signal',
      cause: this.#init.signal?.reason,
    });
  }
}
