/** How the value of a class is printed: as C prints a number, floats with six decimals. Source: Triton, which prints with `std::to_string`. */

/** From here on `toFixed` would give an exponent. */
const EXPONENT_FROM = 1e21;

/** A float with six decimals, correctly rounded, halves to even; integers in full. */
export function realText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  return sign + magnitudeText(Math.abs(value));
}

function magnitudeText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return 'inf';
  if (value >= EXPONENT_FROM) return `${BigInt(value)}.000000`;
  // Only odd multiples of 1/128 lie exactly between two numbers of six decimals, and seven decimals hold those exactly; `toFixed` rounds them up.
  const isHalfway = (value * 128) % 2 === 1;
  const exact = isHalfway ? value.toFixed(7) : '';
  const isLowerEven = isHalfway && Number(exact.at(-2)) % 2 === 0;
  return isLowerEven ? exact.slice(0, -1) : value.toFixed(6);
}
