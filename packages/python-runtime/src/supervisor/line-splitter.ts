import { StringDecoder } from 'node:string_decoder';

/** Cuts what a process prints into lines. A line longer than the limit is cut there, so that a process without line ends cannot fill memory. */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  readonly #maxLength: number;
  #rest = '';

  /** @param maxLength most characters of a line */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** The lines that `chunk` completes, without their ends. */
  push(chunk: Buffer): string[] {
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > this.#maxLength) {
      lines.push(this.#rest);
      this.#rest = '';
    }
    return lines.flatMap((line) => this.#cut(line.endsWith('\r') ? line.slice(0, -1) : line));
  }

  /** The line that had no end, if any. */
  end(): string[] {
    const rest = this.#rest + this.#decoder.end();
    this.#rest = '';
    return rest === '' ? [] : this.#cut(rest);
  }

  #cut(line: string): string[] {
    const parts: string[] = [];
    for (let start = 0; start === 0 || start < line.length; start += this.#maxLength) {
      parts.push(line.slice(start, start + this.#maxLength));
    }
    return parts;
  }
}
