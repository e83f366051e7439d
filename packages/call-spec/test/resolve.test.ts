import { describe, expect, it } from 'vitest';
import {
  CallSpecError,
  type ConfigEntry,
  type InputRole,
  nameTensors,
  type OutputRole,
  parseCallSpec,
  resolveInputs,
  resolveOutputs,
} from '../src/index.ts';
import { dict, leaf, source, tuple } from './spec-text.ts';

const { inputs, outputs } = nameTensors(
  parseCallSpec(
    source({
      args: tuple(leaf, dict({ keyA: leaf })),
      kwargs: dict({ k: leaf }),
      result: dict({ logits: leaf, state: leaf }),
    }),
  ),
);
const input = (name: string): ConfigEntry<InputRole> => ({ name, role: 'input' });
const control = (name: string): ConfigEntry<InputRole> => ({ name, role: 'control' });
const output = (name: string): ConfigEntry<OutputRole> => ({ name, role: 'output' });

function problems(run: () => unknown) {
  try {
    run();
  } catch (error) {
    if (error instanceof CallSpecError) return error.problems;
    throw error;
  }
  return [];
}

describe('inputs resolve by', () => {
  it.each([
    ['ordinal names', [input('INPUT__0'), input('INPUT__1'), input('INPUT__2')], [0, 1, 2]],
    ['forward names in any order', [input('KWARGS[k]'), input('ARGS[0]'), input('ARGS[1][keyA]')], [2, 0, 1]],
    ['a mixture of both', [input('ARGS[1][keyA]'), input('INPUT__0'), input('INPUT__2')], [1, 0, 2]],
    [
      'the descriptive form for controls and states',
      [input('ARGS[0]'), control('START__2'), { name: 'my__state__1', role: 'state' as const }],
      [0, 2, 1],
    ],
    [
      'batch input targets',
      [input('ARGS[0]'), input('INPUT__1'), { name: 'KWARGS[k]', role: 'batch input' as const }],
      [0, 1, 2],
    ],
  ])('%s', (_, entries, expected) => {
    expect(resolveInputs(inputs, entries)).toEqual(expected);
  });
});

describe('inputs are refused', () => {
  it('an unknown name: with the nearest valid one and the list', () => {
    expect(problems(() => resolveInputs(inputs, [input('ARG[0]'), input('INPUT__1'), input('INPUT__2')]))).toEqual([
      {
        reason: 'unknown-name',
        message:
          "The model has no input for the input 'ARG[0]'. Did you mean 'ARGS[0]'? " +
          "The model's inputs: INPUT__0 (ARGS[0]), INPUT__1 (ARGS[1][keyA]), INPUT__2 (KWARGS[k]).",
      },
    ]);
  });

  it('the descriptive form for an ordinary input', () => {
    expect(problems(() => resolveInputs(inputs, [input('x__0'), input('INPUT__1'), input('INPUT__2')]))).toMatchObject([
      { reason: 'unknown-name' },
    ]);
  });

  it('an index that the model has not', () => {
    expect(
      problems(() => resolveInputs(inputs, [input('INPUT__0'), input('INPUT__1'), control('READY__7')])),
    ).toMatchObject([
      {
        reason: 'index',
        message: expect.stringContaining("The index of the control 'READY__7' is outside the model's 3 inputs."),
      },
    ]);
  });

  it('a tensor named by ordinal and by forward name: both are named, and so is what is missing', () => {
    expect(problems(() => resolveInputs(inputs, [input('INPUT__0'), input('ARGS[0]'), input('INPUT__2')]))).toEqual([
      {
        reason: 'claimed-twice',
        message:
          "input 'INPUT__0' and input 'ARGS[0]' are the same tensor, INPUT__0 (ARGS[0]). Keep one of them. " +
          'Not named: INPUT__1 (ARGS[1][keyA]).',
      },
    ]);
  });

  it('an input and a control that are the same tensor', () => {
    expect(
      problems(() => resolveInputs(inputs, [input('INPUT__0'), control('START__0'), input('INPUT__1')])),
    ).toMatchObject([
      { reason: 'claimed-twice', message: expect.stringContaining("input 'INPUT__0' and control 'START__0'") },
    ]);
  });

  it('too few: both numbers and the missing ones', () => {
    expect(problems(() => resolveInputs(inputs, [input('INPUT__0')]))).toEqual([
      {
        reason: 'input-count',
        message:
          'The model takes 3 input tensors, the configuration names 1 (inputs, controls, states and batch inputs together); ' +
          'each must be named once. Not named: INPUT__1 (ARGS[1][keyA]), INPUT__2 (KWARGS[k]).',
      },
    ]);
  });

  it('too many: every problem is reported at once', () => {
    const entries = [input('INPUT__0'), input('INPUT__1'), input('INPUT__2'), input('INPUT__3'), input('mask')];
    expect(problems(() => resolveInputs(inputs, entries)).map(({ reason }) => reason)).toEqual([
      'unknown-name',
      'unknown-name',
      'input-count',
    ]);
  });
});

describe('outputs', () => {
  it.each([
    ['all', [output('OUTPUT__0'), output('OUTPUT__1')], [0, 1]],
    ['a subset, in any form', [output('RESULT[state]')], [1]],
    [
      'one that is returned and stored',
      [output('RESULT[state]'), { name: 'STATE_OUT__1', role: 'state' as const }],
      [1, 1],
    ],
  ])('%s resolve', (_, entries, expected) => {
    expect(resolveOutputs(outputs, entries)).toEqual(expected);
  });

  it.each([
    [
      'none',
      [],
      'no-outputs',
      "name at least one of the model's: OUTPUT__0 (RESULT[logits]), OUTPUT__1 (RESULT[state]).",
    ],
    [
      'an unknown ordinal',
      [output('OUTPUT__2')],
      'unknown-name',
      "no output for the output 'OUTPUT__2'. Did you mean 'OUTPUT__0'?",
    ],
    ['an ordinal with leading zeros', [output('OUTPUT__01')], 'unknown-name', "Did you mean 'OUTPUT__0'?"],
    ['a name of an input', [output('INPUT__0')], 'unknown-name', "The model's outputs: OUTPUT__0"],
    [
      'one tensor twice',
      [output('OUTPUT__0'), output('RESULT[logits]')],
      'claimed-twice',
      "output 'OUTPUT__0' and output 'RESULT[logits]' are the same tensor",
    ],
  ])('%s are refused', (_, entries, reason, message) => {
    expect(problems(() => resolveOutputs(outputs, entries))).toMatchObject([
      { reason, message: expect.stringContaining(message) },
    ]);
  });

  it('a model with very many outputs does not list them all', () => {
    const many = nameTensors(
      parseCallSpec(source({ result: tuple(...Array.from({ length: 40 }, () => leaf)) })),
    ).outputs;
    expect(problems(() => resolveOutputs(many, [output('x')]))[0]?.message).toContain(
      'OUTPUT__31 (RESULT[31]) and 8 more.',
    );
  });
});
