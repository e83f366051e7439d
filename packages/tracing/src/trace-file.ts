/** The file of mode triton, or the files `<path>.0`, `<path>.1` …: each a JSON array that is whole after every write. */
import { open, writeFile } from 'node:fs/promises';
import type { Logger, TraceSettingValues } from '@nereid/core';
import { fileElements } from './file-elements.ts';
import type { FinishedTrace } from './finished-trace.ts';
import type { SettingValues } from './setting-values.ts';
import type { TraceSink, TraceWriter } from './writer.ts';

/** Traces are held until their file is due; beyond this many characters a file that grows is written at once. */
const MAX_HELD_CHARACTERS = 8 * 1024 * 1024;

export class TraceFile implements TraceWriter {
  readonly takesTensors = true;
  readonly #path: string;
  readonly #logger: Logger;
  #index = 0;
  #isBegun = false;
  /** Writes happen one after another. */
  #last: Promise<void> = Promise.resolve();

  /** @param path  relative ones are relative to the working directory; the file is replaced at the first write */
  constructor(path: string, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
  }

  contextOf(): undefined {
    return undefined;
  }

  identify(): undefined {
    return undefined;
  }

  describe({ logFrequency }: SettingValues): TraceSettingValues {
    return { log_frequency: String(logFrequency), trace_file: this.#path };
  }

  open({ logFrequency }: SettingValues): TraceSink {
    return new FileSink(this, logFrequency);
  }

  /** Adds elements to the one file. */
  append(elements: string): void {
    const isFirst = !this.#isBegun;
    this.#isBegun = true;
    this.#enqueue(() => (isFirst ? writeFile(this.#path, `[${elements}]`) : extendArray(this.#path, elements)));
  }

  /** Makes elements the next of the numbered files. */
  writeNext(elements: string): void {
    const path = `${this.#path}.${this.#index++}`;
    this.#enqueue(() => writeFile(path, `[${elements}]`));
  }

  close(): Promise<void> {
    return this.#last;
  }

  #enqueue(write: () => Promise<void>): void {
    this.#last = this.#last.then(write).catch((thrown: unknown) => {
      this.#logger.error({ err: thrown }, `traces were lost, as '${this.#path}' cannot be written: ${String(thrown)}`);
    });
  }
}

class FileSink implements TraceSink {
  readonly #file: TraceFile;
  readonly #logFrequency: number;
  #held: string[] = [];
  #heldCharacters = 0;

  constructor(file: TraceFile, logFrequency: number) {
    this.#file = file;
    this.#logFrequency = logFrequency;
  }

  add(trace: FinishedTrace): void {
    const elements = fileElements(trace);
    this.#held.push(elements);
    this.#heldCharacters += elements.length;
    const isDue =
      this.#logFrequency > 0 ? this.#held.length >= this.#logFrequency : this.#heldCharacters > MAX_HELD_CHARACTERS;
    if (isDue) this.flush();
  }

  flush(): void {
    if (this.#held.length === 0) return;
    const elements = this.#held.join(',');
    this.#held = [];
    this.#heldCharacters = 0;
    if (this.#logFrequency > 0) this.#file.writeNext(elements);
    else this.#file.append(elements);
  }
}

/** Puts elements before the last byte of a JSON array, its bracket. */
async function extendArray(path: string, elements: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const bytes = Buffer.from(`,${elements}]`);
    await file.write(bytes, 0, bytes.length, size - 1);
  } finally {
    await file.close();
  }
}
