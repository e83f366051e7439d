// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { describe, expect, it } from 'vitest';
import { type Diagnostic, PbtxtError, parseMessage, parseMessageOrThrow, parseSyntax } from '../src/index.ts';
import { modelConfig, plain } from './support/model-config.ts';

function diagnose(text: string): readonly Diagnostic[] {
  return parseMessage(modelConfig, text).diagnostics;
}

/** `reason line:column "marked text"`. */
function brief(text: string, diagnostics = diagnose(text)): string[] {
  return diagnostics.map(({ reason, span: { start, end } }) => {
    return `${reason} ${start.line}:${start.column} ${JSON.stringify(text.slice(start.offset, end.offset))}`;
  });
}

describe('each problem is named, placed, and repaired where that is possible', () => {
  it.each<[text: string, expected: string, message: string, suggestion?: string]>([
    // Names.
    [
      'default_model_name: "x"',
      'unknown-field 1:1 "default_model_name"',
      'ModelConfig has no field `default_model_name`; did you mean `default_model_filename`?',
      'default_model_filename',
    ],
    ['input { dim: 1 }', 'unknown-field 1:9 "dim"', 'ModelInput has no field `dim`; did you mean `dims`?', 'dims'],
    ['zzz: 1', 'unknown-field 1:1 "zzz"', 'ModelConfig has no field `zzz`'],
    [
      'input { max_batch_size: 1 }',
      'unknown-field 1:9 "max_batch_size"',
      'ModelInput has no field `max_batch_size`; it belongs to ModelConfig, further out',
    ],
    [
      'metric_tags { ky: "a" }',
      'unknown-field 1:15 "ky"',
      'an entry of `metric_tags` has the fields key and value, not `ky`',
      'key',
    ],
    ['[a.b]: 1', 'unknown-extension 1:1 "[a.b]"', 'ModelConfig has no extension `a.b`'],
    ['"name": "x"', 'expected-name 1:1 "\\"name\\""', 'field names are written without quotes; write `name`', 'name'],
    ['8: 1', 'expected-name 1:1 "8: 1"', 'a field name is expected here, not `8`'],
    ['{ name: "x" }', 'expected-name 1:1 "{"', 'a field name is expected before `{`'],
    // Values.
    ['name "x"', 'missing-colon 1:1 "name"', '`name` needs a colon before its value; write `name:`', 'name:'],
    ['input { dims [1] }', 'missing-colon 1:9 "dims"', '`dims` needs a colon before its value; write `dims:`', 'dims:'],
    ['input { dims [] }', 'missing-colon 1:9 "dims"', '`dims` needs a colon before its value; write `dims:`', 'dims:'],
    ['max_batch_size = 8', 'missing-colon 1:16 "="', 'text format writes `name: value`; replace `=` by `:`', ':'],
    ['name:\nplatform: "x"', 'expected-value 1:1 "name"', '`name` has no value'],
    ['max_batch_size: -', 'expected-value 1:17 "-"', '`max_batch_size` needs a number after `-`'],
    [
      'name: libtorch',
      'unquoted-string 1:7 "libtorch"',
      '`name` takes a string in quotes; write `"libtorch"`',
      '"libtorch"',
    ],
    [
      'name: model.pt',
      'unquoted-string 1:7 "model.pt"',
      '`name` has text without quotes; write `"model.pt"`',
      '"model.pt"',
    ],
    ['name: 8', 'wrong-type 1:7 "8"', '`name` takes a string in quotes; write `"8"`', '"8"'],
    ['name: { }', 'wrong-type 1:7 "{"', '`name` takes a string, not a message'],
    ['input: 8', 'wrong-type 1:8 "8"', '`input` takes a ModelInput message { … }, not the number `8`'],
    [
      'max_batch_size: "8"',
      'wrong-type 1:17 "\\"8\\""',
      '`max_batch_size` takes an int32, not the string `"8"`; write `8`',
      '8',
    ],
    [
      'max_batch_size: 8.0',
      'wrong-type 1:17 "8.0"',
      '`max_batch_size` takes an int32, not the number `8.0`; write `8`',
      '8',
    ],
    [
      'max_batch_size: [8]',
      'unexpected-list 1:17 "["',
      '`max_batch_size` takes one value, not a list; remove the brackets',
    ],
    ['input { dims: [[1]] }', 'unexpected-list 1:16 "["', '`dims` has a list inside a list; text format has none'],
    [
      'input { optional: yes }',
      'wrong-type 1:19 "yes"',
      '`optional` takes a bool, not the word `yes`; write `true`',
      'true',
    ],
    [
      'input { optional: 2 }',
      'wrong-type 1:19 "2"',
      '`optional` takes a bool, not the number `2`; write true or false',
    ],
    [
      'model_metrics { buckets: 0x1 }',
      'wrong-type 1:26 "0x1"',
      '`buckets` takes a double, not the number `0x1`; write it as a decimal number',
    ],
    [
      'input { data_type: FP32 }',
      'unknown-enum-value 1:20 "FP32"',
      'DataType has no value `FP32` for `data_type`; did you mean `TYPE_FP32`?',
      'TYPE_FP32',
    ],
    [
      'input { data_type: "TYPE_FP32" }',
      'wrong-type 1:20 "\\"TYPE_FP32\\""',
      '`data_type` takes a DataType name, not the string `"TYPE_FP32"`; write `TYPE_FP32`',
      'TYPE_FP32',
    ],
    [
      'instance_group { kind: XYZ }',
      'unknown-enum-value 1:24 "XYZ"',
      'Kind has no value `XYZ` for `kind`; it has KIND_AUTO, KIND_GPU, KIND_CPU, KIND_MODEL',
    ],
    [
      'metric_tags { key: 5 }',
      'wrong-type 1:20 "5"',
      'a key of `metric_tags` takes a string in quotes; write `"5"`',
      '"5"',
    ],
    [
      'metric_tags: "a"',
      'wrong-type 1:14 "\\"a\\""',
      '`metric_tags` is a map and takes entries like { key: "…" value … }',
    ],
    [
      'parameters { key: "K" value: "V" }',
      'wrong-type 1:30 "\\"V\\""',
      'a value of `parameters` takes a ModelParameter message { … }, not the string `"V"`; write `{ string_value: "V" }`',
      '{ string_value: "V" }',
    ],
    // Numbers.
    [
      'max_batch_size: 2147483648',
      'out-of-range 1:17 "2147483648"',
      '`max_batch_size` is `2147483648`, outside int32: from -2147483648 to 2147483647',
    ],
    [
      'max_batch_size: -2147483649',
      'out-of-range 1:17 "-2147483649"',
      '`max_batch_size` is `-2147483649`, outside int32: from -2147483648 to 2147483647',
    ],
    [
      'version_policy { latest { num_versions: -1 } }',
      'out-of-range 1:41 "-1"',
      '`num_versions` is `-1`, outside uint32: from 0 to 4294967295',
    ],
    [
      'max_batch_size: 08',
      'bad-number 1:17 "08"',
      '`08` starts with 0, which makes it octal, but has a digit above 7; write 8',
      '8',
    ],
    ['max_batch_size: 1_000', 'bad-number 1:17 "1_000"', '`1_000` has _ between its digits; write `1000`', '1000'],
    ['max_batch_size: 1x', 'bad-number 1:17 "1x"', '`1x` is not a number'],
    [
      'max_batch_size: ${max_batch_size}',
      'placeholder 1:17 "${max_batch_size}"',
      '`max_batch_size` still holds the template variable `${max_batch_size}`; put its value here',
    ],
    [
      'max_batch_size: {{ size }}',
      'placeholder 1:17 "{{ size }}"',
      '`max_batch_size` still holds the template variable `{{ size }}`; put its value here',
    ],
    [
      'max_batch_size: $SIZE',
      'placeholder 1:17 "$SIZE"',
      '`max_batch_size` still holds the template variable `$SIZE`; put its value here',
    ],
    // Twice.
    ['name: "a"\nname: "b"', 'duplicate-field 2:1 "name"', '`name` is set twice, first in line 1; remove one'],
    [
      'version_policy {}\nversion_policy {}',
      'duplicate-field 2:1 "version_policy"',
      '`version_policy` is set twice, first in line 1; remove one',
    ],
    [
      'metric_tags { key: "a" key: "b" }',
      'duplicate-field 1:24 "key"',
      '`key` is set twice in one entry of `metric_tags`; remove one',
    ],
    [
      'dynamic_batching {}\nsequence_batching {}',
      'oneof-conflict 2:1 "sequence_batching"',
      '`sequence_batching` and `dynamic_batching` (line 1) exclude each other: both belong to the oneof `scheduling_choice`; remove one',
    ],
    // Strings.
    [
      'name: "x',
      'unterminated-string 1:7 "\\"x"',
      'this string is not closed on its line; end it with ", or write \\n for a line break',
    ],
    [
      "name: 'x\r\n",
      'unterminated-string 1:7 "\'x"',
      "this string is not closed on its line; end it with ', or write \\n for a line break",
    ],
    [
      'name: "C:\\models"',
      'bad-escape 1:10 "\\\\m"',
      '\\m is not an escape of text format; write \\\\ for a backslash',
      '\\\\m',
    ],
    ['name: "\\xg"', 'bad-escape 1:8 "\\\\x"', '\\x must be followed by one or two hex digits'],
    ['name: "\\u12"', 'bad-escape 1:8 "\\\\u"', '\\u must be followed by 4 hex digits'],
    [
      'name: "\\ud83d"',
      'bad-escape 1:8 "\\\\ud83d"',
      'half of a surrogate pair is not a character; write the code point as \\U…',
    ],
    ['name: "\\U00110000"', 'bad-escape 1:8 "\\\\U00110000"', 'the last code point of Unicode is \\U0010FFFF'],
    [
      'name: "\\xff"',
      'invalid-utf8 1:7 "\\"\\\\xff\\""',
      '`name` takes text, and the bytes that these escapes spell are not UTF-8',
    ],
    // Characters and comments.
    ['// hi', 'slash-comment 1:1 "//"', 'text format has no `//` comments; start a comment with `#`', '#'],
    [
      '/* hi\n */ name: "x"',
      'slash-comment 1:1 "/*"',
      'text format has no `/* */` comments; start each line of a comment with `#`',
    ],
    ['name: “x”', 'illegal-character 1:7 "“x”"', '`“x”` has typographic quotes; use straight ones', '"x"'],
    [
      'naïve: 1',
      'illegal-character 1:1 "naïve"',
      '`naïve` is not a word of text format: names have only letters, digits and _, other text needs quotes',
    ],
    [
      'name:\u00a0"x"',
      'illegal-character 1:6 "\u00a0"',
      'U+00A0 is not white space in text format; use ordinary spaces',
      ' ',
    ],
    // Brackets and separators.
    ['input {', 'unbalanced 1:7 "{"', '`{` is not closed; `}` is missing before the end of the text'],
    ['input { dims: [1 }', 'unbalanced 1:15 "["', '`[` is not closed; `]` is missing before `}`'],
    ['input { dims: [1\nname: "x" }', 'unbalanced 1:15 "["', '`[` is not closed; `]` is missing before `name`'],
    ['input [ { name: "x" ]', 'unbalanced 1:9 "{"', '`{` is not closed; `}` is missing before `]`'],
    ['name: "x" }', 'unbalanced 1:11 "}"', '`}` closes nothing; remove it, or open its block'],
    ['name: "x",, platform: "y"', 'unexpected-separator 1:11 ","', '`,` follows no field; remove it'],
    ['input { dims: [1, 2,] }', 'unexpected-separator 1:20 ","', 'no comma stands before `]`; remove it'],
    ['input { dims: [1 2] }', 'missing-comma 1:16 "1"', 'a comma is missing after this value of the list, before `2`'],
    [
      'input { dims: [1; 2] }',
      'missing-comma 1:17 ";"',
      'the values of a list are separated by commas; replace `;` by `,`',
      ',',
    ],
    ['input { dims: [, 2] }', 'expected-value 1:16 ","', 'a value of the list is expected here, not `,`'],
  ])('%s', (text, expected, message, suggestion) => {
    const diagnostics = diagnose(text);
    expect(brief(text, diagnostics)).toEqual([expected]);
    const [only] = diagnostics;
    expect(only?.severity).toBe('error');
    expect(only?.message).toBe(message);
    expect(only?.suggestion).toBe(suggestion);
  });
});

