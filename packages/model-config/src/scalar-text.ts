import type { ScalarType } from './fields.ts';

/** Decimal text of a finite number, the shortest that reads back as the same value of its type. */
export function numberText(type: ScalarType, value: number | bigint): string {
  if (Object.is(value, -0)) return '-0';
  return type === 'float' && typeof value === 'number' ? shortestFloat(value) : String(value);
}

/** 0.1 as a 32-bit float is 0.10000000149011612 as a number; nine digits always tell two 32-bit floats apart. */
function shortestFloat(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === Math.fround(value)) return String(rounded);
  }
  return String(Number(value.toPrecision(9)));
}
