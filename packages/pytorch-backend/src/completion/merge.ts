/** Fits what a file tells around what a configuration says: what is written stays, what is missing is added. */
import { createModelConfig, type ModelConfig, type ModelInput, type ModelOutput } from '@nereid/model-config';
import type { Engine } from '../parameters.ts';
import { resolveInputNames, resolveOutputNames } from '../torchscript-names.ts';
import type { ConfigProposal, ProposedSide, ProposedTensor } from './propose.ts';

type Side = 'input' | 'output';

export interface NamedSide {
  readonly engine: Engine;
  readonly side: Side;
  readonly proposed: ProposedSide;
}

/**
 * Ordinal names of what configured names stand for, found as the load finds it but without refusing any; a key of a dictionary stands for itself.
 * Undefined where a name is none of a package's.
 */
export function ordinalNames(names: readonly string[], { engine, side, proposed }: NamedSide): (string | undefined)[] {
  const { tensors, argumentNames = [], dictionary } = proposed;
  if (dictionary !== undefined) return [...names];
  if (engine === 'aoti') {
    const find = (name: string) =>
      tensors.find(({ ordinalName, forwardName }) => [ordinalName, forwardName].includes(name));
    return names.map((name) => find(name)?.ordinalName);
  }
  const { positions } = side === 'input' ? resolveInputNames(names, argumentNames) : resolveOutputNames(names);
  return positions.map((position) => `${side.toUpperCase()}__${position}`);
}

/** Which proposed tensor each of the names stands for. */
export function matchTensors(names: readonly string[], named: NamedSide): (ProposedTensor | undefined)[] {
  return ordinalNames(names, named).map((ordinal) =>
    named.proposed.tensors.find(({ ordinalName }) => ordinalName === ordinal),
  );
}

export interface MergeRequest {
  readonly config: ModelConfig;
  readonly engine: Engine;
  readonly proposal: ConfigProposal;
}

export interface Merged {
  /** An entry that remains without a datatype or dims stays so. */
  readonly config: ModelConfig;
  /** For people: `max_batch_size 8`, `input 'x'`, `dims of output 'y'`; empty when nothing was. */
  readonly added: readonly string[];
}

/** A configuration with what the proposal adds to it. */
export function mergeProposal(request: MergeRequest): Merged {
  const { config, proposal } = request;
  const added: string[] = [];
  const { maxBatchSize } = proposal;
  const isBatchNew = maxBatchSize !== config.maxBatchSize;
  if (isBatchNew) added.push(`max_batch_size ${maxBatchSize}`);
  const input = mergeSide({ ...request, side: 'input', given: config.input, create: newInput, added });
  const output = mergeSide({ ...request, side: 'output', given: config.output, create: newOutput, added });
  const scheduler = config.dynamicBatching ?? config.sequenceBatching;
  const { dynamicBatching } = createModelConfig(
    isBatchNew && maxBatchSize > 1 && scheduler === undefined ? { dynamicBatching: {} } : {},
  );
  if (dynamicBatching !== undefined) added.push('dynamic_batching');
  return {
    config: { ...config, maxBatchSize, input, output, ...(dynamicBatching !== undefined && { dynamicBatching }) },
    added,
  };
}

interface SideMerge<T> extends MergeRequest {
  readonly side: Side;
  readonly given: readonly T[];
  readonly create: (tensor: TensorInit) => T;
  readonly added: string[];
}

type TensorInit = Pick<ModelOutput, 'name' | 'dataType' | 'dims' | 'reshape'>;

function mergeSide<T extends ModelInput | ModelOutput>(merge: SideMerge<T>): readonly T[] {
  const { config, given, engine, side, added, proposal, create } = merge;
  const proposed = proposal[`${side}s`];
  const names = given.map(({ name }) => name);
  const matches = matchTensors(names, { engine, side, proposed });
  const filled = given.map((tensor, i) => fill(tensor, { from: matches[i], side, added }));
  // A choice of outputs is a choice; of the inputs every one is needed. What a wrong name stands for the load will say, with the names there are.
  if ((side === 'output' && given.length > 0) || (engine === 'aoti' && matches.includes(undefined))) return filled;
  const claimed = new Set([...matches, ...otherClaims(config, { side, proposed })]);
  const missing = proposed.tensors.filter((tensor) => !claimed.has(tensor));
  return [...filled, ...missing.map((tensor) => create(initOf(tensor, { names, side, added })))];
}

/** The tensor with the datatype and dims that it lacks. */
function fill<T extends ModelInput | ModelOutput>(
  tensor: T,
  { from, side, added }: { readonly from: ProposedTensor | undefined; readonly side: Side; readonly added: string[] },
): T {
  const dataType = tensor.dataType === 'TYPE_INVALID' ? from?.dataType : undefined;
  const dims = tensor.dims.length === 0 ? from?.dims : undefined;
  const parts = [...(dataType === undefined ? [] : ['data_type']), ...(dims === undefined ? [] : ['dims'])];
  if (parts.length > 0) added.push(`${parts.join(' and ')} of ${side} '${tensor.name}'`);
  const reshape = dims === undefined || tensor.reshape !== undefined ? undefined : from?.reshape;
  return {
    ...tensor,
    ...(dataType !== undefined && { dataType }),
    ...(dims !== undefined && { dims: [...dims] }),
    ...(reshape !== undefined && { reshape: { shape: [...reshape] } }),
  };
}

function initOf(
  tensor: ProposedTensor,
  { names, side, added }: { readonly names: readonly string[]; readonly side: Side; readonly added: string[] },
): TensorInit {
  const name = nameLike(names, tensor);
  if (tensor.dataType !== undefined && tensor.dims !== undefined) added.push(`${side} '${name}'`);
  const { dataType = 'TYPE_INVALID', dims = [], reshape } = tensor;
  return { name, dataType, dims: [...dims], ...(reshape !== undefined && { reshape: { shape: [...reshape] } }) };
}

/** In the form of the names that are there. */
function nameLike(names: readonly string[], { name, ordinalName, forwardName }: ProposedTensor): string {
  if (names.length === 0) return name;
  return names.every((other) => /^[^_]*(?:_[^_]+)*__\d+$/.test(other)) ? ordinalName : (forwardName ?? ordinalName);
}

function newInput(tensor: TensorInit): ModelInput {
  const absent = { isShapeTensor: false, allowRaggedBatch: false, optional: false, isNonLinearFormatIo: false };
  return { format: 'FORMAT_NONE', ...absent, ...tensor };
}

function newOutput(tensor: TensorInit): ModelOutput {
  return { labelFilename: '', isShapeTensor: false, isNonLinearFormatIo: false, ...tensor };
}

/** Tensors that the configuration names elsewhere than in `input` or `output`: controls, states and batch inputs. */
function otherClaims(
  { sequenceBatching, batchInput }: ModelConfig,
  { side, proposed: { tensors } }: { readonly side: Side; readonly proposed: ProposedSide },
): readonly (ProposedTensor | undefined)[] {
  const { controlInput = [], state = [] } = sequenceBatching ?? {};
  const names =
    side === 'output'
      ? state.map(({ outputName }) => outputName)
      : [
          ...controlInput.map(({ name }) => name),
          ...state.map(({ inputName }) => inputName),
          ...batchInput.flatMap(({ targetName }) => targetName),
        ];
  return names.map((name) => {
    const index = /__(\d+)$/.exec(name)?.[1];
    const ordinal = index === undefined ? name : `${side.toUpperCase()}__${index}`;
    return tensors.find(({ ordinalName, forwardName }) => ordinalName === ordinal || forwardName === name);
  });
}
