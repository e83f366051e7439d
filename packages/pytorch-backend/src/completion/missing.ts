/** What a configuration still lacks, as the lines to add to it. */
import { basename } from 'node:path';
import type { InferenceServerError } from '@nereid/core';
import type { ModelConfig, ModelInput, ModelOutput } from '@nereid/model-config';
import { PyTorchBackendError } from '../errors.ts';
import type { LocatedFile } from '../locate-file.ts';
import { type CompletedConfig, isOpen, lacksInputs, lacksOutputs } from './complete-config.ts';

export interface MissingRequest {
  readonly modelName: string;
  readonly isConfigured: boolean;
  readonly file: LocatedFile;
  /** As it was given. */
  readonly config: ModelConfig;
  readonly completed: CompletedConfig;
}

/** The error to load with while tensors are not stated; undefined when all are. */
export function missingError(request: MissingRequest): PyTorchBackendError | undefined {
  const { completed, isConfigured } = request;
  const { inputs, outputs } = completed.proposal;
  const lines = [...inputLines(completed), ...outputLines(completed)];
  const faults = [...(lacksInputs(completed) ? inputs.faults : []), ...(lacksOutputs(completed) ? outputs.faults : [])];
  if (lines.length === 0 && faults.length === 0) return undefined;
  return new PyTorchBackendError({
    code: isConfigured ? 'INVALID_ARG' : 'NOT_FOUND',
    reason: 'signature',
    message: `${head(request)}: ${[why(request), ...faults].join('; ')}.${advice(request, lines)}`,
    cause: completed.measureFailure,
  });
}

function advice({ file }: MissingRequest, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  const batch =
    file.engine === 'torchscript' ? ', and for batches max_batch_size, with the batch left out of dims' : '';
  return ` Add to its config.pbtxt, with the model's own datatypes and sizes (-1 for one that varies)${batch}:\n${lines.join('\n')}`;
}

function head({ modelName, isConfigured, config, completed, file }: MissingRequest): string {
  if (!isConfigured) return `model configuration is not provided for model '${modelName}'`;
  const taken = completed.config.input.length;
  if (file.engine === 'aoti' || taken === config.input.length) {
    return `model '${modelName}': the configuration does not state every input and output`;
  }
  const given = config.input.length;
  return `unable to load model '${modelName}', configuration expects ${given} inputs, model provides ${taken}`;
}

function why({ file, completed }: MissingRequest): string {
  const name = basename(file.path);
  const stated =
    file.engine === 'torchscript'
      ? `'${name}' is a TorchScript module, which states no datatypes and shapes`
      : `'${name}' does not state them all`;
  const { measureFailure } = completed;
  if (measureFailure === undefined) return stated;
  return `${stated}, and a run with zeros did not tell them: ${firstLine(measureFailure)}`;
}

/** Torch's messages go on with what does not help here. */
function firstLine(error: InferenceServerError): string {
  const [line = ''] = error.message.split('\n');
  return line.replace(/\.$/, '');
}

const UNKNOWN = 'data_type: TYPE_FP32 dims: [ -1 ]';

function inputLines(completed: CompletedConfig): readonly string[] {
  const { input } = completed.config;
  if (input.length > 0) return openLines('input', input);
  const { dictionary, unknown } = completed.proposal.inputs;
  if (unknown === undefined) return [];
  return [`input [ { name: "${dictionary === undefined ? 'INPUT__0' : 'KEY'}" ${UNKNOWN} } ]`];
}

/** Once the inputs are stated a run tells the outputs, if their names are known and it goes well. */
function outputLines(completed: CompletedConfig): readonly string[] {
  const { output } = completed.config;
  if (output.length > 0) {
    return lacksInputs(completed) && completed.measureFailure === undefined ? [] : openLines('output', output);
  }
  const { dictionary, unknown } = completed.proposal.outputs;
  if (unknown === undefined) return [];
  return [`output [ { name: "${dictionary === undefined ? 'OUTPUT__0' : 'KEY'}" } ]`];
}

/** A new entry may stand anywhere in the file: entries add up. */
function openLines(side: 'input' | 'output', tensors: readonly (ModelInput | ModelOutput)[]): readonly string[] {
  return tensors
    .filter(isOpen)
    .map((tensor) => `${side} [ { name: ${JSON.stringify(tensor.name)} ${fieldsOf(tensor)} } ]`);
}

function fieldsOf({ dataType, dims }: ModelInput | ModelOutput): string {
  if (dataType === 'TYPE_INVALID' && dims.length === 0) return UNKNOWN;
  return [
    `data_type: ${dataType === 'TYPE_INVALID' ? 'TYPE_FP32' : dataType}`,
    `dims: [ ${(dims.length === 0 ? [-1] : dims).join(', ')} ]`,
  ].join(' ');
}
