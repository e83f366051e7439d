import type { Datatype, Shape } from '@nereid/core';
import type { BatchInputKind } from '@nereid/model-config';

/** What configuration, or caller of `loadModel`, and server agree on about a tensor of a model. */
export interface TensorSpec {
  readonly name: string;
  /** As clients see it, without the batch dimension; −1 for a variable dimension. Undefined when nobody stated it: any shape goes. */
  readonly dims: Shape | undefined;
  /** As the model sees it, when the configuration has a `reshape`. */
  readonly reshape: Shape | undefined;
}

/**
 * Where the values of an input come from when they are not the requests' own tensors, joined along the batch dimension:
 * - `ragged`: the requests' tensors, flattened and one after the other;
 * - `control`: the request's turn in its sequence;
 * - `state`: what was kept of the sequence, which is `states[state]` of the model;
 * - `batch`: the shapes of another input, once for the batch.
 */
export type InputSource =
  | { readonly type: 'ragged' }
  | { readonly type: 'control' }
  | { readonly type: 'state'; readonly state: number }
  | BatchInputSource;

export interface BatchInputSource {
  readonly type: 'batch';
  readonly kind: BatchInputKind;
  /** Name of the input whose shapes it tells. */
  readonly of: string;
}

export interface InputSpec extends TensorSpec {
  readonly datatype: Datatype;
  /** Absent: the requests' own tensors, joined along the batch dimension. */
  readonly source?: InputSource | undefined;
  /** Whether a request may leave it out. */
  readonly optional?: boolean | undefined;
}

export interface OutputSpec extends TensorSpec {
  /** Undefined when nobody stated it: whatever the model gives. */
  readonly datatype: Datatype | undefined;
  /** Input whose shapes cut the result into those of the requests; absent: every request has its rows. */
  readonly cutLike?: string | undefined;
}

/** A tensor that one request of a sequence leaves for the next. */
export interface StateSpec {
  /** As the model returns it. */
  readonly output: OutputSpec & { readonly datatype: Datatype };
  /** Without the batch dimension. */
  readonly initialDims: Shape;
  /** Bytes of the initial value; none means zeros. */
  readonly initial: Uint8Array;
  /** Whether the model may be given the kept memory itself. */
  readonly isLent: boolean;
}

/** What an input is to the configuration. */
export type InputRole = 'input' | 'control' | 'state' | 'batch input';

export function roleOf({ source }: InputSpec): InputRole {
  if (source === undefined || source.type === 'ragged') return 'input';
  return source.type === 'batch' ? 'batch input' : source.type;
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
