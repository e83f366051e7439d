import type { InferenceRequest, Tensor } from '@nereid/core';

/**
 * Whether the inputs of two requests can be joined along their first dimension: the same set of inputs by name, each with the same datatype and the
 * same dimensions after the first. Which outputs they ask for makes no difference.
 */
export function haveSameInputs(first: InferenceRequest, next: InferenceRequest): boolean {
  if (first.signature !== undefined && first.signature === next.signature) return true;
  const [inputs, others] = [first.inputs, next.inputs];
  if (inputs.length !== others.length) return false;
  for (let i = 0; i < inputs.length; i++) {
    const input = inputs[i];
    if (input === undefined || !canConcatenate(input, namedLike(input, others, i))) return false;
  }
  return true;
}

/** The tensor of the same name, which clients mostly send at the same place. */
function namedLike({ name }: Tensor, others: readonly Tensor[], place: number): Tensor | undefined {
  const guess = others[place];
  return guess?.name === name ? guess : others.find((other) => other.name === name);
}

function canConcatenate(a: Tensor, b: Tensor | undefined): boolean {
  if (b === undefined || a.datatype !== b.datatype || a.shape.length !== b.shape.length) return false;
  for (let i = 1; i < a.shape.length; i++) if (a.shape[i] !== b.shape[i]) return false;
  return true;
}
