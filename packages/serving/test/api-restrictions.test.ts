import { describe, expect, it } from 'vitest';
import { API_CATEGORIES, ApiRestrictions } from '../src/index.ts';

describe('ApiRestrictions', () => {
  const restrictions = new ApiRestrictions(
    [
      { categories: ['health', 'metadata'], key: 'Probe-Key', value: 'v1' },
      { categories: ['inference'], key: 'infer-key', value: 'v2=:,' },
    ],
    'pre-',
  );

  it.each<[string, string, Record<string, string | string[]>, string | undefined]>([
    ['no header', 'health', {}, 'pre-probe-key'],
    ['the value', 'health', { 'pre-probe-key': 'v1' }, undefined],
    ['another value', 'metadata', { 'pre-probe-key': 'v2' }, 'pre-probe-key'],
    ['the value and more', 'metadata', { 'pre-probe-key': 'v1 ' }, 'pre-probe-key'],
    ['the value in another case', 'metadata', { 'pre-probe-key': 'V1' }, 'pre-probe-key'],
    ['the value twice', 'metadata', { 'pre-probe-key': ['v1', 'v1'] }, 'pre-probe-key'],
    ['the key of another group', 'inference', { 'pre-probe-key': 'v1' }, 'pre-infer-key'],
    ['the header without its prefix', 'inference', { 'infer-key': 'v2=:,' }, 'pre-infer-key'],
    ['a value with signs', 'inference', { 'pre-infer-key': 'v2=:,' }, undefined],
  ])('with %s for %s', (_, category, headers, missing) => {
    const known = API_CATEGORIES.find((name) => name === category);
    expect(known && restrictions.missingHeader(known, headers)).toBe(missing);
  });

  it('leaves every other category open', () => {
    const open = API_CATEGORIES.filter((category) => restrictions.missingHeader(category, {}) === undefined);
    expect(open).toEqual(['shared-memory', 'model-config', 'model-repository', 'statistics', 'trace', 'logging']);
  });

  it('refuses a category in two groups', () => {
    const twice = ['a', 'b'].map((key) => ({ categories: ['trace'], key, value: 'v' }) as const);
    expect(() => new ApiRestrictions(twice)).toThrow("'trace' can not be specified in multiple config groups");
  });
});
