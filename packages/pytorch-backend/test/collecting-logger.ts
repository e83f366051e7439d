import type { Logger } from '@nereid/core';

/** Keeps the sentences it is given, each with its level: `warn: …`. */
export class CollectingLogger implements Logger {
  readonly lines: string[] = [];

  debug(_fields: object, message: string): void {
    this.lines.push(`debug: ${message}`);
  }

  info(_fields: object, message: string): void {
    this.lines.push(`info: ${message}`);
  }

  warn(_fields: object, message: string): void {
    this.lines.push(`warn: ${message}`);
  }

  error(_fields: object, message: string): void {
    this.lines.push(`error: ${message}`);
  }
}
