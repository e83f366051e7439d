import type { Datatype, Shape } from '@nereid/core';

/** What configuration, or caller of `loadModel`, and server agree on about a tensor of a model. */
export interface TensorSpec {
  readonly name: string;
  /** As clients see it, without the batch dimension; −1 for a variable dimension. Undefined when nobody stated it: any shape goes. */
  readonly dims: Shape | undefined;
  /** As the model sees it, when the configuration has a `reshape`. */
  readonly reshape: Shape | undefined;
}

export interface InputSpec extends TensorSpec {
  readonly datatype: Datatype;
  /** Whether a request may leave it out. */
  readonly optional?: boolean | undefined;
}

export interface OutputSpec extends TensorSpec {
  /** Undefined when nobody stated it: whatever the model gives. */
  readonly datatype: Datatype | undefined;
}

/** The dimensions that reach or leave the model, without the batch dimension. */
export function modelDims(spec: TensorSpec): Shape | undefined {
  return spec.reshape ?? spec.dims;
}

/**
 * Rewrites a concrete shape from one declared form to another of the same element count: the k-th −1 of `to` takes the size that stands at
 * the k-th −1 of `from`. `undefined` when `shape` has another rank than `from`.
 */
export function reshaped(shape: Shape, forms: { readonly from: Shape; readonly to: Shape }): number[] | undefined {
  if (shape.length !== forms.from.length) return undefined;
  const sizes = shape.filter((_, i) => forms.from[i] === -1);
  let next = 0;
  return forms.to.map((dim) => (dim === -1 ? (sizes[next++] ?? 0) : dim));
}
