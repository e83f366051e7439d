/** A config.pbtxt from what an AOTInductor package declares. */
import { basename } from 'node:path';
import { datatypeToConfig } from '@nereid/core';
import type { DeclaredTensor } from '@nereid/model-archive';
import { planBatch } from './batch.ts';
import {
  type ConfigText,
  comment,
  dimsFields,
  INSTANCE_HINT,
  layOut,
  quote,
  type TensorText,
  tensorList,
} from './config-text.ts';
import type { AotiReport } from './file-report.ts';
import { formatDims } from './shape.ts';

export function aotiConfig(report: AotiReport): ConfigText {
  const { inputs = [], outputs = [] } = report;
  const { maxBatchSize, reasons } = planBatch([...inputs, ...outputs]);
  const open = [...unknownSignature(report), ...inputs.flatMap(missing), ...outputs.flatMap(missing)];
  const text = layOut([
    head(report),
    [...reasons.map(comment), `max_batch_size: ${maxBatchSize}`].join('\n'),
    tensorList('input', tensorTexts(inputs, maxBatchSize > 0)),
    tensorList('output', tensorTexts(outputs, maxBatchSize > 0)),
    parameters(report),
    report.target.device === 'cuda' ? 'instance_group [ { kind: KIND_GPU } ]' : INSTANCE_HINT,
  ]);
  return { text, open };
}

function head({ path, target }: AotiReport): string {
  const file = basename(path);
  const madeFor = [target.device, target.platform, target.machine, target.cpuIsa].filter((part) => part !== undefined);
  return [
    comment(
      `Configuration of ${file}, an AOTInductor package${madeFor.length > 0 ? ` for ${madeFor.join(', ')}` : ''}.`,
    ),
    comment(`Place: <model>/config.pbtxt beside <model>/1/${file}; the name of the model is that of the directory.`),
    'backend: "pytorch"',
    'platform: "torch_aoti"',
    ...(file === 'model.pt2' ? [] : [`default_model_filename: ${quote(file)}`]),
  ].join('\n');
}

/** A package that holds several models, or one of another name than the usual, is told which. */
function parameters({ model, models }: AotiReport): string {
  if (model === 'model' || models.length === 1) return '';
  return `parameters { key: "AOTI_MODEL_NAME" value { string_value: ${quote(model)} } }`;
}

function tensorTexts(tensors: readonly DeclaredTensor[], batching: boolean): readonly TensorText[] {
  const isFlat = tensors.every(({ forwardName }) => forwardName === undefined || FLAT.test(forwardName));
  return tensors.map((tensor) => tensorText(tensor, { batching, name: nameOf(tensor, isFlat) }));
}

/** Names by place say more than numbers as soon as arguments are nested or have keywords. */
const FLAT = /^(?:ARGS\[\d+\]|RESULT|RESULT\[\d+\])$/;

function nameOf({ ordinalName, forwardName }: DeclaredTensor, isFlat: boolean): string {
  return isFlat ? ordinalName : (forwardName ?? ordinalName);
}

function tensorText(
  tensor: DeclaredTensor,
  { batching, name }: { readonly batching: boolean; readonly name: string },
): TensorText {
  const { datatype, shape, ordinalName, forwardName } = tensor;
  const other = name === ordinalName ? forwardName : ordinalName;
  const comments = [[other, shape && formatDims(shape)].filter((part) => part !== undefined).join(', ')];
  const dims = (batching ? shape?.slice(1) : shape)?.map((dim) => (typeof dim === 'number' && dim > 0 ? dim : -1));
  return {
    name,
    comments: comments.filter((text) => text !== ''),
    fields: [
      datatype === undefined ? '# FILL IN data_type: TYPE_FP32' : `data_type: ${datatypeToConfig(datatype)}`,
      ...(dims === undefined ? ['# FILL IN dims: [ -1, 4 ]'] : dimsFields(dims)),
    ],
  };
}

function missing({ ordinalName, datatype, torchDtype, shape, contiguous }: DeclaredTensor): readonly string[] {
  if (contiguous === false) return [`${ordinalName} is not contiguous: export again with x.contiguous() as the sample`];
  if (datatype === undefined && torchDtype !== undefined) {
    return [
      `${ordinalName} is torch.${torchDtype}, which no client can carry: convert it inside the model and export again`,
    ];
  }
  const parts = [...(datatype === undefined ? ['data_type'] : []), ...(shape === undefined ? ['dims'] : [])];
  return parts.length === 0 ? [] : [`${parts.join(' and ')} of ${ordinalName}: the file does not state it`];
}

function unknownSignature({ inputs, outputs }: AotiReport): readonly string[] {
  if (inputs !== undefined && outputs !== undefined) return [];
  return ['inputs and outputs: the package does not state them; write input [ … ] and output [ … ]'];
}
