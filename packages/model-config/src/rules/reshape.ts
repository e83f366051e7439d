import type { Shape } from '@nereid/core';

/**
 * Why a tensor of shape `dims` cannot be given the shape `reshape`; undefined when it can, and when a dimension is invalid by itself.
 *
 * An empty reshape holds one element. Variable dimensions keep their order, so what stands between them must have equal sizes:
 * [3,2,-1,5] fits [6,-1,5,1] (6 and 5), and [2,-1,4] does not fit [-1,8] (2 and 4, 1 and 8).
 */
export function reshapeFault(dims: Shape, reshape: Shape): string | undefined {
  if (dims.length === 0 || [...dims, ...reshape].some((dim) => dim < -1 || dim === 0)) return undefined;
  const from = segments(dims);
  const to = segments(reshape);
  if (from.length !== to.length && (from.length === 1 || to.length === 1)) return DIFFERENT_SIZE;
  if (from.length !== to.length) return 'has different number of variable-size dimensions for dims and reshape';
  return from.every((size, i) => size === to[i]) ? undefined : DIFFERENT_SIZE;
}

const DIFFERENT_SIZE = 'has different size for dims and reshape';

/** Products of the dimensions before, between and after the variable ones; exact for any size. */
function segments(shape: Shape): bigint[] {
  const sizes = [1n];
  for (const dim of shape) {
    if (dim === -1) sizes.push(1n);
    else sizes.push((sizes.pop() ?? 1n) * BigInt(dim));
  }
  return sizes;
}
