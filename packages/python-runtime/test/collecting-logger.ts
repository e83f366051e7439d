import type { Logger } from '@nereid/core';

/** Keeps the sentences it is given, each with its level: `warn: …`. */
export class CollectingLogger implements Logger {
  readonly lines: string[] = [];
  readonly #waiting: { readonly part: string; readonly resolve: (line: string) => void }[] = [];

  debug(_fields: object, message: string): void {
    this.#add(`debug: ${message}`);
  }

  info(_fields: object, message: string): void {
    this.#add(`info: ${message}`);
  }

  warn(_fields: object, message: string): void {
    this.#add(`warn: ${message}`);
  }

  error(_fields: object, message: string): void {
    this.#add(`error: ${message}`);
  }

  /** The first line that holds `part`, once it comes. */
  line(part: string): Promise<string> {
    const found = this.lines.find((line) => line.includes(part));
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => this.#waiting.push({ part, resolve }));
  }

  #add(line: string): void {
    this.lines.push(line);
    for (const { part, resolve } of this.#waiting) if (line.includes(part)) resolve(line);
  }
}
