/**
 * A safetensors file: 8 bytes with the length of the header (little-endian), the header, then the tensors' bytes. The header is JSON: name →
 * `{ "dtype": "F32", "shape": [2, 3], "data_offsets": [from, to] }`, offsets counted from its end; the entry `__metadata__` is text.
 * Source: safetensors README, "Format".
 */
import { type Datatype, elementCount, expectedByteSize } from '@nereid/core';
import { ModelArchiveError } from './errors.ts';
import type { OpenFile } from './file.ts';
import type { WeightTensor } from './weights.ts';

const DATATYPES: ReadonlyMap<unknown, Datatype> = new Map([
  ['BOOL', 'BOOL'],
  ['U8', 'UINT8'],
  ['U16', 'UINT16'],
  ['U32', 'UINT32'],
  ['U64', 'UINT64'],
  ['I8', 'INT8'],
  ['I16', 'INT16'],
  ['I32', 'INT32'],
  ['I64', 'INT64'],
  ['F16', 'FP16'],
  ['BF16', 'BF16'],
  ['F32', 'FP32'],
  ['F64', 'FP64'],
]);

const LENGTH_BYTES = 8;

/** Largest header, as in the original. */
const MAX_HEADER_BYTES = 100_000_000;

/** @throws {ModelArchiveError} `corrupt`, `wrong-kind` */
export async function readSafetensors(file: OpenFile): Promise<readonly WeightTensor[]> {
  const length = Number((await file.read(0, LENGTH_BYTES)).readBigUInt64LE(0));
  const start = LENGTH_BYTES + length;
  if (length > MAX_HEADER_BYTES || start > file.byteSize) throw corrupt(file, `its header has ${length} bytes`);
  const header = parseHeader(file, (await file.read(LENGTH_BYTES, length)).toString('utf8'));
  const tensors: WeightTensor[] = [];
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const { datatype, shape, from, to } = readEntry(file, { name, entry });
    if (start + to > file.byteSize) throw corrupt(file, `tensor '${name}' ends beyond the file`);
    tensors.push({ name, datatype, shape, data: await file.read(start + from, to - from) });
  }
  return tensors;
}

function parseHeader(file: OpenFile, text: string): object {
  try {
    const header: unknown = JSON.parse(text);
    if (typeof header === 'object' && header !== null) return header;
  } catch {
    // Told below.
  }
  throw corrupt(file, 'its header is no JSON object');
}

function readEntry(file: OpenFile, { name, entry }: { readonly name: string; readonly entry: unknown }) {
  const { dtype, shape, data_offsets: offsets }: Record<string, unknown> = { ...Object(entry) };
  const datatype = DATATYPES.get(dtype);
  if (datatype === undefined) {
    throw new ModelArchiveError(
      'wrong-kind',
      `tensor '${name}' in '${file.path}' has dtype ${String(dtype)}, which is none of ${[...DATATYPES.keys()].join(', ')}`,
    );
  }
  const [from, to] = isSizes(offsets) ? offsets : [];
  if (!isSizes(shape) || from === undefined || to === undefined || to - from !== expectedByteSize(datatype, shape)) {
    throw corrupt(
      file,
      `tensor '${name}' has no shape of ${isSizes(shape) ? elementCount(shape) : '?'} elements with as many bytes`,
    );
  }
  return { datatype, shape, from, to };
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

function corrupt({ path }: OpenFile, detail: string): ModelArchiveError {
  return new ModelArchiveError(
    'corrupt',
    `'${path}' is a damaged safetensors file: ${detail}. Copy or write it again.`,
  );
}
