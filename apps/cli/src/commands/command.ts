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
