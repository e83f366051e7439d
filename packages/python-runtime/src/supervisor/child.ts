/**
 * One life of a process: started → ready → ended.
 *
 * The child gets nothing on its standard input, its two outputs are read line by line, descriptor 3 is the pipe for frames, and the descriptors of the
 * launch follow from 4. It leads a process group, so that a Ctrl-C on the terminal reaches only the parent, which stops it in order, and so
 * that whatever it started is ended with it. Should the parent die, its end of the pipe closes, and the child must end by itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Clock, Timer } from '@nereid/core';
import { SupervisorError, type SupervisorErrorInit } from './errors.ts';
import { FIRST_USER_FRAME, FRAME, type Frame, FrameReader, frameHeader } from './frames.ts';
import { LineSplitter } from './line-splitter.ts';

/** What is started. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The working directory; the parent's by default. */
  readonly cwd?: string;
  /** Open file descriptors that become 4, 5, … in the child. They stay the caller's. */
  readonly descriptors: readonly number[];
  /** Payload of the start frame. */
  readonly start: Uint8Array;
}

type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface ChildListeners {
  /** A frame of a type from 16 on. What it throws is a breach of protocol, for which the child is killed. */
  frame(frame: Frame): void;
  line(stream: 'stdout' | 'stderr', text: string): void;
  log(level: LogLevel, text: string): void;
}

export interface ChildOptions {
  /** Names the process in messages, e.g. `the process of instance 'm_0'`. */
  readonly name: string;
  readonly startTimeoutMs: number;
  readonly maxFrameBytes: number;
  readonly clock: Clock;
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const MAX_LINE_LENGTH = 8192;
const LAST_LINES = 64;
/** How long output that is still in the pipes is waited for once the child has ended: something it left behind may hold them open. */
const DRAIN_MS = 500;

export class Child {
  /** The payload of the ready frame. Rejects with a {@link SupervisorError}; nothing of the child is left then. */
  readonly ready: Promise<Buffer>;
  /** Why it ended, once everything it sent and printed was delivered. Never rejects. */
  readonly ended: Promise<SupervisorError>;
  readonly #options: ChildOptions;
  readonly #listeners: ChildListeners;
  readonly #process: ChildProcess;
  readonly #pipe: Socket;
  readonly #lastLines: string[] = [];
  readonly #startTimer: Timer;
  #settle: { resolve(payload: Buffer): void; reject(error: SupervisorError): void } = { resolve() {}, reject() {} };
  #isReady = false;
  #isEnded = false;
  /** The first reason known; what comes after it is its consequence. */
  #fault: SupervisorErrorInit | undefined;

