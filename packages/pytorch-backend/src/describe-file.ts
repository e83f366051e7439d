/** What the file of a model tells of its inputs and outputs, for those who have no configuration. */
import type { Datatype } from '@nereid/core';
import { inspectAoti, inspectTorchScript, type TorchScriptArgument } from '@nereid/model-archive';
import { PyTorchBackendError } from './errors.ts';
import type { LocatedFile } from './locate-file.ts';
import type { RunInputSpec } from './run-values.ts';

/** A tensor that a caller may call by its name or by one of its aliases. */
export interface DescribedInput extends RunInputSpec {
  readonly aliases: readonly string[];
}

export interface FileDescription {
  /** Undefined when the file does not tell. */
  readonly inputs: readonly DescribedInput[] | undefined;
  readonly outputs: readonly string[] | undefined;
}

export async function describeFile({ path, engine }: LocatedFile): Promise<FileDescription> {
  return engine === 'aoti' ? describeAoti(path) : describeTorchScript(path);
}

async function describeAoti(path: string): Promise<FileDescription> {
  const { inputs, outputs } = await inspectAoti(path);
  return {
    inputs: inputs?.map(({ ordinalName, forwardName, datatype, torchDtype, shape }) => ({
      name: ordinalName,
      datatype: datatype ?? unknownDatatype(ordinalName, torchDtype),
      shape,
      aliases: forwardName === undefined ? [] : [forwardName],
    })),
    outputs: outputs?.map(({ ordinalName }) => ordinalName),
  };
}

function unknownDatatype(name: string, torchDtype: string | undefined): never {
  const what =
    torchDtype === undefined ? 'does not state its datatype' : `is torch.${torchDtype}, which cannot be given`;
  const message = `input '${name}' of the package ${what}; list the inputs and their datatypes in options.inputs`;
  throw new PyTorchBackendError({ code: 'UNSUPPORTED', reason: 'signature', message });
}

async function describeTorchScript(path: string): Promise<FileDescription> {
  const { arguments: all, returns } = await inspectTorchScript(path);
  const tensors = all?.slice(0, firstBeyond(all));
  return {
    inputs: tensors?.some(({ type }) => type.startsWith('Dict[')) ? undefined : tensors?.map(describeArgument),
    outputs: returns?.map((_, i) => `OUTPUT__${i}`),
  };
}

/** Inputs go by position: what follows an argument that is left to its default, as no tensor fits it, is left out too. */
function firstBeyond(all: readonly TorchScriptArgument[]): number {
  const position = all.findIndex(
    (argument) => mayBeAbsent(argument) && !/^(?:Optional\[)?(?:Tensor|List\[str\])\]?$/.test(argument.type),
  );
  return position < 0 ? all.length : position;
}

function mayBeAbsent(argument: TorchScriptArgument): boolean {
  return argument.default !== undefined || argument.type.startsWith('Optional[');
}

function describeArgument(argument: TorchScriptArgument, position: number): DescribedInput {
  const { name, type } = argument;
  // TorchScript has no datatypes of tensors; the most common one stands in unless the caller knows better.
  const datatype: Datatype = type.includes('List[str]') ? 'BYTES' : 'FP32';
  const described = { name, datatype, aliases: [`INPUT__${position}`] };
  return mayBeAbsent(argument) ? { ...described, optional: true } : described;
}
