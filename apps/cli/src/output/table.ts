import { printable } from './printable.ts';
import { type Paint, plain } from './style.ts';

export interface TableOptions {
  /** Column titles, painted bold; none by default. */
  readonly head?: readonly string[];
  /** Before each line. Default two spaces. */
  readonly indent?: string;
  readonly paint?: Paint;
}

/** Aligned columns, two spaces apart, each line ending with a newline. Columns that are empty in every row are left out with their title. */
export function renderTable(rows: readonly (readonly string[])[], options: TableOptions = {}): string {
  const { head, indent = '  ', paint = plain } = options;
  const cells = rows.map((row) => row.map(printable));
  const columns = Array.from({ length: Math.max(0, ...cells.map((row) => row.length)) }, (_, column) => column).filter(
    (column) => cells.some((row) => (row[column] ?? '') !== ''),
  );
  const widths = columns.map((column) => Math.max(...[head ?? [], ...cells].map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    indent +
    columns
      .map((column, i) => (row[column] ?? '').padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  const lines = [...(head === undefined ? [] : [paint('bold', line(head))]), ...cells.map(line)];
  return lines.map((text) => `${text}\n`).join('');
}
