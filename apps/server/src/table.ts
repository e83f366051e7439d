/** A table with plus, minus and pipe frames; a cell may have several lines. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map((cell) => cell.split('\n')));
  const widths = head.map((_, column) =>
    Math.max(...all.flatMap((row) => (row[column] ?? ['']).map((line) => line.length))),
  );
  const rule = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`;
  const lines = all.map((row) => renderRow(row, widths));
  return [rule, lines[0], rule, ...lines.slice(1), ...(rows.length > 0 ? [rule] : [])].join('\n');
}

function renderRow(cells: readonly (readonly string[])[], widths: readonly number[]): string {
  const height = Math.max(...cells.map((lines) => lines.length));
  const line = (index: number) =>
    widths.map((width, column) => ` ${(cells[column]?.[index] ?? '').padEnd(width)} `).join('|');
  return Array.from({ length: height }, (_, index) => `|${line(index)}|`).join('\n');
}

/** Breaks text at spaces so that no line is longer than `width`; a longer word stands alone. */
export function wrap(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, width))
    .join('\n');
}

function wrapLine(text: string, width: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}
