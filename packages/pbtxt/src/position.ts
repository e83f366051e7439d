/** A place in a text. `line` and `column` count from 1, `offset` from 0; column and offset count UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

/** A stretch of text; `end` is the place after its last character. */
export interface Span {
  readonly start: Position;
  readonly end: Position;
}

const NEWLINE = 10;

/** Turns offsets of one text into lines and columns. The line table is built when the first position is asked for. */
export class LineIndex {
  readonly text: string;
  #lineStarts: number[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** The place of `offset`; offsets outside the text are moved to its nearest end. */
  positionAt(offset: number): Position {
    const inside = Math.min(Math.max(offset, 0), this.text.length);
    const starts = this.#starts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= inside) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: inside - (starts[low] ?? 0) + 1, offset: inside };
  }

  /** One line, counted from 1, with its line break; empty for a line that the text does not have. */
  lineText(line: number): string {
    const starts = this.#starts();
    return this.text.slice(starts[line - 1] ?? this.text.length, starts[line] ?? this.text.length);
  }

  /** The span from offset `start` up to, not including, offset `end`. */
  span(start: number, end: number): Span {
    return { start: this.positionAt(start), end: this.positionAt(Math.max(start, end)) };
  }

  #starts(): number[] {
    if (this.#lineStarts !== undefined) return this.#lineStarts;
    const starts = [0];
    for (let i = 0; i < this.text.length; i++) if (this.text.charCodeAt(i) === NEWLINE) starts.push(i + 1);
    this.#lineStarts = starts;
    return starts;
  }
}