describe('warnings leave the message standing', () => {
  it('a key that is repeated: the last one counts', () => {
    const text = 'metric_tags { key: "a" value: "1" }\nmetric_tags [{ key: "\\141" value: "2" }]';
    const { message, diagnostics } = parseMessage(modelConfig, text);
    expect(plain(modelConfig, message)).toEqual({ metricTags: { a: '2' } });
    expect(diagnostics.map(({ severity }) => severity)).toEqual(['warning']);
    expect(brief(text)).toEqual(['duplicate-map-key 2:21 "\\"\\\\141\\""']);
  });

  it('a name that the type reserves', () => {
    const { message, diagnostics } = parseMessage(modelConfig, 'old_field: 5 name: "x"');
    expect(plain(modelConfig, message)).toEqual({ name: 'x' });
    expect(diagnostics).toMatchObject([{ severity: 'warning', reason: 'reserved-field' }]);
  });
});

describe('all problems of a text are reported', () => {
  it('in order, each once, and none that is a mere consequence', () => {
    const text = [
      '// A model',
      'nam: "x"',
      'platform: pytorch_libtorch',
      'max_batch_size: ${size}',
      'max_batch_size: 99999999999',
      'input [',
      '  { name: "a" data_type: FP32 dims: [1 2] },',
      '  { name: "b", dims: "3" }',
      ']',
      'dynamic_batching { preferred_batch_size: 4.0',
      'output { name: "c" datatype: TYPE_FP32 }',
      'instance_group { kind: GPU count = 1 }',
      'default_model_filename: "model.pt',
      'backend "pytorch"',
    ].join('\n');
    expect(brief(text)).toEqual([
      'slash-comment 1:1 "//"',
      'unknown-field 2:1 "nam"',
      'unquoted-string 3:11 "pytorch_libtorch"',
      'placeholder 4:17 "${size}"',
      'duplicate-field 5:1 "max_batch_size"',
      'out-of-range 5:17 "99999999999"',
      'unknown-enum-value 7:26 "FP32"',
      'missing-comma 7:38 "1"',
      'wrong-type 8:22 "\\"3\\""',
      'unbalanced 10:18 "{"',
      'wrong-type 10:42 "4.0"',
      'unknown-field 11:20 "datatype"',
      'unknown-enum-value 12:24 "GPU"',
      'missing-colon 12:34 "="',
      'unterminated-string 13:25 "\\"model.pt"',
      'missing-colon 14:1 "backend"',
    ]);
  });

  it('a bracket that was forgotten is seen by the field that stands too far left', () => {
    const text = 'dynamic_batching {\n  preserve_ordering: true\n\noutput { }\nname: 5\n}\n';
    expect(brief(text)).toEqual(['unbalanced 4:1 "output"', 'wrong-type 5:7 "5"']);
    const message = '`output` belongs to ModelConfig; the `{` of line 1 must be closed before it';
    expect(diagnose(text)[0]?.message).toBe(message);
  });

  it('JSON is told apart by its quoted names only', () => {
    expect(brief('"name": "x",\n"max_batch_size": 8')).toEqual([
      'expected-name 1:1 "\\"name\\""',
      'expected-name 2:1 "\\"max_batch_size\\""',
    ]);
  });

  it('up to a limit, and then says that there are more', () => {
    const text = 'x: 1\n'.repeat(20);
    const { diagnostics } = parseMessage(modelConfig, text, { maxDiagnostics: 3 });
    expect(diagnostics.map(({ reason }) => reason)).toEqual([
      'unknown-field',
      'unknown-field',
      'unknown-field',
      'too-many-problems',
    ]);
  });
});

