import { CliError } from './errors.ts';

/** A stream as far as commands write to it. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
}

/** What a command reads and writes apart from files; a test brings its own. */
export interface Io {
  /** Results. */
  readonly stdout: Output;
  /** Problems and notes. */
  readonly stderr: Output;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export const processIo: Io = {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
};

/** Ends a line that has no newline yet. */
export function printLine(output: Output, text: string): void {
  output.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** @throws {CliError} `unreadable` when there is more than `maxBytes` */
export async function readStream(stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let byteLength = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    byteLength += chunk.byteLength;
    if (byteLength > maxBytes) throw new CliError('unreadable', `standard input has more than ${maxBytes} bytes`);
  }
  return Buffer.concat(chunks);
}
