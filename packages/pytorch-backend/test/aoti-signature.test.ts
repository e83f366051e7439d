import { silentLogger } from '@nereid/core';
import { describe, expect, it } from 'vitest';
import { packageNames } from '../src/aoti-signature.ts';

const LEAF = { type: null, context: null, children_spec: [] };

/** The call spec of `forward(a, b)`, which returns one tensor. */
const CALL_SPEC = [
  JSON.stringify([
    1,
    {
      type: 'builtins.tuple',
      context: 'null',
      children_spec: [
        { type: 'builtins.tuple', context: 'null', children_spec: [LEAF, LEAF] },
        { type: 'builtins.dict', context: '[]', children_spec: [] },
      ],
    },
  ]),
  JSON.stringify([1, LEAF]),
] as const;

function names(constantNames: readonly string[], parameterCount: number | undefined) {
  // One parameter was lifted as arg0, the first leaf is arg1; the second leaf was a number.
  const opened = { callSpec: CALL_SPEC, inputNames: ['arg1_1'], constantNames, outputCount: 1 };
  const { inputs } = packageNames({ modelName: 'm', package: opened, parameterCount, logger: silentLogger });
  return inputs.map(({ forwardName }) => forwardName);
}

describe('packageNames', () => {
  it('counts parameters and buffers by the sources: constants that the compiler made were never numbered', () => {
    expect(names(['weight', '_tensor_constant0'], 1)).toEqual(['ARGS[0]']);
  });

  it('counts the constants of the library where there are no sources, without folded ones', () => {
    expect(names(['weight', '_FOLDED_CONST_0'], undefined)).toEqual(['ARGS[0]']);
    expect(() => names(['weight', '_tensor_constant0'], undefined)).toThrow(/it holds 2 parameters and buffers/);
  });
});
