/** Typed contents of an input (`InferTensorContents`), turned into the bytes that raw contents would have. */
import { DATATYPES, type Datatype, encodeBytes } from '@nereid/core';
import { GrpcError } from '../errors.ts';
import { WIRE, type WireReader } from '../wire/reader.ts';

interface ContentsField {
  readonly name: string;
  readonly datatypes: readonly Datatype[];
  /** Encoding of one element outside of a packed list. */
  readonly wireType: number;
  readonly read: (reader: WireReader) => number | bigint | boolean;
}

/** By field number. `bytes_contents`, 8, is read apart. */
const FIELDS: ReadonlyMap<number, ContentsField> = new Map([
  [1, { name: 'bool_contents', datatypes: ['BOOL'], wireType: WIRE.varint, read: (reader) => reader.bool() }],
  [
    2,
    {
      name: 'int_contents',
      datatypes: ['INT8', 'INT16', 'INT32'],
      wireType: WIRE.varint,
      read: (reader) => reader.int32(),
    },
  ],
  [3, { name: 'int64_contents', datatypes: ['INT64'], wireType: WIRE.varint, read: (reader) => reader.int64() }],
  [
    4,
    {
      name: 'uint_contents',
      datatypes: ['UINT8', 'UINT16', 'UINT32'],
      wireType: WIRE.varint,
      read: (reader) => reader.uint32(),
    },
  ],
  [5, { name: 'uint64_contents', datatypes: ['UINT64'], wireType: WIRE.varint, read: (reader) => reader.uint64() }],
  [6, { name: 'fp32_contents', datatypes: ['FP32'], wireType: WIRE.fixed32, read: (reader) => reader.float() }],
  [7, { name: 'fp64_contents', datatypes: ['FP64'], wireType: WIRE.fixed64, read: (reader) => reader.double() }],
] satisfies [number, ContentsField][]);

const BYTES_FIELD = 8;

/** What was found in the message: at most one kind of contents that is not empty counts. */
export interface TypedContents {
  /** Name of the field. */
  readonly field: string;
  readonly datatypes: readonly Datatype[];
  readonly values: readonly (number | bigint | boolean | Buffer)[];
}

/**
 * Reads the message.
 * @returns undefined when it holds no element: an input of no elements, or one whose data comes elsewhere
 * @throws {GrpcError} `bad-message`, and `bad-data` when several fields hold elements
 */
export function readContents(reader: WireReader): TypedContents | undefined {
  const found = new Map<number, (number | bigint | boolean | Buffer)[]>();
  for (let number = reader.next(); number !== 0; number = reader.next()) {
    const values = found.get(number) ?? [];
    if (!readInto(values, number, reader)) continue;
    if (values.length > 0) found.set(number, values);
  }
  const [first, second] = [...found];
  if (first === undefined) return undefined;
  if (second !== undefined) {
    throw new GrpcError(
      'bad-data',
      `contents of one input are given as ${nameOf(first[0])} and as ${nameOf(second[0])}`,
    );
  }
  return { field: nameOf(first[0]), datatypes: FIELDS.get(first[0])?.datatypes ?? ['BYTES'], values: first[1] };
}

/** Appends the elements of one field; false for a field that is none of the contents. */
function readInto(values: (number | bigint | boolean | Buffer)[], number: number, reader: WireReader): boolean {
  if (number === BYTES_FIELD && reader.wireType === WIRE.bytes) {
    values.push(reader.bytes());
    return true;
  }
  const field = FIELDS.get(number);
  if (field !== undefined && reader.wireType === WIRE.bytes) {
    const packed = reader.message();
    while (!packed.isAtEnd) values.push(field.read(packed));
    return true;
  }
  if (field !== undefined && reader.wireType === field.wireType) {
    values.push(field.read(reader));
    return true;
  }
  reader.skip();
  return false;
}

const nameOf = (number: number) => FIELDS.get(number)?.name ?? 'bytes_contents';

/**
 * The bytes of a tensor: its elements little-endian, BYTES with their lengths in front.
 * @throws {GrpcError} `bad-data` for contents of another datatype, or a value that the datatype cannot hold
 */
export function contentsToBytes(input: string, datatype: Datatype, contents: TypedContents): Uint8Array {
  const { field, datatypes, values } = contents;
  if (!datatypes.includes(datatype)) {
    throw new GrpcError(
      'bad-data',
      `unexpected explicit tensor data for input tensor '${input}' of type '${datatype}': ${field} is for ${datatypes.join(', ')}`,
    );
  }
  if (datatype === 'BYTES') return encodeBytes(values.filter((value) => Buffer.isBuffer(value)));
  return numbersToBytes(input, datatype, values);
}

function numbersToBytes(input: string, datatype: Exclude<Datatype, 'BYTES'>, values: TypedContents['values']) {
  const array = new DATATYPES[datatype].array(values.length);
  for (const [i, value] of values.entries()) {
    if (typeof value === 'bigint') {
      if (array instanceof BigInt64Array || array instanceof BigUint64Array) array[i] = value;
      continue;
    }
    array[i] = Number(value);
    if (array[i] !== Number(value) && isInteger(datatype))
      throw new GrpcError(
        'bad-data',
        `element ${i} of input '${input}' is ${String(value)}, which ${datatype} does not hold`,
      );
  }
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

const isInteger = (datatype: Datatype) => /^U?INT/.test(datatype);
