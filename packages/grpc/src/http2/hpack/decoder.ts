/** Header blocks to fields. Source: RFC 7541. */
import { ConnectionFault, H2 } from '../faults.ts';
import { decodeHuffman } from './huffman.ts';
import { type Field, fieldBytes, STATIC_TABLE } from './static-table.ts';

/** Size of the dynamic table that a peer may use without being told. */
export const DEFAULT_TABLE_BYTES = 4096;

/** An integer beyond this is taken for an attack: no index and no length of a block can be so large. */
const LARGEST_INTEGER = 2 ** 28;

export class HpackDecoder {
  readonly #maxTableBytes: number;
  #tableLimit: number;
  #tableBytes = 0;
  /** Dynamic table, oldest entry first; what lies before `#first` has been evicted. */
  #entries: Field[] = [];
  #first = 0;
  #version = 0;
  #block: Buffer = Buffer.alloc(0);
  #at = 0;

  /** @param maxTableBytes  what the peer was told its table may take */
  constructor(maxTableBytes = DEFAULT_TABLE_BYTES) {
    this.#maxTableBytes = maxTableBytes;
    this.#tableLimit = maxTableBytes;
  }

  /** Changes with the table: the same block decodes to the same fields while it stays the same. */
  get version(): number {
    return this.#version;
  }

  /**
   * Decodes a whole block, calling back with each field in order.
   * @throws {ConnectionFault} COMPRESSION_ERROR for a block that cannot be decoded
   */
  decode(block: Buffer, take: (name: string, value: string) => void): void {
    this.#block = block;
    this.#at = 0;
    let isFirst = true;
    while (this.#at < block.length) {
      const byte = block[this.#at] ?? 0;
      if (byte >= 0x20 && byte < 0x40) {
        if (!isFirst) throw broken('the size of the table changes inside a block');
        this.#resize(this.#integer(5));
        continue;
      }
      isFirst = false;
      if (byte >= 0x80) {
        const [name, value] = this.#entry(this.#integer(7));
        take(name, value);
      } else {
        this.#literal(byte, take);
      }
    }
  }

  #literal(byte: number, take: (name: string, value: string) => void): void {
    const isAdded = byte >= 0x40;
    const index = this.#integer(isAdded ? 6 : 4);
    const name = index === 0 ? this.#string() : this.#entry(index)[0];
    const value = this.#string();
    if (isAdded) this.#add(name, value);
    take(name, value);
  }

  #entry(index: number): Field {
    const fixed = STATIC_TABLE[index - 1];
    if (fixed !== undefined) return fixed;
    const place = this.#entries.length - (index - STATIC_TABLE.length);
    const entry = index === 0 || place < this.#first ? undefined : this.#entries[place];
    if (entry === undefined) throw broken(`the table has no entry ${index}`);
    return entry;
  }

  #add(name: string, value: string): void {
    this.#version++;
    const bytes = fieldBytes(name, value);
    this.#evict(this.#tableLimit - bytes);
    if (bytes > this.#tableLimit) return;
    this.#entries.push([name, value]);
    this.#tableBytes += bytes;
  }

  #resize(limit: number): void {
    if (limit > this.#maxTableBytes)
      throw broken(`the table may have ${this.#maxTableBytes} bytes, the block asks for ${limit}`);
    this.#version++;
    this.#tableLimit = limit;
    this.#evict(limit);
  }

  /** Drops the oldest entries until no more than so many bytes are left. */
  #evict(bytes: number): void {
    while (this.#tableBytes > 0 && this.#tableBytes > bytes) {
      const oldest = this.#entries[this.#first++];
      if (oldest !== undefined) this.#tableBytes -= fieldBytes(...oldest);
    }
    if (this.#first * 2 <= this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#first);
    this.#first = 0;
  }

  #integer(prefixBits: number): number {
    const largest = 2 ** prefixBits - 1;
    let value = this.#byte() & largest;
    if (value < largest) return value;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (value > LARGEST_INTEGER || factor > LARGEST_INTEGER) throw broken('an integer is too large');
      if (byte < 0x80) return value;
    }
  }

  #string(): string {
    const isHuffman = ((this.#block[this.#at] ?? 0) & 0x80) !== 0;
    const length = this.#integer(7);
    const start = this.#at;
    const end = start + length;
    if (end > this.#block.length) throw broken('it ends inside a string');
    this.#at = end;
    return isHuffman ? decodeHuffman(this.#block, start, end) : this.#block.toString('latin1', start, end);
  }

  #byte(): number {
    const byte = this.#block[this.#at++];
    if (byte === undefined) throw broken('it ends inside a field');
    return byte;
  }
}

function broken(what: string): ConnectionFault {
  return new ConnectionFault(H2.COMPRESSION_ERROR, `a header block cannot be decoded: ${what}`);
}
