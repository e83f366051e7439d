/**
 * Writes protobuf fields into bytes that grow as needed. Messages inside of messages are written by their length first, so whoever uses it knows the
 * sizes; `WireWriter.finish` gives the bytes and starts anew.
 */
export class WireWriter {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity = 256) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#length;
  }

  tag(field: number, wireType: number): void {
    this.varint(field * 8 + wireType);
  }

  /** An unsigned integer up to 2^53 − 1. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Any 64-bit integer; negative ones take ten bytes. */
  varint64(value: bigint): void {
    this.#reserve(10);
    let rest = BigInt.asUintN(64, value);
    while (rest >= 0x80n) {
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
  }

  double(value: number): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  /** A string or bytes field; nothing when it is empty. */
  string(field: number, text: string): void {
    if (text === '') return;
    const length = Buffer.byteLength(text);
    this.tag(field, 2);
    this.varint(length);
    this.#reserve(length);
    this.#length += this.#bytes.write(text, this.#length, 'utf8');
  }

  bytes(field: number, contents: Uint8Array): void {
    this.tag(field, 2);
    this.varint(contents.length);
    this.raw(contents);
  }

  raw(contents: Uint8Array): void {
    this.#reserve(contents.length);
    this.#bytes.set(contents, this.#length);
    this.#length += contents.length;
  }

  /** The bytes so far, which stay as they are. */
  finish(): Buffer {
    const finished = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.allocUnsafe(Math.max(64, this.#length));
    this.#length = 0;
    return finished;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + bytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
