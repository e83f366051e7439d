import { InvalidArgumentError } from 'commander';
import type { Io } from '../io.ts';

/** What a command needs of its surroundings. */
export interface CommandContext {
  readonly io: Io;
  /** Sets the exit code of a command that ran to its end; 0 unless called. */
  exit(code: number): void;
}

/** The part of a help text that shows how it is done. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join('')}`;
}

/** Value of an option that takes the version of a model. */
export function version(text: string): string {
  if (/^\d+$/.test(text)) return text;
  throw new InvalidArgumentError('A version is a whole number.');
}

/** Reads the value of an option that takes a whole number of at least `min`. */
export function wholeNumber(min: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= 2 ** 31 - 1) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${2 ** 31 - 1}.`);
  };
}
