/** What a model file tells of its inputs and outputs, for a configuration to be made from. */
import { type DeclaredTensor, inspectAoti, inspectTorchScript, type TorchScriptArgument } from '@nereid/model-archive';
import type { LocatedFile } from '../locate-file.ts';

/** One tensor, or list of strings, of a model. */
export interface FileTensor extends DeclaredTensor {
  /** Its type in a TorchScript signature; absent for a package, which has tensors only. */
  readonly type?: string;
}

export interface FileSide {
  /** In order; none when they are not known. */
  readonly tensors: readonly FileTensor[];
  /** Whether a tensor is better called by its place in the call than by its number. */
  readonly prefersForwardNames: boolean;
  /** Why `tensors` is not all there is, as a sentence on what to write; absent when it is. */
  readonly unknown?: string;
  /** Every argument of a TorchScript `forward`, those with a default included. */
  readonly argumentNames?: readonly string[];
  /** Set when one dictionary holds everything on this side: the names are its keys, which only the model's code knows. */
  readonly dictionary?: { readonly name: string; readonly type: string };
  /** What no configuration can make up for. */
  readonly faults: readonly string[];
}

export interface FileFacts {
  readonly inputs: FileSide;
  readonly outputs: FileSide;
}

/**
 * @param model  which model of a package; its own choice by default
 * @throws {ModelArchiveError} when the file cannot be read, or holds no such model
 */
export async function readFileFacts({ path, engine }: LocatedFile, model?: string): Promise<FileFacts> {
  return engine === 'aoti' ? packageFacts(path, model) : moduleFacts(path);
}

const UNSTATED = 'inputs and outputs: the package does not state them; write input [ … ] and output [ … ]';

async function packageFacts(path: string, model: string | undefined): Promise<FileFacts> {
  const { inputs, outputs } = await inspectAoti(path, { model });
  return { inputs: packageSide(inputs), outputs: packageSide(outputs) };
}

function packageSide(tensors: readonly DeclaredTensor[] | undefined): FileSide {
  if (tensors === undefined) return { tensors: [], prefersForwardNames: false, unknown: UNSTATED, faults: [] };
  return { tensors, prefersForwardNames: !tensors.every(isFlat), faults: tensors.flatMap(packageFaults) };
}

/** Names by place say more than numbers as soon as arguments are nested or have keywords. */
function isFlat({ forwardName }: DeclaredTensor): boolean {
  return forwardName === undefined || /^(?:ARGS\[\d+\]|RESULT|RESULT\[\d+\])$/.test(forwardName);
}

function packageFaults({ ordinalName, datatype, torchDtype, contiguous }: DeclaredTensor): readonly string[] {
  if (contiguous === false) {
    return [`${ordinalName} is not contiguous: export again with x.contiguous() as the sample`];
  }
  if (datatype !== undefined || torchDtype === undefined) return [];
  return [
    `${ordinalName} is torch.${torchDtype}, which no client can carry: convert it inside the model and export again`,
  ];
}

async function moduleFacts(path: string): Promise<FileFacts> {
  const { arguments: taken, returns, returnType = '' } = await inspectTorchScript(path);
  return { inputs: argumentsSide(taken), outputs: resultsSide(returns, returnType) };
}

function argumentsSide(taken: readonly TorchScriptArgument[] | undefined): FileSide {
  const side = { tensors: [], prefersForwardNames: true, faults: [] };
  if (taken === undefined) {
    return { ...side, unknown: 'input [ … ]: the file does not state the signature of forward' };
  }
  const [only] = taken;
  if (taken.length === 1 && only !== undefined && isDictionary(only.type)) return { ...side, ...keyed(only, 'input') };
  const tensors = taken.flatMap(({ name, type, default: value }, i) =>
    value === undefined && isServable(type) ? [moduleTensor(type, `INPUT__${i}`, name)] : [],
  );
  const faults = taken
    .filter(({ type, default: value }) => value === undefined && !isServable(type))
    .map(
      ({ name, type }) =>
        `argument '${name}' is ${type}, which no tensor fits: give it a default, or wrap the module in one that takes tensors`,
    );
  return { ...side, tensors, faults, argumentNames: taken.map(({ name }) => name) };
}

/** Results that are one value, though not simply a tensor. */
const SINGLE = /^(?:List\[str\]|Optional\[Tensor\]|int|float|bool|str)$/;

function resultsSide(returns: readonly string[] | undefined, returnType: string): FileSide {
  const side = { tensors: [], prefersForwardNames: false, faults: [] };
  if (isDictionary(returnType)) return { ...side, ...keyed({ name: 'result', type: returnType }, 'output') };
  const types = returns ?? (SINGLE.test(returnType) ? [returnType] : undefined);
  if (types === undefined) {
    return { ...side, unknown: 'every output: the file does not state how many there are' };
  }
  const tensors = types.flatMap((type, i) => (isServable(type) ? [moduleTensor(type, `OUTPUT__${i}`)] : []));
  const faults = types.flatMap((type, i) =>
    isServable(type) ? [] : [`OUTPUT__${i}: ${type} is no tensor; wrap the module in one that returns tensors`],
  );
  return { ...side, tensors, faults };
}

function keyed(dictionary: { readonly name: string; readonly type: string }, side: 'input' | 'output') {
  const { name, type } = dictionary;
  const unknown = `names (the keys of '${name}'), data_type and dims of every ${side}`;
  return { dictionary: { name, type }, unknown };
}

function moduleTensor(type: string, ordinalName: string, forwardName?: string): FileTensor {
  return {
    type,
    ordinalName,
    ...(forwardName !== undefined && { forwardName }),
    // A list of strings has one dimension, of any size.
    ...(type === 'List[str]' && { datatype: 'BYTES', shape: [{ min: 0, max: null }] }),
  };
}

function isServable(type: string): boolean {
  return type === 'Tensor' || type === 'Optional[Tensor]' || type === 'List[str]';
}

function isDictionary(type: string): boolean {
  return type.startsWith('Dict[str, ');
}
