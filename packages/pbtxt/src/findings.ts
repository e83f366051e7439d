import type { Problems } from './diagnostic.ts';

/** A stretch of the text to be read differently than it is written. */
export interface Rewrite {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Where a check reports to, and what it tells the reader of values; rewrites are in the order of the text. */
export interface Findings {
  readonly problems: Problems;
  readonly rewrites: Rewrite[];
}

/** The text with every rewrite in place. */
export function rewritten(text: string, rewrites: readonly Rewrite[]): string {
  if (rewrites.length === 0) return text;
  const pieces: string[] = [];
  let copied = 0;
  for (const rewrite of rewrites) {
    pieces.push(text.slice(copied, rewrite.start), rewrite.text);
    copied = rewrite.end;
  }
  pieces.push(text.slice(copied));
  return pieces.join('');
}
