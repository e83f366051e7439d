/** Where lines of the log go: a file or the console, written to without waiting for it. */
import { openSync } from 'node:fs';
import { pino } from 'pino';
import { StartError } from './errors.ts';

export interface LogSinkOptions {
  /** Bytes that may wait; lines beyond are dropped. */
  readonly maxWaitingBytes: number;
  /** Told how many lines were dropped, once there is room again. */
  readonly onDropped: (lines: number) => void;
}

/** What a process that ends at once still writes. */
const open = new Set<LogSink>();
process.on('exit', () => {
  for (const sink of open) sink.flush();
});

export class LogSink {
  readonly #destination: ReturnType<typeof pino.destination>;
  #dropped = 0;
  #isClosed = false;

  constructor(fd: number, { maxWaitingBytes, onDropped }: LogSinkOptions) {
    this.#destination = pino.destination({ fd, sync: false, maxLength: maxWaitingBytes });
    this.#destination.on('drop', () => this.#dropped++);
    this.#destination.on('drain', () => {
      if (this.#dropped === 0 || this.#isClosed) return;
      onDropped(this.#dropped);
      this.#dropped = 0;
    });
    // A reader that has gone, or a full disk, is no reason to stop serving.
    this.#destination.on('error', () => {});
    open.add(this);
  }

  write(text: string): void {
    if (!this.#isClosed) this.#destination.write(text);
  }

  /** Writes what waits, at once. */
  flush(): void {
    this.#destination.flushSync();
  }

  /** Resolves when what waits is written; a file is closed then. */
  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#destination.once('close', () => {
        open.delete(this);
        resolve();
      });
      // What was dropped is told first.
      if (this.#dropped === 0) this.#end();
      else this.#destination.once('drain', () => this.#end());
    });
  }

  #end(): void {
    this.#isClosed = true;
    this.#destination.end();
  }
}

/**
 * Opens a file to append to; creates it when it is not there.
 * @throws {StartError} when that is not possible
 */
export function openLogFile(file: string): number {
  try {
    return openSync(file, 'a');
  } catch (error) {
    throw new StartError(
      `the log file cannot be opened: ${(error as Error).message}; name a writable path with --log-file`,
    );
  }
}
