/** The candidate that differs from `word` in the fewest letters, when that is at most a third of them. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.floor(word.length / 3) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toUpperCase(), candidate.toUpperCase());
    if (distance >= least) continue;
    best = candidate;
    least = distance;
  }
  return best;
}

/** Letters to insert, delete or replace (Levenshtein), one row of the table at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
