/** What a file of torch.save holds, told from the picture of its pickle. */
import { type PickleValue, scanPickle } from './pickle.ts';

export interface Pickled {
  /**
   * `state-dict`: names and tensors, no code. `checkpoint`: a dict that holds such dicts, e.g. of a training run. `module`: an object of a
   * class derived from torch.nn.Module, whose code is not in the file. `tensor`, `object` of another class, `other`: as they say.
   * `unknown`: the pickle is damaged.
   */
  readonly contains: 'state-dict' | 'checkpoint' | 'module' | 'tensor' | 'object' | 'other' | 'unknown';
  /** Class of a module or object, e.g. `torch.nn.modules.linear.Linear`. */
  readonly className?: string;
  /** First keys of a state dict or checkpoint, 16 at most. */
  readonly keys?: readonly string[];
  /** Everything that unpickling would import; loading the file runs their code. */
  readonly globals: readonly string[];
}

/** torch.save before PyTorch 1.6, or with `_use_new_zipfile_serialization=False`: the pickle of this number comes first. */
export const LEGACY_MAGIC = Buffer.from('80028a0a6cfc9c46f9206aa850192e', 'hex');

const MOST_KEYS = 16;

export function describePickle(bytes: Uint8Array): Pickled {
  const { value, globals } = scanPickle(bytes);
  return { ...describeValue(value), globals };
}

/** The old format is a row of pickles: magic number, protocol, system information, then the value. */
export function describeLegacyPickle(bytes: Uint8Array): Pickled {
  let rest = bytes;
  for (let before = 0; before < 3; before++) rest = rest.subarray(scanPickle(rest).byteLength);
  return describePickle(rest);
}

function describeValue(value: PickleValue | undefined): Omit<Pickled, 'globals'> {
  if (value === undefined) return { contains: 'unknown' };
  if (isTensor(value)) return { contains: 'tensor' };
  const entries = mappingOf(value);
  if (entries !== undefined) return describeMapping(entries);
  if (value.kind !== 'object') return { contains: 'other' };
  return { contains: isModule(value.state) ? 'module' : 'object', className: classOf(value.callee, value.args) };
}

function describeMapping(entries: ReadonlyMap<string, PickleValue>): Omit<Pickled, 'globals'> {
  const keys = [...entries.keys()].slice(0, MOST_KEYS);
  const values = [...entries.values()];
  if (values.length > 0 && values.every(isTensor)) return { contains: 'state-dict', keys };
  const nested = values.some((value) => [...(mappingOf(value)?.values() ?? [])].some(isTensor));
  if (nested) return { contains: 'checkpoint', keys };
  return values.some(isTensor) ? { contains: 'state-dict', keys } : { contains: 'other', keys };
}

function mappingOf(value: PickleValue): ReadonlyMap<string, PickleValue> | undefined {
  if (value.kind === 'dict') return value.entries;
  return value.kind === 'object' && value.callee === 'collections.OrderedDict' ? value.entries : undefined;
}

function isTensor(value: PickleValue): boolean {
  return value.kind === 'object' && /^torch\._utils\._rebuild_\w*(tensor|parameter)/.test(value.callee);
}

/** Every torch.nn.Module keeps these two in its state. */
function isModule(state: PickleValue | undefined): boolean {
  return state?.kind === 'dict' && state.entries.has('_parameters') && state.entries.has('_modules');
}

/** Protocols 0 and 1 make objects by `copyreg._reconstructor(class, base, state)`. */
function classOf(callee: string, args: PickleValue): string {
  if (callee !== 'copyreg._reconstructor' && callee !== 'copy_reg._reconstructor') return callee;
  const type = args.kind === 'sequence' ? args.items[0] : undefined;
  return type?.kind === 'global' ? type.name : callee;
}
