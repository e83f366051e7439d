/**
 * Prometheus text format 0.0.4: for each family a HELP line, a TYPE line, and a line per series, `name{label="value",…} number`. Every line ends with a
 * line feed. Source: Prometheus documentation, "Exposition formats".
 */

export type FamilyType = 'counter' | 'gauge' | 'histogram';

export interface Series {
  /** What follows the name of the family; none by default. */
  readonly suffix?: '_bucket' | '_count' | '_sum';
  /** As they are written, with their braces; '' for none. */
  readonly labels: string;
  readonly value: number;
}

/** Series of one name. It may have none, and is announced all the same. */
export interface Family {
  readonly name: string;
  readonly type: FamilyType;
  /** One line without a backslash. */
  readonly help: string;
  readonly series: readonly Series[];
}

export function renderFamilies(families: readonly Family[]): string {
  let text = '';
  for (const { name, type, help, series } of families) {
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const { suffix = '', labels, value } of series) text += `${name}${suffix}${labels} ${formatNumber(value)}\n`;
  }
  return text;
}

/** `name="value"` */
export function formatLabel(name: string, value: string): string {
  return `${name}="${escapeValue(value)}"`;
}

function escapeValue(value: string): string {
  return /[\\"\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : value;
}

/** As JavaScript does, but for infinities. */
export function formatNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}
