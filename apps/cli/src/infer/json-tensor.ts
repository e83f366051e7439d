/** A tensor from a JSON value: numbers, booleans or strings, nested or flat. */
import {
  bf16Bits,
  DATATYPES,
  type Datatype,
  elementCount,
  encodeBytes,
  formatShape,
  fp16Bits,
  type Shape,
  type Tensor,
} from '@nereid/core';
import { CliError } from '../errors.ts';
import type { TensorMetadata } from './metadata.ts';

/**
 * Fits a value to what the model takes. The nesting gives the shape where it has the model's rank; one level less is one row of a batch; a flat list is
 * laid out by the model's own shape, when that leaves one size open at most.
 *
 * @throws {CliError} `bad-input` for elements of another type or out of range, and for a shape that cannot be told
 */
export function jsonTensor(input: TensorMetadata, value: unknown): Tensor {
  const { name, datatype } = input;
  const nested = shapeOf(value, input);
  const elements = Array.isArray(value) ? (value.flat(Number.POSITIVE_INFINITY) as unknown[]) : [value];
  return {
    name,
    datatype,
    shape: chooseShape(input, { nested, count: elements.length }),
    data: encode(input, elements),
  };
}

/** @throws {CliError} when lists of one level differ in length */
function shapeOf(value: unknown, input: TensorMetadata): Shape {
  if (!Array.isArray(value)) return [];
  const shapes = value.map((item) => shapeOf(item, input));
  const [first = []] = shapes;
  if (shapes.every((shape) => shape.length === first.length && shape.every((size, i) => size === first[i]))) {
    return [value.length, ...first];
  }
  throw bad(input, 'its lists are of different lengths; nest them like the tensor, or give one flat list');
}

function chooseShape(
  input: TensorMetadata,
  { nested, count }: { readonly nested: Shape; readonly count: number },
): Shape {
  const { shape } = input;
  if (nested.length === shape.length) return nested;
  if (nested.length === shape.length - 1 && shape[0] === -1 && fits(nested, shape.slice(1))) return [1, ...nested];
  const fixed = elementCount(shape.filter((size) => size !== -1));
  const open = shape.filter((size) => size === -1).length;
  if (nested.length <= 1 && open === 0 && count === fixed) return shape;
  if (nested.length <= 1 && open === 1 && fixed > 0 && count % fixed === 0) {
    return shape.map((size) => (size === -1 ? count / fixed : size));
  }
  throw bad(
    input,
    `its shape ${formatShape(nested)} is none of the model's ${formatShape(shape)}; nest the lists accordingly`,
  );
}

function fits(shape: Shape, declared: Shape): boolean {
  return declared.every((size, i) => size === -1 || size === shape[i]);
}

function encode(input: TensorMetadata, elements: readonly unknown[]): Uint8Array {
  const { datatype } = input;
  if (datatype === 'BYTES') return encodeBytes(elements.map((element, i) => asText(input, element, i)));
  const { array, byteSize } = DATATYPES[datatype];
  const data = Buffer.alloc(elements.length * byteSize);
  const view = new array(data.buffer, data.byteOffset, elements.length);
  const convert = CONVERTERS[datatype];
  for (const [i, element] of elements.entries()) {
    const number = convert(element);
    if (number === undefined) throw bad(input, `element ${i} is ${describe(element)}, which is no ${datatype}`);
    view[i] = number;
  }
  return data;
}

type Converter = (element: unknown) => number | bigint | undefined;

const CONVERTERS: Readonly<Record<Exclude<Datatype, 'BYTES'>, Converter>> = {
  BOOL: (element) =>
    typeof element === 'boolean' ? Number(element) : element === 0 || element === 1 ? element : undefined,
  UINT8: integer(0, 2 ** 8 - 1),
  UINT16: integer(0, 2 ** 16 - 1),
  UINT32: integer(0, 2 ** 32 - 1),
  UINT64: wide((value) => BigInt.asUintN(64, value)),
  INT8: integer(-(2 ** 7), 2 ** 7 - 1),
  INT16: integer(-(2 ** 15), 2 ** 15 - 1),
  INT32: integer(-(2 ** 31), 2 ** 31 - 1),
  INT64: wide((value) => BigInt.asIntN(64, value)),
  FP16: (element) => real(element, fp16Bits),
  BF16: (element) => real(element, bf16Bits),
  FP32: (element) => real(element, (value) => value),
  FP64: (element) => real(element, (value) => value),
};

function integer(min: number, max: number): Converter {
  return (element) =>
    Number.isInteger(element) && Number(element) >= min && Number(element) <= max ? Number(element) : undefined;
}

function wide(wrap: (value: bigint) => bigint): Converter {
  return (element) => {
    if (typeof element !== 'bigint' && !Number.isSafeInteger(element)) return undefined;
    const value = BigInt(element as bigint | number);
    return wrap(value) === value ? value : undefined;
  };
}

function real(element: unknown, store: (value: number) => number): number | undefined {
  return typeof element === 'number' || typeof element === 'bigint' ? store(Number(element)) : undefined;
}

function asText(input: TensorMetadata, element: unknown, index: number): string {
  if (typeof element === 'string') return element;
  throw bad(input, `element ${index} is ${describe(element)}; BYTES take strings`);
}

function describe(element: unknown): string {
  if (typeof element === 'bigint') return String(element);
  return typeof element === 'object' && element !== null ? 'an object' : JSON.stringify(element);
}

function bad({ name }: TensorMetadata, why: string): CliError {
  return new CliError('bad-input', `value of input '${name}': ${why}`);
}
