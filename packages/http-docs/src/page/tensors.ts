/** Values for inputs and how outputs are shown. Values stay JSON text, as a 64-bit integer would lose digits as a number. */
import { valueText } from './json.ts';

/** How an input is filled. */
export const FILLS = {
  random: 'random',
  zeros: 'zeros',
  ones: 'ones',
  range: '0, 1, 2 …',
} as const;

export type Fill = keyof typeof FILLS;

/** Datatypes whose values cannot be written as JSON. */
export const hasJsonForm = (datatype: string): boolean => datatype !== 'FP16' && datatype !== 'BF16';

export const elementCount = (shape: readonly number[]): number => shape.reduce((product, dim) => product * dim, 1);

/** The shape to begin with: 1 for each variable dimension. */
export const firstShape = (shape: readonly number[]): readonly number[] => shape.map((dim) => (dim < 0 ? 1 : dim));

/** `[1, 3]`, `1,3` and `1x3` alike; undefined for what is no shape. An empty text is the shape of a scalar. */
export function parseShape(text: string): readonly number[] | undefined {
  const inner = text
    .trim()
    .replace(/^\[(.*)\]$/, '$1')
    .trim();
  if (inner === '') return [];
  const dims = inner.split(/[\s,x×]+/);
  return dims.every((dim) => /^\d{1,15}$/.test(dim)) ? dims.map(Number) : undefined;
}

/** @returns values as a flat JSON array */
export function fillText(datatype: string, count: number, fill: Fill): string {
  const value = valueMaker(datatype, fill);
  return `[${Array.from({ length: count }, (_, index) => value(index)).join(', ')}]`;
}

function valueMaker(datatype: string, fill: Fill): (index: number) => string {
  const number = numberMaker(datatype, fill);
  if (datatype === 'BOOL') return (index) => String(number(index) % 2 === 1);
  if (datatype === 'BYTES') return (index) => (fill === 'zeros' ? '""' : `"text ${number(index)}"`);
  return (index) => String(number(index));
}

function numberMaker(datatype: string, fill: Fill): (index: number) => number {
  switch (fill) {
    case 'zeros':
      return () => 0;
    case 'ones':
      return () => 1;
    case 'range':
      // Stays within every integer datatype.
      return (index) => (datatype.startsWith('FP') ? index : index % 128);
    case 'random':
      return datatype.startsWith('FP')
        ? () => Math.round(Math.random() * 1e4) / 1e4
        : () => Math.floor(Math.random() * 2);
    default:
      return fill satisfies never;
  }
}

const SHOWN_PER_AXIS = 16;

/** Nested brackets by shape, long axes cut in the middle. */
export function formatTensor({ datatype, shape, data }: ShownTensor): string {
  const format = formatterOf(datatype);
  if (shape.length === 0) return format(data[0]);
  return formatAxis(data.map(format), { shape, axis: 0, offset: 0 });
}

export interface ShownTensor {
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly data: readonly unknown[];
}

interface Place {
  readonly shape: readonly number[];
  readonly axis: number;
  readonly offset: number;
}

function formatAxis(texts: readonly string[], { shape, axis, offset }: Place): string {
  const size = shape[axis] ?? 0;
  const isLast = axis === shape.length - 1;
  const step = elementCount(shape.slice(axis + 1));
  const parts = shownOf(size).map((index) => {
    if (index === undefined) return '…';
    const at = offset + index * step;
    return isLast ? (texts[at] ?? '') : formatAxis(texts, { shape, axis: axis + 1, offset: at });
  });
  return `[${parts.join(isLast ? ', ' : `,\n${' '.repeat(axis + 1)}`)}]`;
}

/** The indices that are shown; undefined stands for those left out. */
function shownOf(size: number): readonly (number | undefined)[] {
  if (size <= SHOWN_PER_AXIS) return Array.from({ length: size }, (_, index) => index);
  const half = SHOWN_PER_AXIS / 2;
  const head = Array.from({ length: half }, (_, index) => index);
  return [...head, undefined, ...head.map((index) => size - half + index)];
}

/** Datatypes whose numbers a single holds; the server, or this page, tells them as doubles. */
const SINGLE: ReadonlySet<string> = new Set(['FP32', 'FP16', 'BF16']);

function formatterOf(datatype: string): (value: unknown) => string {
  if (SINGLE.has(datatype)) return (value) => (typeof value === 'number' ? singleText(value) : String(value));
  return valueText;
}

/** The fewest digits that are the same number in single precision. */
function singleText(value: number): string {
  const single = Math.fround(value);
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === single) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}

/** Least, greatest and mean of numbers; undefined where there is nothing to say. */
export function summary({ datatype, data }: ShownTensor): string | undefined {
  if (data.length < 2 || !data.every((value) => typeof value === 'number')) return undefined;
  const odd = data.filter((value) => !Number.isFinite(value)).length;
  if (odd > 0) return `${odd} of ${data.length} values are no finite numbers`;
  const format = formatterOf(datatype);
  let [least, greatest, sum, at] = [Infinity, -Infinity, 0, 0];
  for (const [index, value] of data.entries()) {
    least = Math.min(least, value);
    sum += value;
    if (value > greatest) [greatest, at] = [value, index];
  }
  const mean = Number((sum / data.length).toPrecision(6));
  return `least ${format(least)} · greatest ${format(greatest)} at ${at} · mean ${mean}`;
}
