import type { Token } from './syntax.ts';

/** One comment of the white space before a token. */
export interface Comment {
  /** From `#` on, without white space at the end. */
  readonly text: string;
  /** Whether nothing but white space stands before it on its line. */
  readonly ownLine: boolean;
  /** Whether an empty line stands before it. */
  readonly blankBefore: boolean;
}

/** What stands before a token, as far as formatting keeps it. */
export interface Trivia {
  readonly comments: readonly Comment[];
  /** Whether an empty line stands between the token and what is before it. */
  readonly blankBefore: boolean;
}

const NONE: Trivia = { comments: [], blankBefore: false };

/** Reads the white space and comments before a token. */
export function triviaOf({ leading, start }: Token): Trivia {
  if (!leading.includes('\n') && !leading.includes('#')) return NONE;
  const comments: Comment[] = [];
  const lines = leading.split('\n');
  let empty = 0;
  for (const [index, line] of lines.entries()) {
    const text = line.trim();
    if (text.startsWith('#')) {
      // Only at the very beginning of a text does a first line have nothing before it.
      comments.push({ text, ownLine: index > 0 || start === leading.length, blankBefore: empty > 0 });
      empty = 0;
    } else if (index > 0 && index < lines.length - 1) empty++;
  }
  return { comments, blankBefore: empty > 0 };
}
