import { describe, expect, it } from 'vitest';
import { format, PbtxtError, parseSyntax, printSyntax } from '../src/index.ts';
import { SAMPLE } from './support/model-config.ts';

describe('format', () => {
  it('lays out a whole file', () => {
    expect(format(SAMPLE)).toBe(`# A detector.
name: "detector"
backend: 'pytorch'  # not platform
max_batch_size: 0x10

input [
  {
    name: "INPUT__0"
    data_type: TYPE_FP32
    dims: [3, 224, -1]
    reshape { shape: [] }
  },
  {
    name: "INPUT__1"
    data_type: 9
    dims: 1
    dims: [2]
  }
]
output { name: "OUTPUT__0" data_type: TYPE_FP32 dims: 10 }

# Batches of four.
dynamic_batching {
  preferred_batch_size: [4]
  max_queue_delay_microseconds: 18446744073709551615
  preserve_ordering: t
  priority_queue_policy { key: 3 value { shape: 1 } }
}
instance_group [{ kind: KIND_CPU count: 2 }]
version_policy { all {} }

parameters {
  key: "INFERENCE_MODE"
  value { string_value: "true" }
}
parameters [{ key: "LABEL" value { string_value: "a\\tb" "c" } }]
metric_tags { key: "team" value: "vision" }
model_metrics { buckets: [0.1, 1e3, inf, 2.5f] seed: "\\000\\xff" offset: -1 mask: 0777 }
output { name: "OUTPUT__1" }
# The end.
`);
  });

  it.each<[rule: string, text: string, formatted: string]>([
    ['nothing stays nothing', ' \n\n', ''],
    ['separators go', 'a: 1, b: 2; c {},', 'a: 1\nb: 2\nc {}\n'],
    ['an empty block is closed at once', 'a {\n}', 'a {}\n'],
    ['a block of several lines stays one', 'a {\n b: 1 }', 'a {\n  b: 1\n}\n'],
    ['empty lines are kept, but one', 'a: 1\n\n\n\nb: 2', 'a: 1\n\nb: 2\n'],
    ['empty lines at the edges of a block go', 'a {\n\n b: 1\n\n}\n\n', 'a {\n  b: 1\n}\n'],
    ['a sign stays with its number', 'a: - 1', 'a: -1\n'],
    ['strings on several lines stay there', 'a: "x"\n"y" "z"', 'a: "x"\n  "y" "z"\n'],
    ['names in brackets are joined', '[ a . b ]: 1', '[a.b]: 1\n'],
    ['a colon before an empty list stays as it was', 'a: [ ] b [ ]', 'a: []\nb []\n'],
    ['a comment on the line of a field stays there', 'a: 1 # x\nb: 2', 'a: 1  # x\nb: 2\n'],
    ['a comment after a bracket stays there', 'a { # x\n b: 1 }', 'a {  # x\n  b: 1\n}\n'],
    ['a comment before a closing bracket stays inside', 'a {\n b: 1\n\n# x\n}', 'a {\n  b: 1\n\n  # x\n}\n'],
    ['a comment before a comma goes after it', 'a: [ 1 # x\n, 2 ]', 'a: [\n  1,  # x\n  2\n]\n'],
    ['a comment before a colon goes after it', 'a # x\n: 1', 'a:  # x\n  1\n'],
    ['a comment before a block goes into it', 'a # x\n: # y\n{ b: 1 }', 'a {  # x\n  # y\n  b: 1\n}\n'],
    ['a comment before a separator stays after the field', 'a: 1 # x\n;', 'a: 1  # x\n'],
    ['a comment before a listed block stays before it', 'a [\n# x\n{}]', 'a [\n  # x\n  {}\n]\n'],
    ['the head of a file keeps its distance', '\n# x\n\na: 1', '# x\n\na: 1\n'],
    ['lines end as the first one does', 'a: 1\r\nb: 2 # x\r\n', 'a: 1\r\nb: 2  # x\r\n'],
    ['a byte-order mark is dropped', '\ufeff# x\na: 1', '# x\na: 1\n'],
  ])('%s', (_rule, text, formatted) => {
    expect(format(text)).toBe(formatted);
    expect(format(formatted)).toBe(formatted);
  });

  it('puts on one line what fits, by options', () => {
    expect(format('a: [11, 22, 33]', { width: 15 })).toBe('a: [11, 22, 33]\n');
    expect(format('a: [11, 22, 33]', { width: 14, indent: 4 })).toBe('a: [\n    11,\n    22,\n    33\n]\n');
    expect(format('a { b: 1 }', { width: 9 })).toBe('a {\n  b: 1\n}\n');
  });

  it('refuses a text with syntax errors, and changes nothing', () => {
    expect(() => format('a: 1 }')).toThrow(PbtxtError);
    expect(() => format('// x\na: 1', { file: 'config.pbtxt' })).toThrow(
      /^config\.pbtxt:1:1: error: text format has no/,
    );
  });
});

describe('an edited tree', () => {
  it('prints and formats as edited', () => {
    const { document } = parseSyntax('name: "old"  # keep\nx { }');
    const [field] = document.items;
    if (field?.kind !== 'field' || field.value?.kind !== 'scalar') throw new Error('a scalar field was parsed');
    const tokens = field.value.tokens.map((token) => ({ ...token, text: '"new"' }));
    const edited = {
      ...document,
      items: [{ ...field, value: { ...field.value, tokens } }, ...document.items.slice(1)],
    };
    expect(printSyntax(edited)).toBe('name: "new"  # keep\nx { }');
    expect(format(edited)).toBe('name: "new"  # keep\nx {}\n');
  });
});
