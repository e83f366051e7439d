import { type Comment, triviaOf } from './comments.ts';
import type { Token } from './syntax.ts';

/**
 * Writes tokens in lines with indentation, each with the comments before it. A comment on the line of the token before
 * stays there; others get a line of their own. No comment moves past a name, a value, or a closing bracket.
 */
export class FormatWriter {
  readonly #unit: string;
  readonly #pieces: string[] = [];
  #depth = 0;
  #column = 0;
  /** A comment ends its line: what comes next begins another. */
  #mustBreak = false;
  /** Empty lines are not kept at the beginning of a block. */
  #atBlockStart = true;

  constructor(indent: number) {
    this.#unit = ' '.repeat(indent);
  }

  /** Width of the current line so far. */
  get column(): number {
    return this.#column;
  }

  /** Begins a line with a token; an empty line before it is kept. */
  line(token: Token, text = token.text): void {
    const { comments, blankBefore } = triviaOf(token);
    for (const comment of comments) this.#comment(comment, this.#depth);
    this.#newLine(this.#depth, blankBefore);
    this.append(text);
  }

  /** Continues the line with a token, or begins another, indented further, where a comment ended the line. */
  inline(token: Token, gap: '' | ' '): void {
    for (const comment of triviaOf(token).comments) this.#comment(comment, this.#depth + 1);
    if (this.#mustBreak) this.#newLine(this.#depth + 1, false);
    else this.append(gap);
    this.append(token.text);
  }

  /** Begins a line with a token that belongs to the line before, indented further. */
  continued(token: Token): void {
    for (const comment of triviaOf(token).comments) this.#comment(comment, this.#depth + 1);
    this.#newLine(this.#depth + 1, false);
    this.append(token.text);
  }

  /** Ends what stands on the line with `text`; the comments before `tokens`, for which it stands, come after it. */
  suffix(text: string, ...tokens: readonly (Token | undefined)[]): void {
    this.append(text);
    this.#commentsOf(tokens, text === '' || text === ',' ? this.#depth : this.#depth + 1);
  }

  /** Opens a block; the comments before `tokens` become its first lines. */
  open(text: string, ...tokens: readonly (Token | undefined)[]): void {
    this.append(text);
    this.#depth++;
    this.#atBlockStart = true;
    this.#commentsOf(tokens, this.#depth);
  }

  /** Closes a block on a line of its own. */
  close(token: Token, text: string): void {
    for (const comment of triviaOf(token).comments) this.#comment(comment, this.#depth);
    this.#depth--;
    this.#newLine(this.#depth, false);
    this.append(text);
  }

  append(text: string): void {
    if (text === '') return;
    this.#pieces.push(text);
    this.#column += text.length;
    this.#atBlockStart = false;
  }

  /** The text, with the comments before `end` as its last lines. */
  finish(end: Token): string {
    this.#commentsOf([end], 0);
    if (this.#pieces.length > 0) this.#pieces.push('\n');
    return this.#pieces.join('');
  }

  #commentsOf(tokens: readonly (Token | undefined)[], depth: number): void {
    for (const token of tokens) {
      if (token !== undefined) for (const comment of triviaOf(token).comments) this.#comment(comment, depth);
    }
  }

  #comment({ text, ownLine, blankBefore }: Comment, depth: number): void {
    const sharesLine = !ownLine && !this.#mustBreak && this.#pieces.length > 0;
    const wasBlockStart = this.#atBlockStart;
    if (sharesLine) this.append('  ');
    else this.#newLine(depth, blankBefore);
    this.append(text);
    if (sharesLine) this.#atBlockStart = wasBlockStart;
    this.#mustBreak = true;
  }

  #newLine(depth: number, blankBefore: boolean): void {
    if (this.#pieces.length > 0) this.#pieces.push(blankBefore && !this.#atBlockStart ? '\n\n' : '\n');
    this.#mustBreak = false;
    this.#column = depth * this.#unit.length;
    if (depth > 0) this.#pieces.push(this.#unit.repeat(depth));
  }
}
