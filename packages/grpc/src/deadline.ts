const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** Longest time that a timer takes. */
const LONGEST_MS = 2 ** 31 - 1;

/** Milliseconds of a `grpc-timeout` header, e.g. `20S` or `150m`; undefined without one, or for one that cannot be read. */
export function timeoutMsOf(value: string | undefined): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(value ?? '') ?? [];
  if (digits === undefined) return undefined;
  return Math.min(Math.ceil(Number(digits) * (UNIT_MS[unit] ?? 0)), LONGEST_MS);
}
