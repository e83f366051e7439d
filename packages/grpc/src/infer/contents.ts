/** Typed contents of an input (`InferTensorContents`), turned into the bytes that raw contents would have. */
import { DATATYPES, type Datatype } from '@nereid/core';
import { GrpcError } from '../errors.ts';
import { WIRE, WireReader } from '../wire/reader.ts';

interface NumbersField {
  readonly name: string;
  readonly datatypes: readonly Datatype[];
  /** Encoding of one element outside of a packed list. */
  readonly wireType: number;
  /** Fewest bytes that one element takes. */
  readonly minBytes: number;
  readonly read: (reader: WireReader) => number | bigint;
}

const BYTES_FIELD = 8;
const BYTES_NAME = 'bytes_contents';

/** By field number, but for `bytes_contents`. */
const NUMBERS: ReadonlyMap<number, NumbersField> = new Map([
  [1, varints('bool_contents', ['BOOL'], (reader) => reader.bool())],
  [2, varints('int_contents', ['INT8', 'INT16', 'INT32'], (reader) => reader.int32())],
  [3, varints('int64_contents', ['INT64'], (reader) => reader.int64())],
  [4, varints('uint_contents', ['UINT8', 'UINT16', 'UINT32'], (reader) => reader.uint32())],
  [5, varints('uint64_contents', ['UINT64'], (reader) => reader.uint64())],
  [6, field('fp32_contents', ['FP32'], { wireType: WIRE.fixed32, minBytes: 4, read: (reader) => reader.float() })],
  [7, field('fp64_contents', ['FP64'], { wireType: WIRE.fixed64, minBytes: 8, read: (reader) => reader.double() })],
]);

function field(
  name: string,
  datatypes: readonly Datatype[],
  rest: Omit<NumbersField, 'name' | 'datatypes'>,
): NumbersField {
  return { name, datatypes, ...rest };
}

function varints(
  name: string,
  datatypes: readonly Datatype[],
  read: (reader: WireReader) => number | bigint | boolean,
): NumbersField {
  return field(name, datatypes, { wireType: WIRE.varint, minBytes: 1, read: (reader) => asNumber(read(reader)) });
}

function asNumber(value: number | bigint | boolean): number | bigint {
  return typeof value === 'boolean' ? Number(value) : value;
}

/** An input whose contents are to be read. */
export interface TypedInput {
  readonly name: string;
  readonly datatype: Datatype;
  /** Elements that its shape has. */
  readonly elements: number;
  /** The message that holds them. */
  readonly contents: Buffer;
}

/** Number of the field that holds elements; undefined when none does: the input has no elements, or its data comes elsewhere. */
export function contentsField({ name, contents }: Pick<TypedInput, 'name' | 'contents'>): number | undefined {
  const reader = new WireReader(contents);
  let found: number | undefined;
  for (let number = reader.next(); number !== 0; number = reader.next()) {
    if (holdsElements(number, reader) && found !== number) {
      if (found !== undefined) throw ofTwoKinds(name, found, number);
      found = number;
    }
  }
  return found;
}

/** Steps over a field. */
function holdsElements(number: number, reader: WireReader): boolean {
  const { wireType } = reader;
  if (wireType !== WIRE.bytes) {
    reader.skip();
    return NUMBERS.get(number)?.wireType === wireType;
  }
  const isFilled = reader.bytes().length > 0;
  return number === BYTES_FIELD || (isFilled && NUMBERS.has(number));
}

/**
 * The bytes of a tensor: its elements little-endian, BYTES with their lengths in front. They take no more memory than the shape asks for and the message can fill.
 * @param number  the field that `contentsField` found
 * @throws {GrpcError} `bad-data` for contents of another datatype, more of them than the shape has, or a value that the datatype cannot hold
 */
export function contentsToBytes(input: TypedInput, number: number): Uint8Array {
  const { name, datatype } = input;
  const numbers = NUMBERS.get(number);
  const datatypes = numbers?.datatypes ?? ['BYTES'];
  if (!datatypes.includes(datatype)) {
    throw new GrpcError(
      'bad-data',
      `unexpected explicit tensor data for input tensor '${name}' of type '${datatype}': ${nameOf(number)} is for ${datatypes.join(', ')}`,
    );
  }
  return numbers === undefined || datatype === 'BYTES'
    ? stringsToBytes(input)
    : numbersToBytes({ ...input, datatype }, number, numbers);
}

function stringsToBytes({ contents }: TypedInput): Uint8Array {
  let size = 0;
  for (const item of strings(contents)) size += 4 + item.length;
  const bytes = Buffer.allocUnsafe(size);
  let offset = 0;
  for (const item of strings(contents)) {
    offset = bytes.writeUInt32LE(item.length, offset);
    offset += item.copy(bytes, offset);
  }
  return bytes;
}

function* strings(contents: Buffer): Generator<Buffer> {
  const reader = new WireReader(contents);
  for (let number = reader.next(); number !== 0; number = reader.next()) {
    if (number === BYTES_FIELD && reader.wireType === WIRE.bytes) yield reader.bytes();
    else reader.skip();
  }
}

type NumberInput = TypedInput & { readonly datatype: Exclude<Datatype, 'BYTES'> };

function numbersToBytes(input: NumberInput, number: number, numbers: NumbersField): Uint8Array {
  const capacity = Math.min(input.elements, Math.floor(input.contents.length / numbers.minBytes));
  const array = new DATATYPES[input.datatype].array(capacity);
  const put = putterFor(input, array);
  const reader = new WireReader(input.contents);
  let count = 0;
  for (let next = reader.next(); next !== 0; next = reader.next()) {
    if (next === number && reader.wireType === WIRE.bytes) {
      const packed = reader.message();
      while (!packed.isAtEnd) put(count++, numbers.read(packed));
    } else if (next === number && reader.wireType === numbers.wireType) put(count++, numbers.read(reader));
    else reader.skip();
  }
  return new Uint8Array(array.buffer, array.byteOffset, count * array.BYTES_PER_ELEMENT);
}

type NumberArray = InstanceType<(typeof DATATYPES)[NumberInput['datatype']]['array']>;

/** Puts an element in its place, or says why it does not fit. */
function putterFor({ name, datatype, elements }: NumberInput, array: NumberArray) {
  const isInteger = /^U?INT/.test(datatype);
  const isBig = array instanceof BigInt64Array || array instanceof BigUint64Array;
  return (index: number, value: number | bigint): void => {
    if (index >= array.length) throw tooMany(name, elements);
    if (isBig) array[index] = BigInt(value);
    else {
      array[index] = Number(value);
      if (isInteger && array[index] !== value) throw doesNotHold({ name, datatype, index, value });
    }
  };
}

const nameOf = (number: number) => NUMBERS.get(number)?.name ?? BYTES_NAME;

function ofTwoKinds(input: string, first: number, second: number): GrpcError {
  return new GrpcError(
    'bad-data',
    `contents of input '${input}' are given as ${nameOf(first)} and as ${nameOf(second)}`,
  );
}

function tooMany(input: string, elements: number): GrpcError {
  return new GrpcError('bad-data', `contents of input '${input}' are more than the ${elements} elements of its shape`);
}

function doesNotHold(element: {
  readonly name: string;
  readonly datatype: Datatype;
  readonly index: number;
  readonly value: number | bigint;
}): GrpcError {
  const { name, datatype, index, value } = element;
  return new GrpcError('bad-data', `element ${index} of input '${name}' is ${value}, which ${datatype} does not hold`);
}