describe('limits', () => {
  const nested = (depth: number) => `${'a { '.repeat(depth)}${'} '.repeat(depth)}`;

  it('a text with more bytes is not read, but still printed', () => {
    const { diagnostics, message } = parseMessage(modelConfig, 'name: "é"', { maxBytes: 9 });
    expect(message).toBeUndefined();
    expect(diagnostics).toMatchObject([{ reason: 'too-large' }]);
    expect(diagnostics[0]?.message).toBe('the text has 10 bytes, more than the limit of 9 (option maxBytes)');
    expect(parseMessage(modelConfig, 'name: "é"', { maxBytes: 10 }).diagnostics).toEqual([]);
  });

  it('blocks nested deeper are passed over with one diagnostic', () => {
    expect(parseSyntax(nested(3), { maxDepth: 3 }).diagnostics).toEqual([]);
    expect(parseSyntax(nested(9), { maxDepth: 3 }).diagnostics).toMatchObject([{ reason: 'too-deep' }]);
    expect(parseSyntax(nested(100)).diagnostics).toEqual([]);
    expect(parseSyntax(nested(101)).diagnostics).toMatchObject([{ reason: 'too-deep' }]);
    expect(parseSyntax(nested(100_000), { maxDepth: Number.POSITIVE_INFINITY }).diagnostics).toMatchObject([
      { reason: 'too-deep' },
    ]);
    expect(parseSyntax(`a: ${'['.repeat(100_000)}`).diagnostics.map(({ reason }) => reason)).toContain('too-deep');
  });
});

describe('parseMessageOrThrow', () => {
  it('gives the message of a good text', () => {
    expect(plain(modelConfig, parseMessageOrThrow(modelConfig, 'name: "x"'))).toEqual({ name: 'x' });
  });

  it('throws one error with every diagnostic, quoted with file, line, and carets', () => {
    const thrown = (() => {
      try {
        return parseMessageOrThrow(modelConfig, 'nam: "x"\nbackend: 5', { file: 'config.pbtxt' });
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(PbtxtError);
    expect(thrown).toMatchObject({ code: 'INVALID_ARG', reason: 'invalid-text', diagnostics: [{}, {}] });
    expect(String(thrown)).toBe(
      [
        'PbtxtError: config.pbtxt:1:1: error: ModelConfig has no field `nam`; did you mean `name`?',
        '  1 | nam: "x"',
        '    | ^~~',
        'config.pbtxt:2:10: error: `backend` takes a string in quotes; write `"5"`',
        '  2 | backend: 5',
        '    |          ^',
      ].join('\n'),
    );
  });
});
