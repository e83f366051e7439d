/** Version numbers as decimal strings: `0` or a positive int64 without leading zeros. */

const INT64_MAX = '9223372036854775807';

/** Orders canonical version strings by number: negative when `a` is lower. */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Whether a directory name is a model version: `0`, or digits without a leading zero that fit a signed 64-bit integer. */
export function isVersion(name: string): boolean {
  return /^(?:0|[1-9][0-9]*)$/.test(name) && compareVersions(name, INT64_MAX) <= 0;
}

/** Why a directory name is no version, as a clause; `undefined` for a valid one. */
export function versionFault(name: string): string | undefined {
  if (isVersion(name)) return undefined;
  if (/^0+[0-9]+$/.test(name)) return `its name has leading zeros; rename it to '${name.replace(/^0+(?=[0-9])/, '')}'`;
  if (/^[1-9][0-9]*$/.test(name)) return `its name is greater than the greatest version, ${INT64_MAX}`;
  return 'its name is not a version number; versions are directories named 0, 1, 2 …';
}
