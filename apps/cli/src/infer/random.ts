import { bf16Bits, DATATYPES, type Datatype, elementCount, encodeBytes, fp16Bits, type Tensor } from '@nereid/core';
import { CliError } from '../errors.ts';
import type { TensorMetadata } from './metadata.ts';

/** Uniform from 0 to 1. */
export type Random = () => number;

/** The same numbers for the same seed, on every machine. Source: mulberry32 by Tommy Ettinger, public domain. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Size of variable dimensions other than the first: small, and the same everywhere, as models often want equal sizes. */
const VARIABLE_SIZE = 4;

/** Below the size of the smallest vocabulary that an integer could be an index of. */
const LARGEST_INTEGER = 9;

/**
 * A tensor that the model takes: real numbers from −1 to 1, integers from 0 to 9, words.
 * @param batch size of a variable first dimension
 * @throws {CliError} `usage` for a batch other than 1 when the first dimension is fixed
 */
export function randomTensor(
  { name, datatype, shape }: TensorMetadata,
  { batch, random }: { readonly batch: number; readonly random: Random },
): Tensor {
  if (batch !== 1 && shape[0] !== -1) {
    throw new CliError(
      'usage',
      `--batch ${batch}: input '${name}' has no variable first dimension (shape [${shape.join(', ')}])`,
    );
  }
  const sizes = shape.map((size, i) => (size !== -1 ? size : i === 0 ? batch : VARIABLE_SIZE));
  return { name, datatype, shape: sizes, data: randomData(datatype, elementCount(sizes), random) };
}

function randomData(datatype: Datatype, count: number, random: Random): Uint8Array {
  if (datatype === 'BYTES') return encodeBytes(Array.from({ length: count }, () => randomWord(random)));
  const { array, byteSize } = DATATYPES[datatype];
  const data = Buffer.alloc(count * byteSize);
  const view = new array(data.buffer, data.byteOffset, count);
  const next = generator(datatype, random);
  for (let i = 0; i < count; i++) view[i] = next();
  return data;
}

function generator(datatype: Exclude<Datatype, 'BYTES'>, random: Random): () => number | bigint {
  const real = () => 2 * random() - 1;
  const integer = () => Math.floor(random() * (LARGEST_INTEGER + 1));
  switch (datatype) {
    case 'BOOL':
      return () => Number(random() < 0.5);
    case 'FP16':
      return () => fp16Bits(real());
    case 'BF16':
      return () => bf16Bits(real());
    case 'FP32':
    case 'FP64':
      return real;
    case 'INT64':
    case 'UINT64':
      return () => BigInt(integer());
    default:
      return integer;
  }
}

function randomWord(random: Random): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  return Array.from(
    { length: 3 + Math.floor(random() * 6) },
    () => letters[Math.floor(random() * letters.length)],
  ).join('');
}
