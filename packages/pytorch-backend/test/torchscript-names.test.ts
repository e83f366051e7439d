import { describe, expect, it } from 'vitest';
import { resolveInputNames, resolveOutputNames } from '../src/torchscript-names.ts';

describe('resolveInputNames', () => {
  it.each([
    ['argument names', ['b', 'a'], ['a', 'b'], 'argument', [1, 0]],
    ['named indices', ['INPUT__1', 'INPUT__0'], ['a', 'b'], 'index', [1, 0]],
    ['any word before the index', ['left__0', 'right__1'], ['a', 'b'], 'index', [0, 1]],
    ['an empty index as 0', ['X__', 'Y__1'], ['a', 'b'], 'index', [0, 1]],
    [
      'order when what follows the first __ is no number',
      ['my__input__1', 'my__input__0'],
      ['a', 'b'],
      'order',
      [0, 1],
    ],
    ['order when some have no index', ['INPUT__1', 'x'], ['a', 'b'], 'order', [0, 1]],
    ['order when some are arguments and some indices', ['a', 'INPUT__0'], ['a', 'b'], 'order', [0, 1]],
    ['arguments before indices', ['INPUT__1', 'INPUT__0'], ['INPUT__1', 'INPUT__0'], 'argument', [0, 1]],
  ] as const)('takes %s', (_, names, args, convention, positions) => {
    expect(resolveInputNames(names, args)).toEqual({ convention, positions });
  });
});

describe('resolveOutputNames', () => {
  it.each([
    [['OUTPUT__1', 'OUTPUT__0'], 'index', [1, 0]],
    [['OUTPUT__1', 'sum'], 'order', [0, 1]],
    [['sum', 'diff'], 'order', [0, 1]],
  ] as const)('resolves %j', (names, convention, positions) => {
    expect(resolveOutputNames(names)).toEqual({ convention, positions });
  });
});
