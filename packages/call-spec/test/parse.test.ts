import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallSpecError, type CallSpecReason, parseCallSpec } from '../src/index.ts';
import { dict, leaf, list, source, specText, tuple } from './spec-text.ts';

const LEAF = '{"type": null, "context": null, "children_spec": []}';
const outputs = (node: string) => ({ ...source(), outputs: `[1, ${node}]` });

function refusal(run: () => unknown): CallSpecError {
  try {
    run();
  } catch (error) {
    if (error instanceof CallSpecError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a call spec is read as torch writes it', () => {
  it.each([
    ['a leaf', LEAF, leaf],
    ['a leaf whose type is missing', '{"context": 3}', leaf],
    ['a leaf whose type is no string', '{"type": 7, "children_spec": "ignored"}', leaf],
    ['a tuple', `{"type": "builtins.tuple", "context": "null", "children_spec": [${LEAF}]}`, tuple(leaf)],
    ['a tuple without a context', `{"type": "builtins.tuple", "children_spec": [${LEAF}]}`, tuple(leaf)],
    [
      'a list whose context is an array',
      `{"type": "builtins.list", "context": [], "children_spec": [${LEAF}]}`,
      list(leaf),
    ],
    [
      'a list whose context is the string of an array',
      `{"type": "builtins.list", "context": "[1]", "children_spec": []}`,
      list(),
    ],
    ['an empty tuple', '{"type": "builtins.tuple", "context": null, "children_spec": []}', tuple()],
    ['an empty dict', '{"type": "builtins.dict", "context": "[]", "children_spec": []}', dict({})],
    ['a dict', `{"type": "builtins.dict", "context": "[\\"a\\"]", "children_spec": [${LEAF}]}`, dict({ a: leaf })],
    [
      'a dict whose keys are an array',
      `{"type": "builtins.dict", "context": ["a"], "children_spec": [${LEAF}]}`,
      dict({ a: leaf }),
    ],
    [
      'an OrderedDict',
      `{"type": "collections.OrderedDict", "context": "[\\"a\\"]", "children_spec": [${LEAF}]}`,
      dict({ a: leaf }),
    ],
  ])('%s', (_, node, expected) => {
    expect(parseCallSpec(outputs(node)).result).toEqual(expected);
  });

  it('the input tree gives positional and keyword arguments, either of them empty', () => {
    const spec = parseCallSpec(source({ args: tuple(), kwargs: dict({ z: leaf, a: list(leaf) }) }));
    expect(spec).toEqual({ args: tuple(), kwargs: dict({ z: leaf, a: list(leaf) }), result: leaf });
  });
});

describe('a call spec is refused with the path of the node', () => {
  const nested = (node: string) =>
    outputs(`{"type": "builtins.list", "context": null, "children_spec": [${LEAF}, ${node}]}`);
  it.each<[string, CallSpecReason, ReturnType<typeof outputs>, string]>([
    ['text that is not JSON', 'not-json', { ...source(), outputs: '[1, ' }, 'outputs: not JSON'],
    [
      'an object',
      'not-a-spec',
      { ...source(), inputs: '{}' },
      'inputs: expected an array of two, [protocol, node], got {}.',
    ],
    ['an array of three', 'not-a-spec', { ...source(), outputs: '[1, 2, 3]' }, 'outputs: expected an array of two'],
    [
      'protocol 2',
      'protocol',
      { ...source(), outputs: `[2, ${LEAF}]` },
      'outputs: unsupported call spec protocol 2, expected 1.',
    ],
    [
      'the protocol as text',
      'protocol',
      { ...source(), outputs: `["1", ${LEAF}]` },
      'unsupported call spec protocol "1"',
    ],
    ['a node that is a number', 'not-a-node', nested('3'), 'outputs[1]: expected an object, got 3.'],
    ['a node that is an array', 'not-a-node', nested('[]'), 'outputs[1]: expected an object, got [].'],
    [
      'a named tuple',
      'node-type',
      nested('{"type": "collections.namedtuple"}'),
      'outputs[1]: container type "collections.namedtuple" is not supported',
    ],
    [
      'a class of its own',
      'node-type',
      nested('{"type": "my.Batch"}'),
      'Wrap the module in one whose forward takes and returns those',
    ],
    [
      'a context that is a number',
      'context',
      nested('{"type": "builtins.tuple", "context": 1, "children_spec": []}'),
      'outputs[1]: context must be null, an array or a string that holds one, got 1.',
    ],
    [
      'a context string that is not JSON',
      'context',
      nested('{"type": "builtins.list", "context": "[", "children_spec": []}'),
      'outputs[1]: the context string is not JSON: "[".',
    ],
    [
      'a context string that holds an object',
      'context',
      nested('{"type": "builtins.list", "context": "{}", "children_spec": []}'),
      'got "{}"',
    ],
    [
      'a dict without keys',
      'context',
      nested('{"type": "builtins.dict", "context": null, "children_spec": []}'),
      'outputs[1]: a dict needs its keys in the context, got null.',
    ],
    [
      'integer keys',
      'context',
      nested('{"type": "builtins.dict", "context": "[1, 2]", "children_spec": []}'),
      'outputs[1]: dict keys must be strings, got 1.',
    ],
    [
      'a key twice',
      'duplicate-key',
      nested('{"type": "builtins.dict", "context": "[\\"k\\", \\"k\\"]", "children_spec": []}'),
      'outputs[1]: the key "k" stands twice in one dict.',
    ],
    [
      'more keys than children',
      'children',
      nested('{"type": "builtins.dict", "context": "[\\"k\\"]", "children_spec": []}'),
      'outputs[1]: a dict of 1 keys with 0 children.',
    ],
    [
      'no list of children',
      'children',
      nested('{"type": "builtins.tuple", "context": null}'),
      'outputs[1]: children_spec must be an array, got nothing.',
    ],
    ['inputs that are a leaf', 'input-root', { ...source(), inputs: specText(leaf) }, 'got a leaf.'],
    [
      'inputs that are a dict',
      'input-root',
      { ...source(), inputs: specText(dict({ a: leaf })) },
      'got a dict with 1 keys.',
    ],
    [
      'inputs without the keyword dict',
      'input-root',
      { ...source(), inputs: specText(tuple(tuple(leaf))) },
      'got a tuple of 1 (tuple).',
    ],
    [
      'positional arguments as a list',
      'input-root',
      { ...source(), inputs: specText(tuple(list(), dict({}))) },
      'got a tuple of 2 (list, dict).',
    ],
  ])('%s', (_, reason, text, message) => {
    const error = refusal(() => parseCallSpec(text));
    expect(error.reason).toBe(reason);
    expect(error.message).toContain(message);
  });
});

describe('limits hold', () => {
  it.each([
    ['maxLength', { maxLength: 10 }, 'inputs: 232 characters, at most 10 are read (option maxLength).'],
    ['maxDepth', { maxDepth: 1 }, 'inputs[0][0]: nested deeper than 1 (option maxDepth).'],
    ['maxNodes', { maxNodes: 2 }, 'inputs[0][0]: more than 2 nodes (option maxNodes).'],
  ])('%s', (_, limits, message) => {
    const error = refusal(() => parseCallSpec(source(), limits));
    expect(error.problems).toEqual([{ reason: 'limit', message }]);
  });

  it('a hostile nesting of a hundred thousand levels is refused, not a stack overflow', () => {
    const open = '{"type":"builtins.tuple","context":null,"children_spec":[';
    const deep = `[1, ${open.repeat(50_000)}${']}'.repeat(50_000)}]`;
    expect(refusal(() => parseCallSpec({ ...source(), outputs: deep })).reason).toBe('limit');
  });
});

describe('properties', () => {
  it('any JSON is read or refused with a CallSpecError', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.jsonValue().map((node) => JSON.stringify([1, node])),
        ),
        (text) => {
          try {
            parseCallSpec({ ...source(), outputs: text });
          } catch (error) {
            expect(error).toBeInstanceOf(CallSpecError);
          }
        },
      ),
      { seed: 1, numRuns: 500 },
    );
  });
});
