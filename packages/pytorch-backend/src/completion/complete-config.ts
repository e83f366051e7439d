/** Completes a configuration from the model file and, for outputs that the file does not state, from runs of the model. */
import { datatypeFromConfig, InferenceServerError, type Shape } from '@nereid/core';
import type { DeclaredDim } from '@nereid/model-archive';
import type { ModelConfig, ModelInput, ModelOutput } from '@nereid/model-config';
import type { LocatedFile } from '../locate-file.ts';
import { type FileFacts, readFileFacts } from './file-facts.ts';
import type { MeasuredInput, Measurement, measureOutputs } from './measure.ts';
import { type Merged, matchTensors, mergeProposal, ordinalNames } from './merge.ts';
import { type ConfigProposal, proposeConfig } from './propose.ts';

export interface CompletionRequest {
  readonly config: ModelConfig;
  readonly states: (path: string) => boolean;
  readonly file: LocatedFile;
  /** Largest batch where the file states no upper bound. */
  readonly defaultMaxBatchSize: number;
  /** Runs the model to learn its outputs, by the names of the configuration; absent when it must not be run. */
  readonly measure?: ((what: Measurement) => ReturnType<typeof measureOutputs>) | undefined;
}

export interface CompletedConfig extends Merged {
  readonly proposal: ConfigProposal;
  /** Why no run told what is still missing of the outputs; absent when one did, or nothing is. */
  readonly measureFailure?: InferenceServerError | undefined;
}

/** @throws {ModelArchiveError} when the file cannot be read */
export async function completeConfig(request: CompletionRequest): Promise<CompletedConfig> {
  const { config, file } = request;
  const model = config.parameters.get('AOTI_MODEL_NAME')?.stringValue;
  const facts = await readFileFacts(file, model);
  const stated = completeFrom(facts, request);
  const { measure } = request;
  if (measure === undefined || !lacksOutputs(stated) || stated.config.output.length === 0 || lacksInputs(stated)) {
    return stated;
  }
  try {
    return completeFrom(await measuredFacts({ facts, stated, request, measure }), request);
  } catch (thrown) {
    return { ...stated, measureFailure: InferenceServerError.from(thrown) };
  }
}

/** Whether the model takes inputs of which the configuration does not state everything. */
export function lacksInputs({ config, proposal }: CompletedConfig): boolean {
  const { unknown, faults } = proposal.inputs;
  return config.input.length === 0 ? unknown !== undefined || faults.length > 0 : config.input.some(isOpen);
}

export function lacksOutputs({ config }: CompletedConfig): boolean {
  return config.output.length === 0 || config.output.some(isOpen);
}

/** Whether its datatype or dims are not stated. */
export function isOpen({ dataType, dims }: ModelInput | ModelOutput): boolean {
  return dataType === 'TYPE_INVALID' || dims.length === 0;
}

function completeFrom(facts: FileFacts, request: CompletionRequest): CompletedConfig {
  const { config, file, defaultMaxBatchSize } = request;
  const { engine } = file;
  const free = proposeConfig(facts, { defaultMaxBatchSize });
  const decided = decidedBatch(request, free);
  const proposal = decided === undefined ? free : proposeConfig(facts, { maxBatchSize: decided });
  return { ...mergeProposal({ config, engine, proposal }), proposal };
}

/**
 * The largest batch when the configuration decides it: by a number, or by dims that leave no room for a batch dimension. Undefined when the
 * file's own decides.
 */
function decidedBatch({ config, states, file }: CompletionRequest, proposal: ConfigProposal): number | undefined {
  if (config.maxBatchSize > 0 || states('max_batch_size')) return config.maxBatchSize;
  // Nothing says that dimension 0 of a module's tensors is a batch.
  if (file.engine === 'torchscript') return 0;
  const ranks = (['input', 'output'] as const).flatMap((side) => {
    const given: readonly (ModelInput | ModelOutput)[] = config[side];
    const names = given.map(({ name }) => name);
    const matches = matchTensors(names, { engine: file.engine, side, proposed: proposal[`${side}s`] });
    return given.flatMap((tensor, i) => {
      const proposed = matches[i]?.reshape ?? matches[i]?.dims;
      return tensor.dims.length === 0 || proposed === undefined ? [] : [modelDims(tensor).length - proposed.length];
    });
  });
  // Without the batch dimension that was proposed all ranks agree, or the dims are whole shapes.
  return ranks.every((difference) => difference === 0) ? undefined : 0;
}

function modelDims({ dims, reshape }: ModelInput | ModelOutput): Shape {
  return reshape?.shape ?? dims;
}

interface MeasuredFactsRequest {
  readonly facts: FileFacts;
  readonly stated: CompletedConfig;
  readonly request: CompletionRequest;
  readonly measure: NonNullable<CompletionRequest['measure']>;
}

/** The facts with what runs tell of the outputs; what the file itself states stays. */
async function measuredFacts({ facts, stated, request, measure }: MeasuredFactsRequest): Promise<FileFacts> {
  const { engine } = request.file;
  const { config, proposal } = stated;
  const names = config.output.map(({ name }) => name);
  const ordinals = ordinalNames(names, { engine, side: 'output', proposed: proposal.outputs });
  const measured = await measure({ inputs: measuredInputs({ facts, stated, engine }), outputs: names });
  const tensors = new Map(facts.outputs.tensors.map((tensor) => [tensor.ordinalName, tensor]));
  for (const [i, name] of names.entries()) {
    const ordinalName = ordinals[i] ?? name;
    const result = measured.get(name);
    if (result !== undefined) tensors.set(ordinalName, { ordinalName, ...result, ...tensors.get(ordinalName) });
  }
  return { ...facts, outputs: { ...facts.outputs, tensors: [...tensors.values()] } };
}

/** The inputs in their declared ranges; where a file declares none, in those of the configuration. */
function measuredInputs({
  facts,
  stated,
  engine,
}: Pick<MeasuredFactsRequest, 'facts' | 'stated'> & { readonly engine: LocatedFile['engine'] }): MeasuredInput[] {
  const { config, proposal } = stated;
  const names = config.input.map(({ name }) => name);
  const ordinals = ordinalNames(names, { engine, side: 'input', proposed: proposal.inputs });
  const isDeclared = engine === 'aoti';
  return config.input.map((input, i) => {
    const declared = facts.inputs.tensors.find(({ ordinalName }) => isDeclared && ordinalName === ordinals[i]);
    const datatype = datatypeFromConfig(input.dataType);
    if (datatype === undefined) throw new TypeError(`'${input.dataType}' of input '${input.name}' is no datatype`);
    return { name: input.name, datatype, shape: declared?.shape ?? configuredShape(input, config.maxBatchSize) };
  });
}

function configuredShape(input: ModelInput, maxBatchSize: number): readonly DeclaredDim[] {
  const dims = modelDims(input).map((dim) => (dim === -1 ? { min: 1, max: null } : dim));
  return maxBatchSize > 0 ? [{ min: 1, max: maxBatchSize, symbol: 'batch' }, ...dims] : dims;
}
