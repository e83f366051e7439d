/** Checks tensors against what a model file declares, so that a compiled model is never run outside of what it was compiled for. */
import type { Datatype, Shape } from '@nereid/core';
import { formatShape } from '@nereid/core';
import type { DeclaredDim, DeclaredTensor, DimRange } from './types.ts';

/** A tensor as far as the check looks at it. */
export interface CheckedTensor {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: Shape;
}

/** Sizes that the symbols of one call have taken; pass the same map for all its tensors. */
export type SymbolSizes = Map<string, { readonly size: number; readonly tensor: string }>;

/**
 * Why a tensor must not be given to the model: another datatype, another number of dimensions, a dimension outside its range, or one that
 * must equal that of a tensor checked before. `undefined` when nothing that the file declares forbids it.
 *
 * @param symbols  filled by the call; without it dimensions of different tensors are not compared
 */
export function checkDeclared(
  declared: DeclaredTensor,
  tensor: CheckedTensor,
  symbols?: SymbolSizes,
): string | undefined {
  if (declared.datatype !== undefined && declared.datatype !== tensor.datatype) {
    return `'${tensor.name}' is ${tensor.datatype}; the model file was compiled for ${declared.datatype}.`;
  }
  if (declared.datatype === undefined && declared.torchDtype !== undefined) {
    return `'${tensor.name}' is ${tensor.datatype}; the model file was compiled for torch.${declared.torchDtype}, which no request can carry.`;
  }
  const { shape } = declared;
  if (shape === undefined) return undefined;
  if (shape.length !== tensor.shape.length) return wrongShape(tensor, shape, 'another number of dimensions');
  for (let index = 0; index < shape.length; index++) {
    const dim = shape[index];
    const size = tensor.shape[index];
    if (dim === undefined || size === undefined) continue;
    if (!fits(dim, size)) return wrongShape(tensor, shape, `dimension ${index} is ${size}`);
    if (symbols !== undefined && typeof dim !== 'number' && dim.symbol !== undefined) {
      const other = symbols.get(dim.symbol);
      if (other === undefined) symbols.set(dim.symbol, { size, tensor: tensor.name });
      else if (other.size !== size) return unequal(tensor, index, other);
    }
  }
  return undefined;
}

function fits(dim: DeclaredDim, size: number): boolean {
  if (typeof dim === 'number') return dim === size;
  return size >= dim.min && (dim.max === null || size <= dim.max);
}

function wrongShape(tensor: CheckedTensor, shape: readonly DeclaredDim[], why: string): string {
  return `'${tensor.name}' has shape ${formatShape(tensor.shape)}; the model file was compiled for ${formatDeclaredShape(shape)}: ${why}.`;
}

function unequal(
  tensor: CheckedTensor,
  index: number,
  other: { readonly size: number; readonly tensor: string },
): string {
  return (
    `'${tensor.name}' has shape ${formatShape(tensor.shape)}; its dimension ${index} must equal that of '${other.tensor}', ` +
    `which is ${other.size}: the model file was compiled for equal sizes.`
  );
}

/** `[1..8,4]`, `[2..,3]`: a declared shape as messages show it. */
export function formatDeclaredShape(shape: readonly DeclaredDim[]): string {
  return `[${shape.map((dim) => (typeof dim === 'number' ? dim : formatRange(dim))).join(',')}]`;
}

function formatRange({ min, max }: DimRange): string {
  return `${min}..${max ?? ''}`;
}
