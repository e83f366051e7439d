import type { Shape } from '@nereid/core';

/**
 * Rewrites a concrete shape from one declared form to another: a −1 of `to` takes the size that stands at the −1 of the same rank order in `from`.
 * @returns undefined when `shape` has another rank than `from`, or the two would hold different numbers of elements
 */
export function reshaped(shape: Shape, forms: { readonly from: Shape; readonly to: Shape }): Shape | undefined {
  if (shape.length !== forms.from.length) return undefined;
  const variable = shape.filter((_, i) => forms.from[i] === -1);
  const result = forms.to.map((dim) => (dim === -1 ? (variable.shift() ?? 0) : dim));
  return product(result) === product(shape) ? result : undefined;
}

function product(shape: Shape): number {
  return shape.reduce((size, dim) => size * dim, 1);
}
