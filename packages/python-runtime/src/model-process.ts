/**
 * A supervised process that computes results from tensors: calls go out and come back in order, through shared memory of the process's own.
 *
 * Knows nothing of Python. The process gets its two regions as descriptors 4 and 5 and answers each `run` frame with `done` or `runFailed`:
 *
 *     16 run        a batch message (transport/batch-message.ts) | bytes for whoever runs the call
 *     17 done       a batch message with the id of the call
 *     18 runFailed  u32 id | bytes for whoever made the call
 *
 * A call that streams has any number of results before its end, and several of them run side by side; the process makes no more than it was granted:
 *
 *     19 part       a batch message with the id of the call; more of it will come
 *     20 ended      u32 id | u64 numbers: the end of a call without a further result
 *     21 grant      u32 id | u32 results more | u32 released, as in a batch message
 *     22 cancel     u32 id: the rest is not wanted; the call ends all the same
 *
 * What is no call and gets no answer:
 *
 *     23 note       u32 anything
 *
 * When the process ends, the calls that it was running fail: the first, and every one that streams. Calls behind it had no part in that: they wait for the next
 * process and are written again.
 */
import type { Clock, Timer } from '@nereid/core';
import {
  type Frame,
  type Launch,
  SupervisedProcess,
  type SupervisedProcessInit,
  SupervisorError,
  type SupervisorOptions,
  systemClock,
} from './supervisor/index.ts';
import { type IncomingTensor, type OutgoingTensor, TensorTransport, type TransportOptions } from './transport/index.ts';

const RUN = 16;
const DONE = 17;
const RUN_FAILED = 18;
const PART = 19;
const ENDED = 20;
const GRANT = 21;
const CANCEL = 22;
const NOTE = 23;
const IDS = 2 ** 32;

export interface ModelProcessOptions {
  readonly supervisor?: SupervisorOptions;
  readonly transport?: TransportOptions;
  /** How far away a restart may be for a call to wait for it; otherwise it fails at once. 1 000 by default. */
  readonly maxRestartWaitMs?: number;
  /** How long `close` waits for running calls before it ends the process under them. 30 000 by default. */
  readonly closeTimeoutMs?: number;
}

export interface ModelProcessInit extends Pick<SupervisedProcessInit, 'name' | 'logger' | 'linePrefix' | 'logFields'> {
  /** Called for each start; the regions are added to what it gives. */
  readonly launch: () => Omit<Launch, 'descriptors'>;
  readonly options: ModelProcessOptions;
}

export interface Call {
  readonly tensors: readonly OutgoingTensor[];
  /** Whole numbers for the process, from 0 on. */
  readonly numbers: readonly number[];
  /** Anything else that the process is to know. */
  readonly detail?: Uint8Array | undefined;
}

export interface Outcome {
  readonly tensors: readonly IncomingTensor[];
  /** What the process sent along. */
  readonly numbers: readonly number[];
  /** Writing the call's tensors to shared memory and reading those of the result. */
  readonly writeNs: number;
  readonly readNs: number;
}

/** A call with any number of results. */
export interface StreamingCall {
  /** Its last result; without tensors when the end came alone. Rejects as `run` does. */
  readonly ended: Promise<Outcome>;
  /** Lets the process make so many results more. */
  grant(count: number): void;
  /** The rest is not wanted; `ended` settles all the same, once the process is at a place where it can stop. */
  cancel(): void;
}

/** The process answered a call with a failure and lives on. */
export class CallFailure extends Error {
  /** What it had to say. */
  readonly detail: Buffer;

  constructor(detail: Buffer) {
    super('the process could not run the call');
    this.detail = detail;
  }
}

