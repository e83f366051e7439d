/**
 * The log: pino underneath, lines as Triton writes them or JSON. Information and verbose lines go to stdout, warnings and errors to stderr; all to the file
 * when one is named. Control characters of messages are escaped, so that a model name or request id cannot forge a line.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Logger } from '@nereid/core';
import { pino } from 'pino';
import { StartError } from './errors.ts';

export type LogFormat = 'auto' | 'default' | 'ISO8601' | 'json';

export interface LogOptions {
  readonly format: LogFormat;
  /** 0 is off. */
  readonly verbose: number;
  readonly info: boolean;
  readonly warning: boolean;
  readonly error: boolean;
  /** Path to append to; '' is the console. */
  readonly file: string;
}

export interface Log extends Logger {
  readonly format: Exclude<LogFormat, 'auto'>;
  /** Writes text as it is, where information goes; also when information is turned off. */
  print(text: string): void;
  close(): void;
}

const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const;

/** @throws {StartError} when the file cannot be opened */
export function openLog(options: LogOptions): Log {
  const fd = options.file === '' ? undefined : openFile(options.file);
  const format = chooseFormat(options.format, fd === undefined && process.stdout.isTTY);
  const write = (line: string) => {
    const { level } = JSON.parse(line) as { level: number };
    if (isOff(level, options)) return;
    writeSync(fd ?? (level >= LEVELS.warn ? 2 : 1), format === 'json' ? line : `${humanLine(line, format)}\n`);
  };
  const logger = pino({ level: options.verbose > 0 ? 'debug' : 'info', base: { pid: process.pid } }, { write });
  return Object.assign(logger, {
    format,
    print: (text: string) => void writeSync(fd ?? 1, text),
    close: () => fd !== undefined && closeSync(fd),
  });
}

function openFile(file: string): number {
  try {
    return openSync(file, 'a');
  } catch (error) {
    throw new StartError(
      `the log file cannot be opened: ${(error as Error).message}; name a writable path with --log-file`,
    );
  }
}

function chooseFormat(format: LogFormat, onTerminal: boolean): Exclude<LogFormat, 'auto'> {
  if (format !== 'auto') return format;
  return onTerminal ? 'default' : 'json';
}

function isOff(level: number, options: LogOptions): boolean {
  if (level >= LEVELS.error) return !options.error;
  if (level >= LEVELS.warn) return !options.warning;
  return level >= LEVELS.info && !options.info;
}

/** `I1129 22:15:01.123456 4711] message model=mlp version=1`, or the ISO 8601 form of it. */
function humanLine(json: string, format: 'default' | 'ISO8601'): string {
  const { level, time, pid, msg, err, ...fields } = JSON.parse(json) as {
    level: number;
    time: number;
    pid: number;
    msg: string;
    err?: LoggedError;
  };
  const letter = level >= LEVELS.error ? 'E' : level >= LEVELS.warn ? 'W' : 'I';
  const iso = new Date(time).toISOString();
  const stamp =
    format === 'ISO8601'
      ? `${iso.slice(0, 19)}Z ${letter}`
      : `${letter}${iso.slice(5, 7)}${iso.slice(8, 10)} ${iso.slice(11, 23)}000`;
  const details = Object.entries(fields).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${stamp} ${pid}] ${escapeControls(msg + details.join('') + errorText(err))}`;
}

interface LoggedError {
  readonly code?: string;
  readonly stack: string;
}

/** Errors of ours are told by the message; of a stranger the whole stack is wanted. */
function errorText(error: LoggedError | undefined): string {
  return error === undefined || error.code !== undefined ? '' : ` ${error.stack}`;
}

function escapeControls(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) =>
    JSON.stringify(character).slice(1, -1),
  );
}
