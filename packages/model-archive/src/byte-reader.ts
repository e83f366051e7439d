/** The bytes ended before the value that was asked for. */
export class OutOfBytes extends Error {
  override readonly name = 'OutOfBytes';
}

/** Little-endian reads from a position that moves on; every one throws `OutOfBytes` at the end. */
export class ByteReader {
  #position = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get position(): number {
    return this.#position;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#advance(1));
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#advance(4));
  }

  u64(): number {
    return Number(this.#bytes.readBigUInt64LE(this.#advance(8)));
  }

  /** Signed, of any length; beyond 53 bits only about right. */
  integer(byteLength: number): number {
    const start = this.#advance(byteLength);
    let value = 0;
    for (let i = this.#position - 1; i >= start; i--) value = value * 256 + (this.#bytes[i] ?? 0);
    const isNegative = byteLength > 0 && (this.#bytes[this.#position - 1] ?? 0) > 127;
    return isNegative ? value - 256 ** byteLength : value;
  }

  skip(count: number): void {
    this.#advance(count);
  }

  text(byteLength: number): string {
    const start = this.#advance(byteLength);
    return this.#bytes.toString('utf8', start, this.#position);
  }

  /** The text up to the next line feed, which is skipped. */
  line(): string {
    const end = this.#bytes.indexOf(0x0a, this.#position);
    if (end === -1) throw new OutOfBytes();
    const text = this.text(end - this.#position);
    this.#position = end + 1;
    return text;
  }

  #advance(count: number): number {
    const start = this.#position;
    if (count > this.#bytes.length - start) throw new OutOfBytes();
    this.#position = start + count;
    return start;
  }
}