interface PendingCall extends Call {
  readonly id: number;
  /** Gets the results before the last; undefined for a call that has one. */
  readonly onPart: ((part: Outcome) => void) | undefined;
  writeNs: number;
  isCancelled: boolean;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

interface Arrival {
  readonly frame: Frame;
  readonly transport: TensorTransport;
}

const DEFAULTS = { maxRestartWaitMs: 1_000, closeTimeoutMs: 30_000 };

export class ModelProcess {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #options: { readonly maxRestartWaitMs: number; readonly closeTimeoutMs: number };
  readonly #process: SupervisedProcess;
  /** Of the present life; undefined between lives. */
  #transport: TensorTransport | undefined;
  /** Not ended yet, oldest first; the first `#sent` of them are with the process. */
  readonly #calls: PendingCall[] = [];
  #sent = 0;
  #nextId = 0;
  #isWriting = false;
  readonly #arrivals: Arrival[] = [];
  #reading: Promise<void> | undefined;
  #wasReady = false;
  #greeting: Buffer = Buffer.alloc(0);
  #closing: Promise<void> | undefined;
  readonly #attemptWaiters: (() => void)[] = [];
  #idle: (() => void) | undefined;

  constructor({ launch, options, ...init }: ModelProcessInit) {
    this.#name = init.name;
    this.#clock = options.supervisor?.clock ?? systemClock;
    this.#options = { ...DEFAULTS, ...options };
    this.#process = new SupervisedProcess({
      ...init,
      launch: () => ({ ...launch(), descriptors: this.#openTransport(options.transport).descriptors }),
      listeners: {
        ready: (greeting) => this.#afterReading(() => this.#ready(greeting)),
        frame: (frame) => this.#arrived(frame),
        down: (error) => this.#afterReading(() => this.#down(error)),
      },
      ...(options.supervisor === undefined ? {} : { options: options.supervisor }),
    });
  }

  get isReady(): boolean {
    return this.#process.state.kind === 'ready';
  }

  /** What the process said of itself when it was last ready. */
  get greeting(): Buffer {
    return this.#greeting;
  }

  /** Of the process that is ready. */
  get pid(): number | undefined {
    return this.#process.state.kind === 'ready' ? this.#process.state.pid : undefined;
  }

  /**
   * Starts the process; a failure is final.
   * @throws {SupervisorError} why it is not ready
   */
  async start(): Promise<void> {
    try {
      await this.#process.start();
    } catch (thrown) {
      this.#transport?.close();
      throw thrown;
    }
  }

  /**
   * Runs a call after those before it. Its tensors are borrowed until the promise settles.
   * @throws {CallFailure} the process refused
   * @throws {SupervisorError} the process ended under the call, or is not there
   * @throws {TransportError} the tensors do not fit
   */
  run(call: Call): Promise<Outcome> {
    return this.#add(call).ended;
  }

  /** Runs a call beside those before it. `onPart` gets its results but the last as they come, and must not throw. */
  stream(call: Call, onPart: (part: Outcome) => void): StreamingCall {
    const { ended, pending } = this.#add(call, onPart);
    return {
      ended,
      grant: (count) => this.#tell(pending, GRANT, (transport) => [count, transport.released]),
      cancel: () => {
        if (pending === undefined || pending.isCancelled) return;
        pending.isCancelled = true;
        this.#tell(pending, CANCEL, () => []);
      },
    };
  }

  #add(call: Call, onPart?: (part: Outcome) => void): { ended: Promise<Outcome>; pending: PendingCall | undefined } {
    const refusal = this.#refusal();
    if (refusal !== undefined) return { ended: Promise.reject(refusal), pending: undefined };
    this.#nextId = (this.#nextId + 1) % IDS;
    const id = this.#nextId;
    let pending: PendingCall | undefined;
    const ended = new Promise<Outcome>((resolve, reject) => {
      pending = { ...call, id, onPart, writeNs: 0, isCancelled: false, resolve, reject };
      this.#calls.push(pending);
    });
    void this.#writeCalls();
    return { ended, pending };
  }

  /** Tells the process something, ahead of calls that it was not sent yet; dropped when none is ready. A whole number below 2^32. */
  note(word: number): void {
    this.#process.send(NOTE, words([word]));
  }

