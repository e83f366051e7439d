/** Sizes of each dimension, outermost first. In a configuration −1 stands for a variable dimension; in a tensor every one is ≥ 0. */
export type Shape = readonly number[];

/** Number of elements of a concrete shape; 1 for a scalar's `[]`, 0 as soon as one dimension is 0. May exceed a safe integer. */
export function elementCount(shape: Shape): number {
  let count = 1;
  for (const dim of shape) count *= dim;
  return count;
}

/** `[2,-1,3]`, as messages show shapes. */
export function formatShape(shape: Shape): string {
  return `[${shape.join(',')}]`;
}

/** Whether a concrete shape fits a declared one, where −1 takes any size. */
export function shapeMatches(declared: Shape, actual: Shape): boolean {
  if (declared.length !== actual.length) return false;
  for (let i = 0; i < declared.length; i++) {
    if (declared[i] !== -1 && declared[i] !== actual[i]) return false;
  }
  return true;
}
