/** Datatypes as other libraries spell them, by whole part of a name: `TYPE_FLOAT32` is meant to be `TYPE_FP32`. */
const SAME_MEANING = new Map([
  ['float', 'fp32'],
  ['float16', 'fp16'],
  ['float32', 'fp32'],
  ['float64', 'fp64'],
  ['half', 'fp16'],
  ['double', 'fp64'],
  ['bfloat16', 'bf16'],
  ['boolean', 'bool'],
  ['byte', 'uint8'],
  ['bytes', 'string'],
  ['str', 'string'],
  ['int', 'int32'],
  ['long', 'int64'],
]);

/** Words longer than this are no typing errors of a name, and would make the comparison slow. */
const LONGEST = 64;

/**
 * The candidate that a misspelt word most likely means: the same letters in another case or without underscores, the
 * same datatype in another library's spelling, a
 * candidate of which the word is a whole part (`FP32` in `TYPE_FP32`), or else the smallest edit distance (insertions,
 * deletions, substitutions, swaps of neighbours), if that is at most a third of the longer of the two.
 *
 * @returns the nearest candidate, the first of equals; undefined when none is near
 */
export function nearestName(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length === 0 || word.length > LONGEST) return undefined;
  let nearest: string | undefined;
  let smallest = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = distanceTo(word, candidate);
    if (distance < smallest && distance <= Math.max(word.length, candidate.length) / 3) {
      smallest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

function distanceTo(word: string, candidate: string): number {
  if (candidate.length > LONGEST) return Number.POSITIVE_INFINITY;
  const [from, to] = [fold(word), fold(candidate)];
  if (from === to) return 0;
  if (isWholePart(respell(word), respell(candidate))) return 0.5;
  return editDistance(from, to);
}

function fold(name: string): string {
  return respell(name).replaceAll('_', '');
}

function respell(name: string): string {
  const parts = name.toLowerCase().split('_');
  return parts.map((part) => SAME_MEANING.get(part) ?? part).join('_');
}

/** `max_batch` in `max_batch_size`, `gpu` in `kind_gpu`. */
function isWholePart(part: string, whole: string): boolean {
  return part.length > 1 && `_${whole}_`.includes(`_${part}_`);
}

/** Optimal string alignment, on three rows. */
function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1;
      const replaced = at(previous, column - 1) + same;
      let best = Math.min(replaced, at(previous, column) + 1, at(current, column - 1) + 1);
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && isSwap) best = Math.min(best, at(beforePrevious, column - 2) + 1);
      current.push(best);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
