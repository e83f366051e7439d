import { GrpcError } from '../errors.ts';

/** How a field is encoded. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** Numbers of fields have 29 bits, and start with 1. */
const MAX_TAG = 2 ** 32 - 1;

/**
 * Reads one protobuf message, field by field, without copying: bytes are views. Source: the protobuf encoding.
 *
 * Integers are numbers up to 2^53; those that may have 64 bits are read with `int64`/`uint64`.
 */
export class WireReader {
  readonly #bytes: Buffer;
  #position: number;
  readonly #end: number;
  readonly #budget: FieldBudget | undefined;
  /** Encoding of the field whose number `next` gave. */
  wireType = 0;

  /** @param budget  how many fields may be read, those of messages inside included; without, as many as there are */
  constructor(bytes: Buffer, budget?: FieldBudget, range = { start: 0, end: bytes.length }) {
    this.#bytes = bytes;
    this.#budget = budget;
    this.#position = range.start;
    this.#end = range.end;
  }

  /** Offset in the bytes of what is read next. */
  get position(): number {
    return this.#position;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#end;
  }

  /** Number of the next field; 0 at the end. */
  next(): number {
    if (this.#position >= this.#end) return 0;
    this.#budget?.spend();
    const tag = this.varint();
    if (tag > MAX_TAG || tag < 8) throw broken(`the field ${Math.floor(tag / 8)}`);
    this.wireType = tag & 7;
    return tag >>> 3;
  }

  /** An unsigned integer, exact up to 2^53: tags, lengths, sizes, enums. */
  varint(): number {
    let value = 0;
    let factor = 1;
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    throw broken('a number longer than ten bytes');
  }

  /** A 32-bit signed integer. */
  int32(): number {
    return this.#low32();
  }

  /** A 32-bit unsigned integer. */
  uint32(): number {
    return this.#low32() >>> 0;
  }

  int64(): bigint {
    return BigInt.asIntN(64, this.#varint64());
  }

  uint64(): bigint {
    return BigInt.asUintN(64, this.#varint64());
  }

  bool(): boolean {
    let bits = 0;
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte();
      bits |= byte & 0x7f;
      if (byte < 0x80) return bits !== 0;
    }
    throw broken('a number longer than ten bytes');
  }

  float(): number {
    return this.#bytes.readFloatLE(this.#skip(4));
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#skip(8));
  }

  /** A view on the contents of the field. */
  bytes(): Buffer {
    const length = this.varint();
    const start = this.#skip(length);
    return this.#bytes.subarray(start, start + length);
  }

  string(): string {
    const length = this.varint();
    const start = this.#skip(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  /** A reader of the message that the field holds. */
  message(): WireReader {
    const length = this.varint();
    const start = this.#skip(length);
    return new WireReader(this.#bytes, this.#budget, { start, end: start + length });
  }

  /** Steps over the field that `next` announced. */
  skip(): void {
    switch (this.wireType) {
      case WIRE.varint:
        this.#varint64();
        break;
      case WIRE.fixed64:
        this.#skip(8);
        break;
      case WIRE.bytes:
        this.#skip(this.varint());
        break;
      case WIRE.fixed32:
        this.#skip(4);
        break;
      default:
        throw broken(`wire type ${this.wireType}`);
    }
  }

  /** @throws {GrpcError} when the field that `next` announced is encoded otherwise */
  expect(wireType: number): void {
    if (this.wireType !== wireType) throw broken(`wire type ${this.wireType} instead of ${wireType}`);
  }

  /** The lower half of a varint; a negative number of 32 bits has ten bytes. */
  #low32(): number {
    let value = 0;
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte();
      if (i < 5) value |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) return value;
    }
    throw broken('a number longer than ten bytes');
  }

  #varint64(): bigint {
    const first = this.#byte();
    if (first < 0x80) return BigInt(first);
    let value = BigInt(first & 0x7f);
    for (let shift = 7n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw broken('a number longer than ten bytes');
  }

  #byte(): number {
    const byte = this.#position < this.#end ? this.#bytes[this.#position] : undefined;
    if (byte === undefined) throw broken('it ends inside a field');
    this.#position++;
    return byte;
  }

  /** @returns where the skipped bytes start */
  #skip(length: number): number {
    const start = this.#position;
    if (length > this.#end - start) throw broken('it ends inside a field');
    this.#position = start + length;
    return start;
  }
}

/** Bounds the fields of a message: two bytes are one already, and a gigabyte of them is read for seconds. */
export class FieldBudget {
  readonly #limit: number;
  #left: number;

  constructor(limit: number) {
    this.#limit = limit;
    this.#left = limit;
  }

  /** @throws {GrpcError} `bad-message` */
  spend(): void {
    if (this.#left-- > 0) return;
    throw new GrpcError('bad-message', `the message has more than ${this.#limit} fields`);
  }
}

function broken(what: string): GrpcError {
  return new GrpcError('bad-message', `the message cannot be parsed: ${what}`);
}
