/**
 * Options in a file, YAML or JSON: a map from names to values. What may be repeated on the command line is a list, and what is `key=value` there may be a map:
 *
 *     model-repository: models
 *     backend-config: { pytorch: { default-max-batch-size: 8 } }     # --backend-config=pytorch,default-max-batch-size=8
 *     trace-config: { level: [TIMESTAMPS, TENSORS], triton: { file: traces/requests.json } }
 *
 * Relative paths are relative to the file.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { UsageError } from '../errors.ts';
import type { Flag, MapForm } from './flag.ts';
import type { Layer, Setting } from './layer.ts';
import { flagOf, SPELLINGS, suggestion } from './names.ts';
import type { FlagName } from './table.ts';
import { readValue } from './value.ts';

/** Of a file: every option there is takes a fraction of that, and YAML takes long to read. */
const MAX_BYTES = 1024 * 1024;

/** Names the schema of the file for editors. */
const SCHEMA_KEY = '$schema';

/** @throws {UsageError} with every fault of the file, each with line and column */
export function readConfigFile(file: string): Layer {
  return new ConfigFile(file).read();
}

type Content = Node | Alias | null | undefined;

class ConfigFile {
  readonly #file: string;
  readonly #document: Document;
  readonly #lines = new LineCounter();
  readonly #settings = new Map<FlagName, Setting>();
  readonly #faults: string[] = [];

  constructor(file: string) {
    this.#file = file;
    this.#document = parseDocument(textOf(file), { lineCounter: this.#lines, prettyErrors: false });
  }

  read(): Layer {
    for (const { message, pos } of [...this.#document.errors, ...this.#document.warnings])
      this.#faults.push(`${this.#place(pos[0])}: ${message}`);
    if (this.#faults.length === 0) this.#readAll();
    if (this.#faults.length > 0) throw new UsageError(this.#faults.join('\n'));
    return this.#settings;
  }

  #readAll(): void {
    const { contents } = this.#document;
    if (contents === null || (isScalar(contents) && contents.value === null)) return;
    if (!isMap(contents)) {
      this.#faults.push(`${this.#placeOf(contents)}: a configuration is a map from names of options to values`);
      return;
    }
    for (const { key, value } of contents.items) {
      try {
        this.#readOption(key as Content, value as Content);
      } catch (thrown) {
        if (!(thrown instanceof UsageError)) throw thrown;
        this.#faults.push(thrown.message);
      }
    }
  }

  #readOption(key: Content, value: Content): void {
    const place = this.#placeOf(key);
    const word = isScalar(key) ? String(key.value) : '';
    if (word === SCHEMA_KEY) return;
    const name = SPELLINGS.get(word);
    if (name === undefined) throw new UsageError(`${place}: unknown option '${word}'${suggestion(word)}`);
    if (name === 'config') throw new UsageError(`${place}: a configuration cannot name another one`);
    const earlier = this.#settings.get(name)?.source;
    if (earlier !== undefined) throw new UsageError(`${place}: '${word}' is set already, at ${earlier}`);
    this.#settings.set(name, { value: this.#valueOf(name, word, this.#resolved(value)), source: place });
  }

  #valueOf(name: FlagName, word: string, value: Content): unknown {
    const flag = flagOf(name);
    if (flag.kind === 'any') return undefined;
    const read = (text: string | undefined, at: Content) =>
      this.#absolute(flag, readValue(`${this.#placeOf(at ?? value)}: ${word}`, flag, text));
    if (flag.kind !== 'list') return read(this.#text(word, value), value);
    const members = isSeq(value) ? value.items.map((item) => this.#resolved(item as Content)) : [value];
    return members.flatMap((member) => {
      const texts =
        flag.map !== undefined && isMap(member) ? this.#pairs(word, member, flag.map) : [this.#text(word, member)];
      return texts.map((text) => read(text, member));
    });
  }

  /** Undefined where no value stands. */
  #text(word: string, node: Content): string | undefined {
    if (node === null || node === undefined) return undefined;
    if (!isScalar(node)) {
      const found = isMap(node) ? 'a map' : 'a list';
      throw new UsageError(`${this.#placeOf(node)}: ${word} takes one value here, found ${found}`);
    }
    if (node.value === null) return undefined;
    return typeof node.value === 'string' ? node.value : ((node as Scalar).source ?? String(node.value));
  }

  /** `key=value` for each value of a map, `name,key=value` for those of a map in it. */
  #pairs(word: string, node: YAMLMap, form: MapForm, depth = 1): readonly string[] {
    return node.items.flatMap(({ key, value }) => {
      const name = this.#text(word, key as Content) ?? '';
      const content = this.#resolved(value as Content);
      if (isMap(content) && depth < form.depth) {
        const sign = depth === 1 ? ',' : form.sign;
        return this.#pairs(word, content, form, depth + 1).map((pair) => `${name}${sign}${pair}`);
      }
      const members = isSeq(content) ? content.items.map((item) => this.#resolved(item as Content)) : [content];
      return members.map((member) => `${name}${form.sign}${this.#text(word, member) ?? ''}`);
    });
  }

  #absolute({ path }: Flag, value: unknown): unknown {
    if (path === undefined || typeof value !== 'string' || !value.startsWith(path)) return value;
    const named = value.slice(path.length);
    return isUrl(named) ? value : path + resolve(dirname(this.#file), named);
  }

  #resolved(node: Content): Content {
    if (!isAlias(node)) return node;
    const target = node.resolve(this.#document);
    if (target === undefined) throw new UsageError(`${this.#placeOf(node)}: nothing is named &${node.source}`);
    return target;
  }

  #placeOf(node: Content): string {
    return this.#place(node?.range?.[0] ?? 0);
  }

  #place(offset: number): string {
    const { line, col } = this.#lines.linePos(offset);
    return `${this.#file}:${line}:${col}`;
  }
}

function isUrl(text: string): boolean {
  return /^[a-z][a-z\d+.-]+:\/\//i.test(text);
}

/** @throws {UsageError} for a file that cannot be read, or is none of options by its size */
function textOf(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readBeginning(file, MAX_BYTES + 1);
  } catch (error) {
    throw new UsageError(`option '--config': ${(error as Error).message}`);
  }
  if (bytes.length <= MAX_BYTES) return bytes.toString('utf8');
  throw new UsageError(
    `option '--config': '${file}' has more than ${MAX_BYTES} bytes, the most that a file of options may have; is it the right file?`,
  );
}

/** The first bytes of a file, which may be a pipe or have no end. */
function readBeginning(file: string, maxBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(maxBytes);
  const descriptor = openSync(file, 'r');
  try {
    let length = 0;
    for (let read = -1; read !== 0 && length < maxBytes; length += read)
      read = readSync(descriptor, bytes, length, maxBytes - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}