  /** Sends a message about a call that is with the process. */
  #tell(call: PendingCall | undefined, type: number, numbers: (transport: TensorTransport) => readonly number[]): void {
    const transport = this.#transport;
    if (call === undefined || transport === undefined || !this.#calls.slice(0, this.#sent).includes(call)) return;
    this.#process.send(type, words([call.id, ...numbers(transport)]));
  }

  /** Settles when a process that is down is ready again, or has failed to become so, or is given up; at once otherwise. */
  nextAttempt(): Promise<void> {
    if (this.isReady || this.#closing !== undefined) return Promise.resolve();
    return new Promise((resolve) => this.#attemptWaiters.push(resolve));
  }

  /** Waits for running calls, then ends the process and gives the memory back. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #openTransport(options: TransportOptions | undefined): TensorTransport {
    this.#wasReady = false;
    this.#transport?.close();
    this.#transport = new TensorTransport(options);
    return this.#transport;
  }

  #refusal(): SupervisorError | undefined {
    if (this.#closing !== undefined) return this.#closedError();
    const { state } = this.#process;
    if (state.kind !== 'waiting') return undefined;
    const waitMs = (state.restartAtMicros - this.#clock.nowMicros()) / 1000;
    if (waitMs <= this.#options.maxRestartWaitMs) return undefined;
    const { message, lastLines } = state.error;
    const text = `${message}; it is started again in ${Math.ceil(waitMs / 1000)} s`;
    return new SupervisorError({ code: 'UNAVAILABLE', reason: 'exit', message: text, lastLines, cause: state.error });
  }

  /** Writes calls one after another, so that they reach the process in their order whatever their size. */
  async #writeCalls(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    for (let call = this.#nextUnsent(); call !== undefined; call = this.#nextUnsent()) {
      const transport = this.#transport;
      if (transport === undefined || !this.isReady) break;
      const start = process.hrtime.bigint();
      try {
        const written = transport.write(call);
        const message = written instanceof Promise ? await written : written;
        call.writeNs = Number(process.hrtime.bigint() - start);
        // The process may have ended meanwhile; the call is written again for the next.
        if (transport !== this.#transport) continue;
        this.#sent++;
        this.#process.send(RUN, call.detail === undefined ? message : Buffer.concat([message, call.detail]));
        if (call.isCancelled) this.#tell(call, CANCEL, () => []);
      } catch (thrown) {
        if (transport === this.#transport) this.#settle(call, () => call.reject(thrown));
      }
    }
    this.#isWriting = false;
  }

  #nextUnsent(): PendingCall | undefined {
    return this.#calls[this.#sent];
  }

  #arrived(frame: Frame): void {
    if (this.#transport === undefined) return;
    this.#arrivals.push({ frame, transport: this.#transport });
    this.#reading ??= this.#readArrivals();
  }

  /** Reads results one after another, so that calls are answered in their order whatever the size. */
  async #readArrivals(): Promise<void> {
    for (let next = this.#arrivals.shift(); next !== undefined; next = this.#arrivals.shift()) {
      try {
        await this.#readArrival(next);
      } catch (thrown) {
        const reason = thrown instanceof Error ? thrown.message : String(thrown);
        const message = `${this.#name} was killed because of a result that cannot be read: ${reason}`;
        this.#process.kill({ code: 'INTERNAL', reason: 'protocol', message, cause: thrown });
      }
    }
    this.#reading = undefined;
  }

