/** The positions of the largest values. */

/** Elements of a tensor, in any of its forms. */
export type Values = ArrayLike<number> | ArrayLike<bigint>;

/** Up to so many of a row are kept in order while it is read; more are cheaper found by sorting all. */
const SORT_FROM = 64;

/** @returns the positions of the `count` largest values from `start` on, largest first; equal ones by position, NaN last */
export function largest(
  values: Values,
  row: { readonly start: number; readonly length: number; readonly count: number },
): readonly number[] {
  const { count, length, start } = row;
  const isBefore = (a: number, b: number) => comesFirst(values[start + a], values[start + b]);
  if (count === 0) return [];
  if (count > SORT_FROM) return sorted(length, isBefore).slice(0, count);
  const best: number[] = [];
  for (let at = 0; at < length; at++) {
    const last = best.at(-1);
    if (best.length === count && last !== undefined && !isBefore(at, last)) continue;
    if (best.length === count) best.pop();
    insert(best, at, isBefore);
  }
  return best;
}

function sorted(length: number, isBefore: (a: number, b: number) => boolean): number[] {
  return Array.from({ length }, (_, at) => at).sort((a, b) => (isBefore(a, b) ? -1 : isBefore(b, a) ? 1 : a - b));
}

function insert(best: number[], at: number, isBefore: (a: number, b: number) => boolean): void {
  let place = best.length;
  while (place > 0 && isBefore(at, best[place - 1] ?? at)) place--;
  best.splice(place, 0, at);
}

function comesFirst(a: number | bigint | undefined, b: number | bigint | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a > b || (Number.isNaN(b) && !Number.isNaN(a));
}
