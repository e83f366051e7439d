/** Sizes as AOTInductor prints them into C++: a number `4L`, a symbol `s17`, or a linear expression of one, `1L + 2L*s17`. */
import type { DeclaredDim, DimRange } from './types.ts';

/** `offset + factor × symbol`. */
interface Linear {
  readonly offset: number;
  readonly factor: number;
  readonly symbol: string;
}

function parseLinear(expression: string): Linear | undefined {
  const match = /^(?:\(?(-?\d+)L\)? \+ )?(?:(\d+)L\*)?([su]\d+)$/.exec(expression);
  if (match?.[3] === undefined) return undefined;
  return { offset: Number(match[1] ?? 0), factor: Number(match[2] ?? 1), symbol: match[3] };
}

/** What the exporter puts as the least size of every dynamic dimension, because it treats 0 and 1 as special; compiled code works with 1. */
const EXPORTER_MINIMUM = 2;

/**
 * The range of a dynamic dimension from the bounds that the source states, with the exporter's minimum of the symbol taken as 1.
 * A minimum of 2 that the model's author asked for looks the same and is lowered too.
 */
export function statedRange(bounds: { least?: number; most?: number }, expression: string | undefined): DimRange {
  const { offset, factor, symbol } = parseLinear(expression ?? '') ?? { offset: 0, factor: 1, symbol: undefined };
  const { least = 0, most } = bounds;
  const min = least === offset + factor * EXPORTER_MINIMUM ? offset + factor : least;
  // Without an upper bound torch writes the largest 64-bit number or one near it.
  const max = most === undefined || most > Number.MAX_SAFE_INTEGER ? null : most;
  const plain = symbol !== undefined && offset === 0 && factor === 1;
  return { min, max, ...(plain ? { symbol } : {}) };
}

/** The dimension that an expression stands for, given the ranges of the symbols in it; an expression of another form may be any size. */
export function evaluateSize(expression: string, ranges: ReadonlyMap<string, DimRange>): DeclaredDim {
  const fixed = /^(\d+)L$/.exec(expression)?.[1];
  if (fixed !== undefined) return Number(fixed);
  const linear = parseLinear(expression);
  if (linear === undefined) return { min: 0, max: null };
  const range = ranges.get(linear.symbol) ?? { min: 0, max: null, symbol: linear.symbol };
  if (linear.offset === 0 && linear.factor === 1) return range;
  const at = (size: number) => Math.max(linear.offset + linear.factor * size, 0);
  return { min: at(range.min), max: range.max === null ? null : at(range.max) };
}

/** The items of a C++ initialiser: `{s17, 4L, }` → `['s17', '4L']`. */
export function splitSizes(list: string): string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
