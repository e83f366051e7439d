/**
 * Prometheus text format 0.0.4: for each family a HELP line, a TYPE line, and a line per series, `name{label="value",…} number`. Every line ends with a
 * line feed. Source: Prometheus documentation, "Exposition formats".
 */
import type { HistogramStatistics } from '@nereid/serving';

type FamilyType = 'counter' | 'gauge' | 'histogram' | 'summary';

/** Series of one name. It may have none, and is announced all the same. */
export interface Family {
  readonly name: string;
  readonly type: FamilyType;
  /** One line without a backslash. */
  readonly help: string;
}

export interface Series {
  /** What follows the name of the family; none by default. */
  readonly suffix?: '_bucket' | '_count' | '_sum';
  /** As they are written, with their braces; '' for none. */
  readonly labels: string;
  readonly value: number;
}

export function headOf({ name, type, help }: Family): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

export function linesOf({ name }: Family, series: readonly Series[]): string {
  let lines = '';
  for (const { suffix = '', labels, value } of series) lines += `${name}${suffix}${labels} ${formatNumber(value)}\n`;
  return lines;
}

/** @param labels  without a label of the series, and with `le` */
export function histogramSeries(
  { buckets, count, sum }: HistogramStatistics,
  labels: { readonly plain: string; readonly bound: (le: string) => string },
): readonly Series[] {
  const all = [...buckets, { bound: Number.POSITIVE_INFINITY, count }];
  return [
    ...all.map(
      ({ bound, count: upTo }): Series => ({
        suffix: '_bucket',
        labels: labels.bound(formatNumber(bound)),
        value: upTo,
      }),
    ),
    { suffix: '_sum', labels: labels.plain, value: sum },
    { suffix: '_count', labels: labels.plain, value: count },
  ];
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
