/** Whether dimension 0 of every tensor is one and the same batch. */
import { type DeclaredTensor, type DimRange, formatDeclaredShape } from '@nereid/model-archive';

export interface BatchPlan {
  /** 0 when there is no batch dimension. */
  readonly maxBatchSize: number;
  /** Why; sentences. */
  readonly reasons: readonly string[];
}

/** Largest batch where a file states no upper bound: small enough not to exhaust memory unasked. It is Triton's `default-max-batch-size`. */
export const DEFAULT_MAX_BATCH_SIZE = 4;

const INT32_MAX = 2 ** 31 - 1;

/**
 * @param tensors  every input and output
 * @param withoutBound  largest batch where the file states no upper bound
 */
export function planBatch(tensors: readonly DeclaredTensor[], withoutBound = DEFAULT_MAX_BATCH_SIZE): BatchPlan {
  const [first] = tensors;
  const rows = first && leadingRange(first);
  const odd = tensors.find((tensor) => leadingRange(tensor)?.symbol !== rows?.symbol || rows === undefined);
  if (rows === undefined || odd !== undefined) return withoutBatch(odd ?? first);
  if (rows.min > 1) {
    return {
      maxBatchSize: 0,
      reasons: [`No batches: the model takes ${rows.min} rows at least, a batch may have one.`],
    };
  }
  if (rows.max === null) {
    return {
      maxBatchSize: withoutBound,
      reasons: ['Largest batch. The file states no upper bound: take what the memory allows.'],
    };
  }
  return {
    maxBatchSize: Math.min(rows.max, INT32_MAX),
    reasons: [
      `Largest batch: dimension 0 of every tensor may be ${rows.min} to ${rows.max}. It is left out of dims below.`,
    ],
  };
}

/** A range with a symbol in front: without one nothing says that two dimensions are the same. */
function leadingRange({ shape }: DeclaredTensor): (DimRange & { readonly symbol: string }) | undefined {
  const dim = shape?.[0];
  if (dim === undefined || typeof dim === 'number' || dim.symbol === undefined) return undefined;
  return { ...dim, symbol: dim.symbol };
}

function withoutBatch(odd: DeclaredTensor | undefined): BatchPlan {
  if (odd === undefined) return { maxBatchSize: 0, reasons: [] };
  const shape = odd.shape === undefined ? 'an unknown shape' : `shape ${formatDeclaredShape(odd.shape)}`;
  return {
    maxBatchSize: 0,
    reasons: [
      `No batches: dimension 0 is not one variable size that all tensors share (${odd.ordinalName} has ${shape}).`,
      'Export with torch.export.Dim on dimension 0 of every input to get them.',
    ],
  };
}