  async #readArrival({ frame: { type, payload }, transport }: Arrival): Promise<void> {
    const call = this.#callOf(payload);
    if (call === undefined) throw new RangeError('it belongs to no call');
    if (type === RUN_FAILED || type === ENDED) {
      transport.discard(call.id);
      const rest = payload.subarray(4);
      this.#end(call, () => (type === ENDED ? call.resolve(endOf(call, rest)) : call.reject(new CallFailure(rest))));
      return;
    }
    const isPart = type === PART && call.onPart !== undefined;
    if (type !== DONE && !isPart) throw new RangeError(`a message of type ${type}`);
    const start = process.hrtime.bigint();
    const reading = transport.read(payload, isPart);
    const { tensors, numbers } = reading instanceof Promise ? await reading : reading;
    const outcome = { tensors, numbers, writeNs: call.writeNs, readNs: Number(process.hrtime.bigint() - start) };
    if (isPart) call.onPart?.(outcome);
    else this.#end(call, () => call.resolve(outcome));
  }

  /** The call with the process that a message is about. */
  #callOf(payload: Buffer): PendingCall | undefined {
    if (payload.length < 4) return undefined;
    const id = payload.readUInt32LE(0);
    for (let at = 0; at < this.#sent; at++) if (this.#calls[at]?.id === id) return this.#calls[at];
    return undefined;
  }

  /** A call that was with the process is over. */
  #end(call: PendingCall, settle: () => void): void {
    this.#sent--;
    this.#settle(call, settle);
  }

  #settle(call: PendingCall, settle: () => void): void {
    this.#calls.splice(this.#calls.indexOf(call), 1);
    settle();
    if (this.#calls.length === 0) this.#idle?.();
  }

  /** What a process sent counts before its end does. */
  #afterReading(then: () => void): void {
    if (this.#reading === undefined) then();
    else void this.#reading.then(then);
  }

  #ready(greeting: Buffer): void {
    this.#wasReady = true;
    this.#greeting = greeting;
    this.#attemptEnded();
    void this.#writeCalls();
  }

  #down(error: SupervisorError): void {
    this.#transport?.close();
    this.#transport = undefined;
    const isStartFailure = !this.#wasReady;
    const lost = this.#calls.slice(0, this.#sent).filter((call, at) => at === 0 || call.onPart !== undefined);
    this.#sent = 0;
    for (const call of lost) this.#settle(call, () => call.reject(error));
    if (isStartFailure || this.#closing !== undefined) this.#rejectAll(error);
    this.#attemptEnded();
  }

  #rejectAll(error: SupervisorError): void {
    this.#sent = 0;
    for (const call of [...this.#calls]) this.#settle(call, () => call.reject(error));
  }

  #attemptEnded(): void {
    for (const resolve of this.#attemptWaiters.splice(0)) resolve();
  }

  async #close(): Promise<void> {
    if (!this.isReady) this.#rejectAll(this.#closedError());
    if (this.#calls.length > 0) await this.#idleWithinLimit();
    await this.#process.stop();
    this.#rejectAll(this.#closedError());
    this.#transport?.close();
    this.#attemptEnded();
  }

  async #idleWithinLimit(): Promise<void> {
    let timer: Timer | undefined;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
      const { closeTimeoutMs } = this.#options;
      timer = this.#clock.at(this.#clock.nowMicros() + closeTimeoutMs * 1000, () => {
        const message = `${this.#name} was ended because its call still ran ${closeTimeoutMs / 1000} s after it was closed`;
        const error = new SupervisorError({ code: 'UNAVAILABLE', reason: 'stopped', message });
        this.#process.kill(error);
        this.#rejectAll(error);
        resolve();
      });
    });
    timer?.cancel();
  }

  #closedError(): SupervisorError {
    return new SupervisorError({ code: 'UNAVAILABLE', reason: 'stopped', message: `${this.#name} is closed` });
  }
}

function words(numbers: readonly number[]): Buffer {
  const payload = Buffer.allocUnsafe(numbers.length * 4);
  for (const [i, number] of numbers.entries()) payload.writeUInt32LE(number, i * 4);
  return payload;
}

const NUMBER_BYTES = 8;

/** The end of a call, with the whole numbers that came with it. */
function endOf({ writeNs }: PendingCall, bytes: Buffer): Outcome {
  const numbers: number[] = [];
  for (let at = 0; at + NUMBER_BYTES <= bytes.length; at += NUMBER_BYTES)
    numbers.push(Number(bytes.readBigUInt64LE(at)));
  return { tensors: [], numbers, writeNs, readNs: 0 };
}
