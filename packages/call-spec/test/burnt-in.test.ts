import { describe, expect, it } from 'vitest';
import { type CompiledInputs, nameTensors, parseCallSpec } from '../src/index.ts';
import { dict, leaf, source, tuple } from './spec-text.ts';

/** Four leaves: three positional, one keyword. */
const spec = parseCallSpec(source({ args: tuple(leaf, leaf, leaf), kwargs: dict({ k: leaf }) }));
const names = (compiledInputs: CompiledInputs) =>
  nameTensors(spec, { compiledInputs }).inputs.map(({ ordinalName, forwardName }) => `${ordinalName} ${forwardName}`);

describe('leaves that are no inputs of the compiled library are dropped and the ordinals count tensors only', () => {
  it.each<[string, CompiledInputs, string[]]>([
    [
      'as many inputs as leaves: nothing was burnt in, whatever the names',
      { names: ['a', 'b', 'c', 'd'] },
      ['INPUT__0 ARGS[0]', 'INPUT__1 ARGS[1]', 'INPUT__2 ARGS[2]', 'INPUT__3 KWARGS[k]'],
    ],
    [
      'a gap in the middle needs no constants: first and last input are first and last leaf',
      { names: ['arg5_1', 'arg7_1', 'arg8_1'] },
      ['INPUT__0 ARGS[0]', 'INPUT__1 ARGS[2]', 'INPUT__2 KWARGS[k]'],
    ],
    [
      'a model without lifted constants starts at leaf 0',
      { names: ['arg0_1', 'arg1_1'] },
      ['INPUT__0 ARGS[0]', 'INPUT__1 ARGS[1]'],
    ],
    [
      'the constants that the library holds settle the rest',
      { names: ['arg2_1', 'arg3_1'], constants: 2 },
      ['INPUT__0 ARGS[0]', 'INPUT__1 ARGS[1]'],
    ],
    ['no input at all: every leaf was burnt in', { names: [] }, []],
  ])('%s', (_, compiledInputs, expected) => {
    expect(names(compiledInputs)).toEqual(expected);
  });

  it('each dropped leaf is named in a warning', () => {
    const { warnings } = nameTensors(spec, { compiledInputs: { names: ['arg0_1', 'arg2_1'] } });
    expect(warnings).toEqual([
      'ARGS[1] was not a tensor when the model was exported: its value is part of the compiled model and it is no input.',
      'KWARGS[k] was not a tensor when the model was exported: its value is part of the compiled model and it is no input.',
    ]);
  });
});

describe('an assignment that is not certain is refused', () => {
  it.each<[string, CompiledInputs, string, string]>([
    ['several fit', { names: ['arg2_1', 'arg3_1'] }, 'burnt-in', 'exported with 2 non-tensor arguments'],
    [
      'several fit above the known constants',
      { names: ['arg2_1', 'arg3_1'], constants: 1 },
      'burnt-in',
      'which of ARGS[0], ARGS[1], ARGS[2], KWARGS[k]',
    ],
    [
      'more inputs than leaves',
      { names: ['a', 'b', 'c', 'd', 'e'] },
      'compiled-inputs',
      'takes 5 tensors (a, b, c, d, e)',
    ],
    ['a name of another form', { names: ['x'] }, 'compiled-inputs', "the input name 'x' does not say which leaf it is"],
    ['names out of order', { names: ['arg3_1', 'arg1_1'] }, 'compiled-inputs', 'the input names are not in order'],
    ['numbers that no count fits', { names: ['arg1_1', 'arg9_1'] }, 'compiled-inputs', 'further apart than the leaves'],
    [
      'more constants than the first number allows',
      { names: ['arg2_1', 'arg5_1'], constants: 3 },
      'compiled-inputs',
      'holds 3 parameters',
    ],
  ])('%s', (_, compiledInputs, reason, message) => {
    expect(() => names(compiledInputs)).toThrow(
      expect.objectContaining({ reason, message: expect.stringContaining(message) }),
    );
  });
});
