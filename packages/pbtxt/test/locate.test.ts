import { describe, expect, it } from 'vitest';
import { parseMessage, parseSyntax, spanOf } from '../src/index.ts';
import { modelConfig } from './support/model-config.ts';

const TEXT = `name: "m"
input [
  { name: "a" dims: [1, 2] dims: 3 },
  { name: "b" dims: -4 reshape { } }
]
input { name: "c" }
dynamic_batching { preserve_ordering: true priority_queue_policy { key: 0x10 value { shape: [5] } } }
parameters { key: "K" value { string_value: "old" } }
parameters [{ value: { string_value: "new" "er" } key: 'K' }, { key: "a.b\\"" }]
metric_tags { key: "t" value: "v" }
platform: 5
`;

const parsed = parseMessage(modelConfig, TEXT);

function textAt(path: string): string | undefined {
  const span = parsed.locate(path);
  return span && TEXT.slice(span.start.offset, span.end.offset);
}

describe('locate', () => {
  it.each<[path: string, text: string | undefined]>([
    ['name', '"m"'],
    ['input[0].name', '"a"'],
    ['input[0].dims[0]', '1'],
    ['input[0].dims[1]', '2'],
    ['input[0].dims[2]', '3'],
    ['input[1].dims[0]', '-4'],
    ['input[1]', '{ name: "b" dims: -4 reshape { } }'],
    ['input[2]', 'input { name: "c" }'],
    ['input[2].name', '"c"'],
    ['input[1].reshape', 'reshape { }'],
    ['input[0].dims', 'dims: [1, 2]'],
    ['dynamic_batching.preserve_ordering', 'true'],
    ['dynamicBatching.preserveOrdering', 'true'],
    ['dynamic_batching.priority_queue_policy[16].shape[0]', '5'],
    ['dynamic_batching.priority_queue_policy["16"].shape[0]', '5'],
    ['parameters["K"].string_value', '"new" "er"'],
    ['parameters["K"]', `value: { string_value: "new" "er" } key: 'K'`],
    ['parameters["a.b\\""]', 'key: "a.b\\""'],
    ['metric_tags["t"]', '"v"'],
    // Texts with errors are located as well.
    ['platform', '5'],
    // Not set, unknown, or no path.
    ['backend', undefined],
    ['input[3]', undefined],
    ['input[-1]', undefined],
    ['input[0].dims[3]', undefined],
    ['input[0].nope', undefined],
    ['name.x', undefined],
    ['parameters["no"]', undefined],
    ['parameters["\\q"]', undefined],
    ['name[0]', undefined],
    ['', undefined],
    ['[0]', undefined],
    ['input[', undefined],
    ['a b', undefined],
  ])('%s', (path, text) => expect(textAt(path)).toBe(text));

  it('gives lines and columns from 1', () => {
    expect(parsed.locate('input[1].dims[0]')).toEqual({
      start: { line: 4, column: 21, offset: TEXT.indexOf('-4') },
      end: { line: 4, column: 23, offset: TEXT.indexOf('-4') + 2 },
    });
  });
});

describe('spanOf', () => {
  it('tells where a node or token of the tree stands, without the comments before it', () => {
    const { document } = parseSyntax('# c\n  name: "m"  # d\n');
    const [field] = document.items;
    expect(field && spanOf(field, document)).toMatchObject({ start: { line: 2, column: 3 }, end: { column: 12 } });
    expect(spanOf(document.end, document)).toMatchObject({ start: { line: 3, column: 1 } });
  });
});
