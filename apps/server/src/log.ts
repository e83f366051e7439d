/**
 * The log: pino underneath, lines as Triton writes them or JSON. Information and verbose lines go to stdout, warnings and errors to stderr; all to the file
 * when one is named. Control characters of messages are escaped, so that a model name or request id cannot forge a line.
 *
 * Lines are written in the background: a reader that is slow does not hold up the server. When too many wait, new ones are dropped and counted, and the
 * count is told.
 */
import type { LogChanges, LogControl, Logger, LogLineFormat, LogSettings } from '@nereid/core';
import { pino } from 'pino';
import { chosenLevel, LEVELS, type ModelLogLevel } from './log-levels.ts';
import { humanLine } from './log-line.ts';
import { LogSink, openLogFile } from './log-sink.ts';

export type LogFormat = 'auto' | LogLineFormat;

export interface LogOptions {
  readonly format: LogFormat;
  /** 0 is off. */
  readonly verbose: number;
  readonly info: boolean;
  readonly warning: boolean;
  readonly error: boolean;
  /** Path to append to; '' is the console. */
  readonly file: string;
  /** What is logged of these models, in place of what is logged of all; none by default. */
  readonly models?: ReadonlyMap<string, ModelLogLevel>;
  /** Whether control characters are escaped in lines that are not JSON; without, whoever names a model or request can forge a line. Default true. */
  readonly escapes?: boolean;
  /** Bytes of lines that may wait for a slow reader. Default 16 MiB. */
  readonly maxWaitingBytes?: number;
}

export interface Log extends Logger, LogControl {
  readonly format: LogLineFormat;
  /** Whether a verbose line may be wanted. */
  readonly isVerbose: boolean;
  /** Writes text as it is, where information goes; also when information is turned off. */
  print(text: string): void;
  /** Resolves when what waits is written. No line is taken after it. */
  close(): Promise<void>;
}

const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** @throws {StartError} when the file cannot be opened */
export function openLog(options: LogOptions): Log {
  return new PinoLog(options);
}

class PinoLog implements Log {
  readonly #pino: pino.Logger;
  readonly #out: LogSink;
  /** Warnings and errors; `#out` when there is a file. */
  readonly #err: LogSink;
  readonly #models: ReadonlyMap<string, ModelLogLevel>;
  readonly #escapes: boolean;
  #settings: LogSettings;

  constructor(options: LogOptions) {
    const {
      file,
      format,
      verbose,
      info,
      warning,
      error,
      models = new Map(),
      maxWaitingBytes,
      escapes = true,
    } = options;
    const fd = file === '' ? undefined : openLogFile(file);
    const sink = {
      maxWaitingBytes: maxWaitingBytes ?? MAX_WAITING_BYTES,
      onDropped: (lines: number) => this.#tell(lines),
    };
    this.#out = new LogSink(fd ?? 1, sink);
    this.#err = fd === undefined ? new LogSink(2, sink) : this.#out;
    this.#models = models;
    this.#escapes = escapes;
    const chosen = chooseFormat(format, fd === undefined && process.stdout.isTTY);
    this.#settings = { file, info, warning, error, verboseLevel: verbose, format: chosen };
    this.#pino = pino({ base: { pid: process.pid } }, { write: (line: string) => this.#write(line) });
    this.#setLevel();
  }

  get format(): LogLineFormat {
    return this.#settings.format;
  }

  get isVerbose(): boolean {
    return this.#pino.isLevelEnabled('debug');
  }

  get settings(): LogSettings {
    return this.#settings;
  }

  update(changes: LogChanges): void {
    this.#settings = { ...this.#settings, ...changes };
    this.#setLevel();
  }

  debug(fields: object, message: string): void {
    this.#pino.debug(fields, message);
  }

  info(fields: object, message: string): void {
    this.#pino.info(fields, message);
  }

  warn(fields: object, message: string): void {
    this.#pino.warn(fields, message);
  }

  error(fields: object, message: string): void {
    this.#pino.error(fields, message);
  }

  print(text: string): void {
    this.#out.write(text);
  }

  async close(): Promise<void> {
    await Promise.all([...new Set([this.#out, this.#err])].map((sink) => sink.close()));
  }

  /** A verbose line costs nothing while nobody wants one. */
  #setLevel(): void {
    const isVerbose = this.#settings.verboseLevel > 0 || [...this.#models.values()].includes('verbose');
    this.#pino.level = isVerbose ? 'debug' : 'info';
  }

  #tell(dropped: number): void {
    this.warn({ dropped }, 'lines were dropped: the log is read more slowly than it is written');
  }

  #write(line: string): void {
    const parsed = JSON.parse(line) as { level: number; model?: unknown };
    const own = typeof parsed.model === 'string' ? this.#models.get(parsed.model) : undefined;
    if (!chosenLevel(parsed.level, own, this.#settings)) return;
    const { format } = this.#settings;
    const sink = parsed.level >= LEVELS.warn ? this.#err : this.#out;
    sink.write(format === 'json' ? line : `${humanLine(line, { format, escapes: this.#escapes })}\n`);
  }
}

function chooseFormat(format: LogFormat, onTerminal: boolean): LogLineFormat {
  if (format !== 'auto') return format;
  return onTerminal ? 'default' : 'json';
}
