import { RequestSignature } from '@nereid/core';
import { requestFor, type TensorInit, tensor } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { haveSameInputs, joinRagged } from '../src/same-inputs.ts';

const x = (...shape: readonly number[]) => input({ name: 'x', shape });
const y = (...shape: readonly number[]) => input({ name: 'y', shape });

function input(init: Omit<TensorInit, 'values'>) {
  return tensor({ ...init, values: new Array((init.shape ?? []).reduce((count, dim) => count * dim, 1)).fill(0) });
}

describe('haveSameInputs', () => {
  it.each([
    ['equal shapes', [x(1, 4)], [x(1, 4)], true],
    ['other rows', [x(1, 4)], [x(3, 4)], true],
    ['another dimension', [x(1, 4)], [x(1, 5)], false],
    ['another rank', [x(1, 4)], [x(1, 4, 1)], false],
    ['another datatype', [x(1, 4)], [input({ name: 'x', shape: [1, 4], datatype: 'INT32' })], false],
    ['another name', [x(1, 4)], [y(1, 4)], false],
    ['the same in another order', [x(1, 4), y(1, 2)], [y(2, 2), x(2, 4)], true],
    ['an optional input more', [x(1, 4)], [x(1, 4), y(1, 2)], false],
    ['an optional input less', [x(1, 4), y(1, 2)], [x(1, 4)], false],
    ['no inputs at all', [], [], true],
  ])('for %s', (_, first, next, expected) => {
    expect(haveSameInputs(requestFor({ inputs: first }), requestFor({ inputs: next }))).toBe(expected);
  });

  it('takes one signature as the proof', () => {
    const signature = new RequestSignature();
    const [first, next] = [1, 2].map(() => requestFor({ inputs: [x(1, 4)], signature }));
    expect(first && next && haveSameInputs(first, next)).toBe(true);
  });
});

describe('joinRagged', () => {
  it.each([
    ['another shape of a ragged input', [x(1, 4)], [x(1, 9)], true],
    ['another rank of a ragged input', [x(1, 4)], [x(2, 3, 1)], true],
    ['another datatype of a ragged input', [x(1, 4)], [input({ name: 'x', shape: [1, 4], datatype: 'INT32' })], false],
    ['another shape of another input', [x(1, 4), y(1, 2)], [x(1, 9), y(1, 3)], false],
    ['the same of another input, in another order', [x(1, 4), y(1, 2)], [y(2, 2), x(1, 9)], true],
    ['a ragged input less', [x(1, 4), y(1, 2)], [y(1, 2)], false],
    ['another name', [x(1, 4)], [y(1, 4)], false],
  ])('for %s', (_, first, next, expected) => {
    const canJoin = joinRagged(new Set(['x']));
    expect(canJoin(requestFor({ inputs: first }), requestFor({ inputs: next }))).toBe(expected);
  });
});
