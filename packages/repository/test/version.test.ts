import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVersions, isVersion, versionFault } from '../src/version.ts';

describe('a directory name is a version', () => {
  it.each(['0', '1', '10', '20240131', '9223372036854775807'])('%s', (name) => {
    expect(isVersion(name)).toBe(true);
    expect(versionFault(name)).toBeUndefined();
  });
});

describe('a directory name is no version, and the fault says why', () => {
  it.each([
    ['01', "its name has leading zeros; rename it to '1'"],
    ['000', "its name has leading zeros; rename it to '0'"],
    ['9223372036854775808', 'its name is greater than the greatest version, 9223372036854775807'],
    ['1abc', 'its name is not a version number; versions are directories named 0, 1, 2 …'],
    ['-3', 'its name is not a version number; versions are directories named 0, 1, 2 …'],
    ['1.0', 'its name is not a version number; versions are directories named 0, 1, 2 …'],
    ['', 'its name is not a version number; versions are directories named 0, 1, 2 …'],
    ['１', 'its name is not a version number; versions are directories named 0, 1, 2 …'],
  ])('%s', (name, fault) => {
    expect(isVersion(name)).toBe(false);
    expect(versionFault(name)).toBe(fault);
  });
});

describe('compareVersions', () => {
  it('orders as the numbers do', () => {
    const version = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(version, version, (a, b) => {
        const sign = a < b ? -1 : Number(a > b);
        expect(Math.sign(compareVersions(`${a}`, `${b}`))).toBe(sign);
      }),
      { seed: 7 },
    );
  });
});
