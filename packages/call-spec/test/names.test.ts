import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CallSpecError,
  nameTensors,
  parseCallSpec,
  resolveInputs,
  resolveOutputs,
  type SpecNode,
} from '../src/index.ts';
import { dict, leaf, list, source, tuple } from './spec-text.ts';

const forwardNames = (tensors: readonly { readonly forwardName: string }[]) =>
  tensors.map((tensor) => tensor.forwardName);

it('the nested example has the names that its documentation lists', () => {
  const text = JSON.parse(readFileSync(new URL('fixtures/nested.json', import.meta.url), 'utf8'));
  const { inputs, outputs, warnings } = nameTensors(parseCallSpec(text));
  expect(inputs.map(({ ordinalName, forwardName }) => [ordinalName, forwardName])).toEqual([
    ['INPUT__0', 'ARGS[0]'],
    ['INPUT__1', 'ARGS[1]'],
    ['INPUT__2', 'ARGS[2][keyA]'],
    ['INPUT__3', 'ARGS[2][key2]'],
    ['INPUT__4', 'KWARGS[kwarg1]'],
    ['INPUT__5', 'KWARGS[kw_arg2]'],
  ]);
  expect(outputs.map(({ ordinalName, forwardName }) => [ordinalName, forwardName])).toEqual([
    ['OUTPUT__0', 'RESULT[AAA]'],
    ['OUTPUT__1', 'RESULT[ZZZ]'],
    ['OUTPUT__2', 'RESULT[BBB][0]'],
    ['OUTPUT__3', 'RESULT[BBB][1]'],
    ['OUTPUT__4', 'RESULT[CCC][keyA]'],
    ['OUTPUT__5', 'RESULT[CCC][key2]'],
    ['OUTPUT__6', 'RESULT[DDD][KA]'],
    ['OUTPUT__7', 'RESULT[DDD][KB]'],
  ]);
  expect(warnings).toEqual([]);
});

describe('forward names follow the containers', () => {
  it.each<[string, SpecNode, string[]]>([
    ['a single tensor is RESULT', leaf, ['RESULT']],
    ['a tuple of one is RESULT[0]', tuple(leaf), ['RESULT[0]']],
    ['empty containers have no names', tuple(leaf, list(), dict({}), tuple(tuple())), ['RESULT[0]']],
    ['keys keep their order', dict({ z: leaf, a: leaf }), ['RESULT[z]', 'RESULT[a]']],
    ['lists are numbered within', list(list(leaf, leaf), leaf), ['RESULT[0][0]', 'RESULT[0][1]', 'RESULT[1]']],
    ['an empty key is a key', dict({ '': leaf }), ['RESULT[]']],
  ])('%s', (_, result, expected) => {
    expect(forwardNames(nameTensors(parseCallSpec(source({ result }))).outputs)).toEqual(expected);
  });

  it('a program that takes keyword arguments only has only those names', () => {
    const spec = parseCallSpec(source({ args: tuple(), kwargs: dict({ b: leaf, a: list(leaf) }) }));
    expect(forwardNames(nameTensors(spec).inputs)).toEqual(['KWARGS[b]', 'KWARGS[a][0]']);
  });

  it('a program without inputs has none', () => {
    expect(nameTensors(parseCallSpec(source({ args: tuple() }))).inputs).toEqual([]);
  });
});

describe('a key that makes a forward name ambiguous leaves the ordinal name', () => {
  it.each(['a b', 'a]', 'a[b', 'say "x"', 'tab\t', 'a\u200b', 'a\u0000', '\u00a0'])('%j', (key) => {
    const { outputs, warnings } = nameTensors(
      parseCallSpec(source({ result: dict({ [key]: tuple(leaf), ok: leaf }) })),
    );
    expect(outputs.map(({ forwardNameUsable }) => forwardNameUsable)).toEqual([false, true]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("Use 'OUTPUT__0'");
    expect(resolveOutputs(outputs, [{ name: 'OUTPUT__0', role: 'output' }])).toEqual([0]);
    expect(() => resolveOutputs(outputs, [{ name: `RESULT[${key}][0]`, role: 'output' }])).toThrow("use 'OUTPUT__0'");
  });
});

it('a forward name longer than the limit is refused', () => {
  const spec = parseCallSpec(source({ result: dict({ ['k'.repeat(20)]: leaf }) }));
  expect(() => nameTensors(spec, { maxNameLength: 20 })).toThrow(CallSpecError);
});

describe('properties', () => {
  const { tree } = fc.letrec<{ tree: SpecNode }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constant(leaf),
      fc.array(tie('tree'), { maxLength: 4 }).map((children) => tuple(...children)),
      fc.array(tie('tree'), { maxLength: 4 }).map((children) => list(...children)),
      // Entries, not an object: JavaScript would put keys that are numbers first.
      fc
        .uniqueArray(fc.tuple(fc.string({ maxLength: 4 }), tie('tree')), { maxLength: 4, selector: ([key]) => key })
        .map(
          (entries): SpecNode => ({
            kind: 'dict',
            keys: entries.map(([key]) => key),
            children: entries.map(([, child]) => child),
          }),
        ),
    ),
  }));
  const args = fc.array(tree, { maxLength: 4 }).map((children) => tuple(...children));

  it('what is written is what is read', () => {
    fc.assert(
      fc.property(args, tree, (positional, result) => {
        expect(parseCallSpec(source({ args: positional, result }))).toEqual({
          args: positional,
          kwargs: dict({}),
          result,
        });
      }),
      { seed: 2, numRuns: 200 },
    );
  });

  it('names are unique and resolve to the position they came from', () => {
    fc.assert(
      fc.property(args, tree, (positional, result) => {
        const { inputs, outputs } = nameTensors(parseCallSpec(source({ args: positional, result })));
        for (const tensors of [inputs, outputs]) {
          const names = tensors.flatMap(({ ordinalName, forwardName, forwardNameUsable }) =>
            forwardNameUsable ? [ordinalName, forwardName] : [ordinalName],
          );
          expect(new Set(names).size).toBe(names.length);
        }
        const role = 'output' as const;
        for (const { position, ordinalName, forwardName, forwardNameUsable } of outputs) {
          expect(resolveOutputs(outputs, [{ name: ordinalName, role }])).toEqual([position]);
          if (forwardNameUsable) expect(resolveOutputs(outputs, [{ name: forwardName, role }])).toEqual([position]);
        }
        const backwards = inputs.toReversed().map((tensor) => ({
          name: tensor.forwardNameUsable ? tensor.forwardName : tensor.ordinalName,
          role: 'input' as const,
        }));
        expect(resolveInputs(inputs, backwards)).toEqual(inputs.map(({ position }) => position).toReversed());
      }),
      { seed: 3, numRuns: 200 },
    );
  });
});
