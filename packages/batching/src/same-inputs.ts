import type { InferenceRequest, Shape, Tensor } from '@nereid/core';

/** Whether two requests can run in one batch. */
export type JoinRule = (first: InferenceRequest, next: InferenceRequest) => boolean;

/**
 * Whether the inputs of two requests can be joined along their first dimension: the same set of inputs by name, each with the same datatype and the
 * same dimensions after the first. Which outputs they ask for makes no difference.
 */
export const haveSameInputs: JoinRule = joinRagged(new Set());

/** As `haveSameInputs`, but the shapes of the named inputs make no difference. */
export function joinRagged(ragged: ReadonlySet<string>): JoinRule {
  return (first, next) => {
    if (first.signature !== undefined && first.signature === next.signature) return true;
    const [inputs, others] = [first.inputs, next.inputs];
    if (inputs.length !== others.length) return false;
    for (let i = 0; i < inputs.length; i++) {
      const input = inputs[i];
      const other = input && namedLike(input, others, i);
      if (input === undefined || other === undefined || input.datatype !== other.datatype) return false;
      if (!ragged.has(input.name) && !haveSameItems(input.shape, other.shape)) return false;
    }
    return true;
  };
}

/** The tensor of the same name, which clients mostly send at the same place. */
function namedLike({ name }: Tensor, others: readonly Tensor[], place: number): Tensor | undefined {
  const guess = others[place];
  return guess?.name === name ? guess : others.find((other) => other.name === name);
}

function haveSameItems(a: Shape, b: Shape): boolean {
  if (a.length !== b.length) return false;
  for (let i = 1; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
