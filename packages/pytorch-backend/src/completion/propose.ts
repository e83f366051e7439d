/** What a configuration says when it says what the file tells: the one source of completed, printed and written configurations. */
import { datatypeToConfig, type Shape } from '@nereid/core';
import { type DeclaredDim, formatDeclaredShape } from '@nereid/model-archive';
import type { DataType } from '@nereid/model-config';
import type { FileFacts, FileSide, FileTensor } from './file-facts.ts';
import { planBatch } from './plan-batch.ts';

/** An entry of `input` or `output`. */
export interface ProposedTensor {
  readonly name: string;
  /** `INPUT__<position>` or `OUTPUT__<position>`, whatever the name is. */
  readonly ordinalName: string;
  /** `ARGS[0]`, or the argument of a TorchScript `forward`; absent when there is none. */
  readonly forwardName?: string | undefined;
  /** Its type in a TorchScript signature. */
  readonly type?: string | undefined;
  /** Declared shape, batch dimension included: `[1..8, 4]`; absent when the file states none. */
  readonly shape?: string | undefined;
  /** Absent when the file does not state it. */
  readonly dataType?: DataType | undefined;
  /** Without the batch dimension; absent when the file does not state it. */
  readonly dims?: Shape | undefined;
  /** Set where `dims` alone cannot say it: a tensor without dimensions travels as one element. */
  readonly reshape?: Shape | undefined;
}

export interface ProposedSide {
  readonly tensors: readonly ProposedTensor[];
  /** As in `FileSide`. */
  readonly argumentNames?: FileSide['argumentNames'];
  readonly dictionary?: FileSide['dictionary'];
  readonly unknown?: string;
  readonly faults: readonly string[];
  /** All that is left to do, `unknown` and `faults` included, one sentence each; empty when the side is complete. */
  readonly open: readonly string[];
  /** Outputs that no configuration can state, with the reason. */
  readonly leftOut: readonly string[];
}

export interface ConfigProposal {
  readonly maxBatchSize: number;
  /** Why, in sentences. */
  readonly batchReasons: readonly string[];
  readonly inputs: ProposedSide;
  readonly outputs: ProposedSide;
}

export interface BatchDecision {
  /** Decided by the user; found out from the tensors by default. */
  readonly maxBatchSize?: number | undefined;
  /** Largest batch where the file states no upper bound; 4 by default. */
  readonly defaultMaxBatchSize?: number | undefined;
}

export function proposeConfig(facts: FileFacts, options: BatchDecision = {}): ConfigProposal {
  const { inputs, outputs } = facts;
  const tensors = [...inputs.tensors, ...outputs.tensors].filter(({ isNone }) => !isNone);
  const planned = planBatch(tensors, options.defaultMaxBatchSize);
  const { maxBatchSize, reasons } =
    options.maxBatchSize === undefined ? planned : { maxBatchSize: options.maxBatchSize, reasons: [] };
  return {
    maxBatchSize,
    batchReasons: reasons,
    inputs: proposeSide(inputs, maxBatchSize > 0),
    outputs: proposeSide(outputs, maxBatchSize > 0),
  };
}

function proposeSide(side: FileSide, isBatching: boolean): ProposedSide {
  const { argumentNames, dictionary, unknown, faults, prefersForwardNames } = side;
  const isOutput = ({ ordinalName }: FileTensor) => ordinalName.startsWith('OUTPUT');
  const isScalar = ({ shape }: FileTensor) => !isBatching && shape?.length === 0;
  const kept = side.tensors.filter((tensor) => !tensor.isNone && !(isOutput(tensor) && isScalar(tensor)));
  const leftOut = side.tensors.filter((tensor) => !kept.includes(tensor));
  return {
    tensors: kept.map((tensor) => proposeTensor(tensor, { isBatching, prefersForwardNames })),
    ...(argumentNames !== undefined && { argumentNames }),
    ...(dictionary !== undefined && { dictionary }),
    ...(unknown !== undefined && { unknown }),
    faults,
    open: [
      ...(unknown === undefined ? [] : [unknown]),
      ...faults,
      ...kept.filter((tensor) => !isRefused(tensor)).flatMap(unstated),
      ...kept.filter(isScalar).map(({ ordinalName }) => `${ordinalName} is a number without dimensions: ${UNSQUEEZE}`),
    ],
    leftOut: leftOut.map(({ ordinalName, isNone }) =>
      isNone
        ? `${ordinalName} is None and left out`
        : `${ordinalName} is a number without dimensions and left out: ${UNSQUEEZE}`,
    ),
  };
}

const UNSQUEEZE = 'let it have one, e.g. with unsqueeze(0)';

/** That it cannot be served is among the faults. */
function isRefused({ contiguous, datatype, torchDtype }: FileTensor): boolean {
  return contiguous === false || (datatype === undefined && torchDtype !== undefined);
}

function unstated({ type, ordinalName, forwardName, datatype, shape }: FileTensor): readonly string[] {
  const parts = [...(datatype === undefined ? ['data_type'] : []), ...(shape === undefined ? ['dims'] : [])];
  if (parts.length === 0) return [];
  if (type === undefined) return [`${parts.join(' and ')} of ${ordinalName}: the file does not state it`];
  return [
    `${parts.join(' and ')} of ${forwardName === undefined ? 'output' : 'input'} '${forwardName ?? ordinalName}'`,
  ];
}

function proposeTensor(
  tensor: FileTensor,
  { isBatching, prefersForwardNames }: { readonly isBatching: boolean; readonly prefersForwardNames: boolean },
): ProposedTensor {
  const { ordinalName, forwardName, type, datatype, shape } = tensor;
  return {
    name: prefersForwardNames ? (forwardName ?? ordinalName) : ordinalName,
    ordinalName,
    forwardName,
    type,
    shape: type === undefined && shape !== undefined ? formatDeclaredShape(shape).replaceAll(',', ', ') : undefined,
    dataType: datatype === undefined ? undefined : datatypeToConfig(datatype),
    ...(shape !== undefined && clientShape(isBatching ? shape.slice(1) : shape)),
  };
}

/** A size of 0, which a configuration cannot state, counts as one that varies. */
function clientShape(shape: readonly DeclaredDim[]): Pick<ProposedTensor, 'dims' | 'reshape'> {
  if (shape.length === 0) return { dims: [1], reshape: [] };
  return { dims: shape.map((dim) => (typeof dim === 'number' && dim > 0 ? dim : -1)) };
}
