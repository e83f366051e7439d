/** A config.pbtxt from the signature of a TorchScript module, which has neither datatypes nor shapes: what is unknown is left to fill in. */
import { basename } from 'node:path';
import type { TorchScriptArgument } from '@nereid/model-archive';
import { type ConfigText, comment, INSTANCE_HINT, layOut, quote, type TensorText, tensorList } from './config-text.ts';
import type { TorchScriptReport } from './file-report.ts';
import { signatureText } from './file-text.ts';

interface Described {
  readonly tensors: readonly TensorText[];
  readonly open: readonly string[];
}

export function torchScriptConfig(report: TorchScriptReport): ConfigText {
  const inputs = describeInputs(report);
  const outputs = describeOutputs(report);
  const text = layOut([
    head(report),
    BATCH,
    tensorList('input', inputs.tensors),
    tensorList('output', outputs.tensors),
    INSTANCE_HINT,
  ]);
  return { text, open: [...inputs.open, ...outputs.open] };
}

function head(report: TorchScriptReport): string {
  const file = basename(report.path);
  return [
    comment(`Configuration of ${file}, a TorchScript module: ${signatureText(report)}`),
    comment('TorchScript files state no datatypes and shapes: fill in the lines marked FILL IN.'),
    comment(`Place: <model>/config.pbtxt beside <model>/1/${file}; the name of the model is that of the directory.`),
    'backend: "pytorch"',
    'platform: "pytorch_libtorch"',
    ...(file === 'model.pt' ? [] : [`default_model_filename: ${quote(file)}`]),
  ].join('\n');
}

const BATCH = [
  comment(
    'If dimension 0 of every tensor is the batch, set the largest batch here and leave that dimension out of dims below.',
  ),
  'max_batch_size: 0',
].join('\n');

const STRINGS: readonly string[] = ['data_type: TYPE_STRING', 'dims: [ -1 ]'];
const UNKNOWN: readonly string[] = ['# FILL IN data_type: TYPE_FP32', '# FILL IN dims: [ -1, 64 ]'];

function describeInputs({ arguments: taken }: TorchScriptReport): Described {
  if (taken === undefined)
    return { tensors: [], open: ['input [ … ]: the file does not state the signature of forward'] };
  const [only] = taken;
  if (taken.length === 1 && only?.type.startsWith('Dict[str, ')) return describeDictionary(only, 'input');
  const required = taken.filter((argument) => argument.default === undefined);
  const described = required.map(describeArgument);
  return { tensors: described.flatMap(({ tensors }) => tensors), open: described.flatMap(({ open }) => open) };
}

function describeArgument({ name, type }: TorchScriptArgument): Described {
  const comments = [`${name}: ${type}`];
  if (type === 'List[str]') return { tensors: [{ name, comments, fields: STRINGS }], open: [] };
  if (type === 'Tensor' || type === 'Optional[Tensor]') {
    return { tensors: [{ name, comments, fields: UNKNOWN }], open: [`data_type and dims of input '${name}'`] };
  }
  return {
    tensors: [],
    open: [
      `argument '${name}' is ${type}, which no tensor fits: give it a default, or wrap the module in one that takes tensors`,
    ],
  };
}

/** The names are the keys, which only the code knows. */
function describeDictionary(
  { name, type }: Pick<TorchScriptArgument, 'name' | 'type'>,
  side: 'input' | 'output',
): Described {
  const fields = type === 'Dict[str, List[str]]' ? STRINGS : UNKNOWN;
  const comments = [`${name}: ${type}; one ${side} for each key, named like it`];
  return {
    tensors: [{ name: 'FILL_IN_KEY', comments, fields }],
    open: [`names (the keys of '${name}'), data_type and dims of every ${side}`],
  };
}

/** Results that are one value, though not simply a tensor. */
const SINGLE = /^(?:List\[str\]|Optional\[Tensor\]|int|float|bool|str)$/;

function describeOutputs({ returns, returnType = '' }: TorchScriptReport): Described {
  if (returnType.startsWith('Dict[str, ')) return describeDictionary({ name: 'result', type: returnType }, 'output');
  const types = returns ?? (SINGLE.test(returnType) ? [returnType] : undefined);
  if (types === undefined) {
    const comments = [`result: ${returnType || 'not stated'}; one output for each element, OUTPUT__0, OUTPUT__1 …`];
    return {
      tensors: [{ name: 'OUTPUT__0', comments, fields: UNKNOWN }],
      open: ['every output: the file does not state how many there are'],
    };
  }
  const described = types.map((type, i) => describeResult(type, `OUTPUT__${i}`));
  return { tensors: described.flatMap(({ tensors }) => tensors), open: described.flatMap(({ open }) => open) };
}

function describeResult(type: string, name: string): Described {
  if (type === 'List[str]') return { tensors: [{ name, comments: [type], fields: STRINGS }], open: [] };
  if (type === 'Tensor' || type === 'Optional[Tensor]') {
    return { tensors: [{ name, comments: [], fields: UNKNOWN }], open: [`data_type and dims of output '${name}'`] };
  }
  return { tensors: [], open: [`${name}: ${type} is no tensor; wrap the module in one that returns tensors`] };
}
