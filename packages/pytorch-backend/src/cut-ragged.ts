/**
 * Cuts a result into the requests' own pieces by the shapes of one of their inputs: each −1 of the output's dims takes the size at the same place of
 * that input's shape. Source: Triton's `batch_output` of kind BATCH_SCATTER_WITH_INPUT_SHAPE.
 */
import { elementCount, formatShape, type Shape } from '@nereid/core';
import { findInput } from './check-inputs.ts';
import { PyTorchBackendError } from './errors.ts';
import type { GatheredBatch } from './gather.ts';
import { type ModelPlan, type PlannedOutput, withBatch } from './model-plan.ts';

/** One request's part of a result, in bytes; or why it has none. */
export type Piece = { readonly shape: Shape; readonly start: number; readonly end: number } | PyTorchBackendError;

export interface RaggedResult {
  readonly planned: PlannedOutput;
  /** Of the whole result. */
  readonly shape: Shape;
  readonly byteLength: number;
}

/**
 * One piece per request, in their order. A request whose piece does not fit what is left of the result gets an error in its place.
 * @throws {PyTorchBackendError} `output`: the pieces leave something over, so that nobody knows whose which part is
 */
export function cutRagged(plan: ModelPlan, batch: GatheredBatch, result: RaggedResult): readonly Piece[] {
  const { planned, shape, byteLength } = result;
  const elements = elementCount(shape);
  const elementBytes = elements === 0 ? 0 : byteLength / elements;
  let start = 0;
  const pieces = batch.requests.map((request): Piece => {
    const { dims = [], cutLike = '' } = planned.spec;
    const source = findInput(request, cutLike, 0)?.shape ?? [];
    const own = withBatch(plan, -1, dims).map((dim, i) => (dim === -1 ? source[i] : dim));
    const known = own.filter((dim) => dim !== undefined);
    if (known.length < own.length) return noSuchDimension(planned, source);
    const end = start + elementCount(known);
    const piece = { shape: known, start: start * elementBytes, end: end * elementBytes };
    start = end;
    return end > elements ? overrun(planned, { shape, piece: known, end }) : piece;
  });
  if (start < elements) throw leftOver(planned, { shape, taken: start });
  return pieces;
}

function noSuchDimension({ spec }: PlannedOutput, source: Shape): PyTorchBackendError {
  return outputError(
    `output '${spec.name}' takes its variable dimensions from input '${spec.cutLike}', whose shape ${formatShape(source)} has too few`,
  );
}

function overrun(
  { spec }: PlannedOutput,
  { shape, piece, end }: { readonly shape: Shape; readonly piece: Shape; readonly end: number },
): PyTorchBackendError {
  return outputError(
    `failed to split the output tensor '${spec.name}' in responses: the request's part ${formatShape(piece)} ends at element ${end}, but ` +
      `the model returned ${elementCount(shape)} in shape ${formatShape(shape)}; forward must return one element for each of input '${spec.cutLike}'`,
  );
}

function leftOver(
  { spec }: PlannedOutput,
  { shape, taken }: { readonly shape: Shape; readonly taken: number },
): PyTorchBackendError {
  return outputError(
    `failed to split the output tensor '${spec.name}' in responses: the requests take ${taken} of its ${elementCount(shape)} elements, by the ` +
      `shapes of input '${spec.cutLike}'`,
  );
}

function outputError(message: string): PyTorchBackendError {
  return new PyTorchBackendError({ code: 'INTERNAL', reason: 'output', message });
}
