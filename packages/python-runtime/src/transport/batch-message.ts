/**
 * What travels on the pipe for a batch, in both directions: where its tensors lie, never the tensors. Little-endian, no names, order is meaning:
 *
 *     u32 id | u32 generation | u64 slot offset | u64 slot bytes | u64 region bytes | u32 released | u16 tensors | u16 numbers
 *     per tensor: u8 datatype (number of the configuration's enum) | u8 rank | u16 0 | u32 0 | u64 offset in the slot | u64 bytes | i64 each dimension
 *     per number: u64
 *
 * `released` is the generation of the last slot of the other direction that was read: it and those before it are free.
 */
import { DATATYPES, type Datatype, expectedByteSize, isDatatype, type Shape } from '@nereid/core';
import { TransportError } from './errors.ts';

export interface TensorPlace {
  readonly datatype: Datatype;
  readonly shape: Shape;
  /** From the start of the slot. */
  readonly offset: number;
  readonly bytes: number;
}

export interface BatchMessage {
  /** Chosen by whoever sends work, given back with the result. */
  readonly id: number;
  readonly generation: number;
  readonly slotOffset: number;
  readonly slotBytes: number;
  /** Size of the region that holds the slot, at least. */
  readonly regionBytes: number;
  readonly released: number;
  readonly tensors: readonly TensorPlace[];
  /** Whole numbers from 0 on, for whoever uses the transport. */
  readonly numbers: readonly number[];
}

const HEAD_BYTES = 40;
const TENSOR_BYTES = 24;

const BY_NUMBER = new Map<number, Datatype>(
  Object.keys(DATATYPES)
    .filter(isDatatype)
    .map((datatype) => [DATATYPES[datatype].configNumber, datatype]),
);

export function encodeBatch(message: BatchMessage): Buffer {
  const dims = message.tensors.reduce((sum, { shape }) => sum + shape.length, 0);
  const size = HEAD_BYTES + message.tensors.length * TENSOR_BYTES + 8 * (dims + message.numbers.length);
  const writer = new Writer(size);
  writer
    .u32(message.id)
    .u32(message.generation)
    .u64(message.slotOffset)
    .u64(message.slotBytes)
    .u64(message.regionBytes);
  writer.u32(message.released).u16(message.tensors.length).u16(message.numbers.length);
  for (const { datatype, shape, offset, bytes } of message.tensors) {
    writer.u8(DATATYPES[datatype].configNumber).u8(shape.length).u16(0).u32(0).u64(offset).u64(bytes);
    for (const dim of shape) writer.u64(dim);
  }
  for (const number of message.numbers) writer.u64(number);
  return writer.buffer;
}

/** @throws {TransportError} `message` when it is cut off, or names a tensor that its own shape or the slot contradicts */
export function decodeBatch(payload: Buffer): BatchMessage {
  const reader = new Reader(payload);
  const head = {
    id: reader.u32(),
    generation: reader.u32(),
    slotOffset: reader.u64(),
    slotBytes: reader.u64(),
    regionBytes: reader.u64(),
    released: reader.u32(),
  };
  const counts = { tensors: reader.u16(), numbers: reader.u16() };
  if (head.slotOffset + head.slotBytes > head.regionBytes) throw contradiction('a slot lies outside its region');
  const tensors = Array.from({ length: counts.tensors }, () => readTensor(reader, head.slotBytes));
  const numbers = Array.from({ length: counts.numbers }, () => reader.u64());
  return { ...head, tensors, numbers };
}

function readTensor(reader: Reader, slotBytes: number): TensorPlace {
  const datatype = BY_NUMBER.get(reader.u8());
  const rank = reader.u8();
  reader.u16();
  reader.u32();
  const place = { offset: reader.u64(), bytes: reader.u64() };
  const shape = Array.from({ length: rank }, () => reader.u64());
  if (datatype === undefined) throw contradiction('a tensor has an unknown datatype');
  if (place.offset + place.bytes > slotBytes) throw contradiction('a tensor lies outside its slot');
  const expected = expectedByteSize(datatype, shape);
  if (expected !== undefined && expected !== place.bytes) throw contradiction('shape and bytes of a tensor disagree');
  return { datatype, shape, ...place };
}

function contradiction(what: string): TransportError {
  return new TransportError({
    code: 'INTERNAL',
    reason: 'message',
    message: `the message for a batch is malformed: ${what}`,
  });
}

class Writer {
  readonly buffer: Buffer;
  #at = 0;

  constructor(size: number) {
    this.buffer = Buffer.allocUnsafe(size);
  }

  u8(value: number): this {
    this.#at = this.buffer.writeUInt8(value, this.#at);
    return this;
  }

  u16(value: number): this {
    this.#at = this.buffer.writeUInt16LE(value, this.#at);
    return this;
  }

  u32(value: number): this {
    this.#at = this.buffer.writeUInt32LE(value, this.#at);
    return this;
  }

  /** Two halves: cheaper than a bigint, and every size here is a safe integer. */
  u64(value: number): this {
    return this.u32(value % 2 ** 32).u32(Math.floor(value / 2 ** 32));
  }
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#step(1));
  }

  u16(): number {
    return this.#bytes.readUInt16LE(this.#step(2));
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#step(4));
  }

  u64(): number {
    const low = this.u32();
    const value = this.u32() * 2 ** 32 + low;
    if (Number.isSafeInteger(value)) return value;
    throw contradiction(`the number ${value} is out of range`);
  }

  #step(bytes: number): number {
    const at = this.#at;
    this.#at += bytes;
    if (this.#at > this.#bytes.length) throw contradiction(`it ends after ${this.#bytes.length} bytes`);
    return at;
  }
}