  /** @throws {SupervisorError} `spawn` when the system has no process or pipe to give */
  constructor(launch: Launch, options: ChildOptions, listeners: ChildListeners) {
    this.#options = options;
    this.#listeners = listeners;
    this.#process = this.#spawn(launch);
    this.#pipe = pipeOf(this.#process);
    this.ready = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // Whoever only waits for the end has no use for a rejection.
    this.ready.catch(() => {});
    this.ended = new Promise((resolve) => this.#watch(resolve));
    const { clock, startTimeoutMs } = options;
    this.#startTimer = clock.at(clock.nowMicros() + startTimeoutMs * 1000, () => this.#timeOut());
    this.send(FRAME.start, launch.start);
  }

  /** Undefined when the program could not be started. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Sends a frame; one to a child that has ended is dropped. `payload` must not be changed afterwards. */
  send(type: number, payload: Uint8Array): void {
    if (!this.#pipe.writable) return;
    this.#pipe.cork();
    this.#pipe.write(frameHeader(type, payload.byteLength));
    this.#pipe.write(payload);
    this.#pipe.uncork();
  }

  /** Asks the child to end, and kills it when it has not after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    if (!this.#isReady)
      this.kill({ code: 'UNAVAILABLE', reason: 'stopped', message: `${this.#options.name} was stopped` });
    this.send(FRAME.stop, new Uint8Array(0));
    const { clock } = this.#options;
    const timer = clock.at(clock.nowMicros() + graceMs * 1000, () => this.#signal());
    await this.ended;
    timer.cancel();
  }

  /** Ends the child and all it started at once; `fault` becomes the reason. */
  kill(fault: SupervisorErrorInit): void {
    this.#fault ??= fault;
    this.#signal();
  }

  #spawn({ command, args, env, cwd, descriptors }: Launch): ChildProcess {
    try {
      const stdio = ['ignore' as const, 'pipe' as const, 'pipe' as const, 'pipe' as const, ...descriptors];
      return spawn(command, args, { env, stdio, detached: true, ...(cwd === undefined ? {} : { cwd }) });
    } catch (thrown) {
      throw new SupervisorError(this.#spawnFault(thrown));
    }
  }

  #spawnFault(thrown: unknown): SupervisorErrorInit {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    const message = `${this.#options.name} could not be started: ${reason}`;
    return { code: 'UNAVAILABLE', reason: 'spawn', message, cause: thrown };
  }

  #watch(ended: (error: SupervisorError) => void): void {
    const splitters = [
      this.#readLines('stdout', this.#process.stdout),
      this.#readLines('stderr', this.#process.stderr),
    ];
    this.#readFrames();
    const finish = () => {
      if (this.#isEnded) return;
      this.#isEnded = true;
      this.#startTimer.cancel();
      for (const end of splitters) end();
      for (const stream of [this.#process.stdout, this.#process.stderr, this.#pipe]) stream?.destroy();
      // What the child started and left behind.
      this.#signal();
      const error = this.#endError();
      this.#settle.reject(error);
      ended(error);
    };
    this.#process.once('error', (error) => {
      this.#fault ??= this.#spawnFault(error);
      if (this.#process.pid === undefined) finish();
    });
    this.#process.once('exit', () => setTimeout(finish, DRAIN_MS).unref());
    this.#process.once('close', finish);
  }

  #readLines(stream: 'stdout' | 'stderr', source: Readable | null): () => void {
    const splitter = new LineSplitter(MAX_LINE_LENGTH);
    const deliver = (lines: readonly string[]) => {
      for (const line of lines) {
        if (stream === 'stderr' && this.#lastLines.push(line) > LAST_LINES) this.#lastLines.shift();
        this.#listeners.line(stream, line);
      }
    };
    source?.on('data', (chunk: Buffer) => deliver(splitter.push(chunk)));
    return () => deliver(splitter.end());
  }

  #readFrames(): void {
    const reader = new FrameReader(this.#options.maxFrameBytes);
    this.#pipe.on('data', (chunk: Buffer) => {
      try {
        for (const frame of reader.push(chunk)) this.#take(frame);
      } catch (thrown) {
        const reason = thrown instanceof Error ? thrown.message : String(thrown);
        const message = `${this.#options.name} was killed because it sent what cannot be understood: ${reason}`;
        this.kill({ code: 'INTERNAL', reason: 'protocol', message, cause: thrown });
      }
    });
    // A write to a child that just died; its end is reported by the process itself.
    this.#pipe.on('error', () => {});
  }

  #take(frame: Frame): void {
    const { type, payload } = frame;
    if (type >= FIRST_USER_FRAME) this.#listeners.frame(frame);
    else if (type === FRAME.log) this.#listeners.log(LEVELS[payload[0] ?? 1] ?? 'info', payload.toString('utf8', 1));
    else if (type === FRAME.failed) this.#fault ??= this.#startFailure(payload);
    else if (type === FRAME.ready) this.#becomeReady(payload);
    else throw new RangeError(`a message of type ${type}`);
  }

  #becomeReady(payload: Buffer): void {
    if (this.#fault !== undefined) return;
    this.#isReady = true;
    this.#startTimer.cancel();
    this.#settle.resolve(payload);
  }

  #startFailure(detail: Buffer): SupervisorErrorInit {
    return { code: 'INTERNAL', reason: 'start-failed', message: `${this.#options.name} could not start`, detail };
  }

  #timeOut(): void {
    const { name, startTimeoutMs } = this.#options;
    const message = `${name} was not ready within ${startTimeoutMs / 1000} s and was killed`;
    this.kill({ code: 'UNAVAILABLE', reason: 'start-timeout', message });
  }

  #endError(): SupervisorError {
    return new SupervisorError({ ...(this.#fault ?? this.#exitFault()), lastLines: this.#lastLines });
  }

  #exitFault(): SupervisorErrorInit {
    const { exitCode, signalCode } = this.#process;
    const how = signalCode === null ? `ended with exit code ${exitCode}` : `was ended by signal ${signalCode}`;
    const when = this.#isReady ? '' : ' before it was ready';
    return { code: 'UNAVAILABLE', reason: 'exit', message: `${this.#options.name} ${how}${when}` };
  }

  /** SIGKILL to the whole group, which cannot be refused; a group that is gone is fine. */
  #signal(): void {
    const { pid } = this.#process;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // ESRCH: nobody is left.
    }
  }
}

function pipeOf(child: ChildProcess): Socket {
  const pipe = child.stdio[3];
  if (pipe instanceof Socket) return pipe;
  throw new TypeError('descriptor 3 of a child is not the pipe that was asked for');
}
