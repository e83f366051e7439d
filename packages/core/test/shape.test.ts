import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { elementCount, formatShape, shapeMatches } from '../src/index.ts';

describe('elementCount', () => {
  it.each([
    [[], 1],
    [[7], 7],
    [[2, 3, 4], 24],
    [[2, 0, 4], 0],
  ])('of %j is %i', (shape, count) => expect(elementCount(shape)).toBe(count));
});

describe('formatShape', () => {
  it.each([
    [[], '[]'],
    [[3], '[3]'],
    [[2, -1, 3], '[2,-1,3]'],
  ])('shows %j as %s', (shape, text) => expect(formatShape(shape)).toBe(text));
});

describe('shapeMatches', () => {
  it.each([
    [[], [], true],
    [[2, 3], [2, 3], true],
    [[-1, 3], [0, 3], true],
    [[-1, 3], [9, 3], true],
    [[2, 3], [3, 2], false],
    [[2], [2, 1], false],
    [[-1], [], false],
  ])('%j takes %j: %s', (declared, actual, matches) => expect(shapeMatches(declared, actual)).toBe(matches));

  it('takes every shape of the same rank when all dimensions vary, and every shape itself', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (shape) => {
        expect(
          shapeMatches(
            shape.map(() => -1),
            shape,
          ),
        ).toBe(true);
        expect(shapeMatches(shape, shape)).toBe(true);
        expect(shapeMatches(shape, [...shape, 1])).toBe(false);
      }),
    );
  });
});
