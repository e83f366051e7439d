/** The text of a config.pbtxt for a model file: what the file tells, with comments, and marks where it does not. */
import { basename } from 'node:path';
import type { ConfigProposal, ProposedSide, ProposedTensor } from '@nereid/pytorch-backend';
import { type ConfigText, comment, dimsFields, layOut, quote, type TensorText, tensorList } from './config-text.ts';
import type { AotiReport, TorchScriptReport } from './file-report.ts';
import { signatureText } from './file-text.ts';

/** A file that is served. */
export type ModelReport = AotiReport | TorchScriptReport;

export function writeConfig(report: ModelReport, proposal: ConfigProposal): ConfigText {
  const { inputs, outputs } = proposal;
  const text = layOut([
    head(report),
    batch(report, proposal),
    ...side('input', inputs),
    ...side('output', outputs, report.kind === 'torchscript' ? report.returnType : undefined),
    parameters(report),
    report.kind === 'aoti' && report.target.device === 'cuda' ? 'instance_group [ { kind: KIND_GPU } ]' : INSTANCE_HINT,
  ]);
  return { text, open: [...new Set([...inputs.open, ...outputs.open])] };
}

function head(report: ModelReport): string {
  const file = basename(report.path);
  const usual = report.kind === 'aoti' ? 'model.pt2' : 'model.pt';
  return [
    ...(report.kind === 'aoti' ? packageHead(report) : moduleHead(report)),
    comment(`Place: <model>/config.pbtxt beside <model>/1/${file}; the name of the model is that of the directory.`),
    'backend: "pytorch"',
    `platform: ${quote(report.platform)}`,
    ...(file === usual ? [] : [`default_model_filename: ${quote(file)}`]),
  ].join('\n');
}

function packageHead({ path, target }: AotiReport): readonly string[] {
  const madeFor = [target.device, target.platform, target.machine, target.cpuIsa].filter((part) => part !== undefined);
  const place = madeFor.length > 0 ? ` for ${madeFor.join(', ')}` : '';
  return [comment(`Configuration of ${basename(path)}, an AOTInductor package${place}.`)];
}

function moduleHead(report: TorchScriptReport): readonly string[] {
  return [
    comment(`Configuration of ${basename(report.path)}, a TorchScript module: ${signatureText(report)}`),
    comment('TorchScript files state no datatypes and shapes: fill in the lines marked FILL IN.'),
    comment('Outputs whose lines are left out are learnt from a run when a server loads the model.'),
  ];
}

const MODULE_BATCH =
  'If dimension 0 of every tensor is the batch, set the largest batch here and leave that dimension out of dims below.';

function batch({ kind }: ModelReport, { maxBatchSize, batchReasons }: ConfigProposal): string {
  const reasons = kind === 'torchscript' ? [MODULE_BATCH] : batchReasons;
  const scheduler = [comment('Requests that wait at the same time run together.'), 'dynamic_batching { }'];
  return [
    ...reasons.map(comment),
    `max_batch_size: ${maxBatchSize}`,
    ...(maxBatchSize > 1 ? ['', ...scheduler] : []),
  ].join('\n');
}

const UNKNOWN = ['# FILL IN data_type: TYPE_FP32', '# FILL IN dims: [ -1, 64 ]'] as const;

function side(name: 'input' | 'output', proposed: ProposedSide, returnType = 'not stated'): readonly string[] {
  const { tensors, dictionary, unknown, leftOut } = proposed;
  const notes = leftOut.map(comment).join('\n');
  if (dictionary !== undefined) {
    const comments = [`${dictionary.name}: ${dictionary.type}; one ${name} for each key, named like it`];
    const fields = dictionary.type === 'Dict[str, List[str]]' ? ['data_type: TYPE_STRING', 'dims: [ -1 ]'] : UNKNOWN;
    return [tensorList(name, [{ name: 'FILL_IN_KEY', comments, fields }])];
  }
  if (name === 'output' && unknown !== undefined) {
    const comments = [`result: ${returnType}; one output for each element, OUTPUT__0, OUTPUT__1 …`];
    return [tensorList(name, [{ name: 'OUTPUT__0', comments, fields: UNKNOWN }])];
  }
  return [notes, tensorList(name, tensors.map(tensorText))];
}

function tensorText({ name, ordinalName, forwardName, type, shape, ...tensor }: ProposedTensor): TensorText {
  const { dataType, dims, reshape } = tensor;
  const other = name === ordinalName ? forwardName : ordinalName;
  const described = type === undefined ? [other, shape].filter((part) => part !== undefined) : typed(type, forwardName);
  const [unknownType, unknownDims] = UNKNOWN;
  return {
    name,
    comments: described.length === 0 ? [] : [described.join(', ')],
    fields: [
      dataType === undefined ? unknownType : `data_type: ${dataType}`,
      ...(dims === undefined ? [unknownDims] : dimsFields(dims, reshape)),
    ],
  };
}

function typed(type: string, argument: string | undefined): readonly string[] {
  if (argument !== undefined) return [`${argument}: ${type}`];
  return type === 'Tensor' ? [] : [type];
}

/** A package that holds several models, or one of another name than the usual, is told which. */
function parameters(report: ModelReport): string {
  if (report.kind === 'torchscript' || report.model === 'model' || report.models.length === 1) return '';
  return `parameters { key: "AOTI_MODEL_NAME" value { string_value: ${quote(report.model)} } }`;
}

const INSTANCE_HINT = [
  '# Model instances run requests side by side; one by default:',
  '# instance_group [ { count: 2 kind: KIND_CPU } ]',
].join('\n');
