/**
 * A state dict of torch.save: a zip archive with `data.pkl`, the pickled dict, and `data/<key>`, the bytes of each storage. A tensor is pickled as
 * `_rebuild_tensor_v2(storage, offset, size, stride, …)`, or `_rebuild_tensor_v3(…, dtype)`, its storage as the persistent id
 * `('storage', type, key, device, count)`; a parameter as `_rebuild_parameter(tensor, …)`. Source: PyTorch `torch/_utils.py`, `torch/serialization.py`.
 */
import { DATATYPES, type Datatype, elementCount } from '@nereid/core';
import { ModelArchiveError } from './errors.ts';
import type { OpenFile } from './file.ts';
import type { ArchiveLimits } from './limits.ts';
import { type PickleValue, scanPickle } from './pickle.ts';
import { datatypeFromTorch } from './torch-dtypes.ts';
import type { WeightTensor } from './weights.ts';
import { openZip, type ZipArchive } from './zip.ts';

/** `torch.FloatStorage` and the like, by what stands before `Storage`. */
const STORAGES: ReadonlyMap<string, string> = new Map([
  ['Bool', 'bool'],
  ['Byte', 'uint8'],
  ['Char', 'int8'],
  ['Short', 'int16'],
  ['Int', 'int32'],
  ['Long', 'int64'],
  ['Half', 'float16'],
  ['BFloat16', 'bfloat16'],
  ['Float', 'float32'],
  ['Double', 'float64'],
]);

/** A tensor as the pickle describes it. Offset and strides count elements. */
interface Description {
  readonly datatype: Datatype;
  readonly key: string;
  readonly offset: number;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/** @throws {ModelArchiveError} `wrong-kind`, `corrupt`, `truncated` or `limit` */
export async function readStateDict(file: OpenFile, limits: ArchiveLimits): Promise<readonly WeightTensor[]> {
  const archive = await openZip(file, limits);
  const order = archive.names.includes('byteorder') ? (await archive.read('byteorder')).toString('latin1') : 'little';
  if (order !== 'little') throw wrongKind(file, `its tensors are ${order}-endian`);
  const entries = mappingOf(scanPickle(await archive.read('data.pkl')).value);
  if (entries === undefined) throw wrongKind(file, 'it is no dict of tensors');
  const storages = new Storages(archive);
  const tensors: WeightTensor[] = [];
  for (const [name, value] of entries) {
    const description = describe(value);
    if (description === undefined)
      throw wrongKind(file, `'${name}' is no dense tensor of a datatype that is known here`);
    const data = contiguous(description, await storages.read(description.key));
    if (data === undefined) throw wrongKind(file, `'${name}' reaches beyond its storage`);
    tensors.push({ name, datatype: description.datatype, shape: description.shape, data });
  }
  return tensors;
}

/** Tensors may share a storage, which is then read once. */
class Storages {
  readonly #archive: ZipArchive;
  readonly #read = new Map<string, Promise<Buffer>>();

  constructor(archive: ZipArchive) {
    this.#archive = archive;
  }

  read(key: string): Promise<Buffer> {
    const known = this.#read.get(key) ?? this.#archive.read(`data/${key}`);
    this.#read.set(key, known);
    return known;
  }
}

function mappingOf(value: PickleValue | undefined): ReadonlyMap<string, PickleValue> | undefined {
  if (value?.kind === 'dict') return value.entries;
  return value?.kind === 'object' && value.callee === 'collections.OrderedDict' ? value.entries : undefined;
}

function describe(value: PickleValue): Description | undefined {
  if (value.kind !== 'object' || value.args.kind !== 'sequence') return undefined;
  const [first, offset, size, stride, , , dtype] = value.args.items;
  if (value.callee === 'torch._utils._rebuild_parameter') return first && describe(first);
  if (value.callee !== 'torch._utils._rebuild_tensor_v2' && value.callee !== 'torch._utils._rebuild_tensor_v3')
    return undefined;
  if (first?.kind !== 'persistent' || first.id.kind !== 'sequence') return undefined;
  const [, type, key] = first.id.items;
  const datatype = datatypeOf(value.callee.endsWith('v3') ? dtype : type);
  const [shape, strides] = [integers(size), integers(stride)];
  if (datatype === undefined || key?.kind !== 'string' || offset?.kind !== 'integer') return undefined;
  if (shape === undefined || strides?.length !== shape.length) return undefined;
  return { datatype, key: key.value, offset: offset.value, shape, strides };
}

function datatypeOf(type: PickleValue | undefined): Datatype | undefined {
  if (type?.kind !== 'global') return undefined;
  const storage = /^torch\.(\w+)Storage$/.exec(type.name)?.[1];
  return datatypeFromTorch(storage === undefined ? type.name.replace(/^torch\./, '') : (STORAGES.get(storage) ?? ''));
}

function integers(value: PickleValue | undefined): readonly number[] | undefined {
  if (value?.kind !== 'sequence') return undefined;
  const found = value.items.map((item) => (item.kind === 'integer' && item.value >= 0 ? item.value : undefined));
  return found.every((size) => size !== undefined) ? found : undefined;
}

/** The tensor's bytes, viewed where they lie in one piece; undefined when they are not all there. */
function contiguous({ datatype, offset, shape, strides }: Description, storage: Buffer): Uint8Array | undefined {
  const { byteSize } = DATATYPES[datatype];
  const count = elementCount(shape);
  if (count === 0) return new Uint8Array(0);
  const last = shape.reduce((sum, size, axis) => sum + (size - 1) * (strides[axis] ?? 0), offset);
  if (!((last + 1) * byteSize <= storage.length)) return undefined;
  if (isRowMajor(shape, strides)) return storage.subarray(offset * byteSize, (offset + count) * byteSize);
  const data = new Uint8Array(count * byteSize);
  const index = shape.map(() => 0);
  for (let element = 0; element < count; element++) {
    const at = index.reduce((sum, i, axis) => sum + i * (strides[axis] ?? 0), offset) * byteSize;
    data.set(storage.subarray(at, at + byteSize), element * byteSize);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const next = (index[axis] ?? 0) + 1;
      index[axis] = next === shape[axis] ? 0 : next;
      if (next !== shape[axis]) break;
    }
  }
  return data;
}

function isRowMajor(shape: readonly number[], strides: readonly number[]): boolean {
  let expected = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const size = shape[axis] ?? 1;
    if (size !== 1 && strides[axis] !== expected) return false;
    expected *= size;
  }
  return true;
}

function wrongKind({ path }: OpenFile, detail: string): ModelArchiveError {
  return new ModelArchiveError(
    'wrong-kind',
    `'${path}' cannot be used for weights: ${detail}. Write the tensors alone: torch.save(model.state_dict(), file).`,
  );
}
