// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { describe, expect, it } from 'vitest';
import { parseMessage } from '../src/index.ts';
import { modelConfig, plain, SAMPLE, typeOf } from './support/model-config.ts';

function parse(text: string): unknown {
  const { message, diagnostics } = parseMessage(modelConfig, text);
  expect(diagnostics).toEqual([]);
  return plain(modelConfig, message);
}

const scalars = typeOf(
  `syntax = "proto3";
   message Scalars {
     double d = 1; float f = 2; int32 i = 3; int64 l = 4; uint32 u = 5; uint64 ul = 6; bool b = 7; string s = 8;
     bytes y = 9; sint32 si = 10; sfixed64 sf = 11; fixed64 fx = 12;
   }`,
  'Scalars',
);

function scalar(text: string): unknown {
  const { message, diagnostics } = parseMessage(scalars, text);
  expect(diagnostics).toEqual([]);
  const [value] = Object.values(scalars.toObject(scalars.fromObject(message ?? {}), { longs: String }));
  return value;
}

describe('a real configuration', () => {
  it('is read whole', () => {
    expect(parse(SAMPLE)).toMatchObject({
      name: 'detector',
      backend: 'pytorch',
      maxBatchSize: 16,
      input: [
        { name: 'INPUT__0', dataType: 'TYPE_FP32', dims: ['3', '224', '-1'], reshape: {} },
        { name: 'INPUT__1', dataType: 'TYPE_INT64', dims: ['1', '2'] },
      ],
      output: [{ name: 'OUTPUT__0' }, { name: 'OUTPUT__1' }],
      dynamicBatching: { maxQueueDelayMicroseconds: '18446744073709551615', preserveOrdering: true },
      versionPolicy: { all: {} },
      parameters: { INFERENCE_MODE: { stringValue: 'true' }, LABEL: { stringValue: 'a\tbc' } },
      metricTags: { team: 'vision' },
      modelMetrics: { buckets: [0.1, 1000, 'Infinity', 2.5], offset: -1, mask: 511 },
    });
  });
});

describe('fields and lists', () => {
  const two = { input: [{ name: 'a' }, { name: 'b' }] };
  it.each([
    ['white space alone separates fields', 'name: "x" platform: "y"', { name: 'x', platform: 'y' }],
    ['a comma may follow a field', 'name: "x", platform: "y",', { name: 'x', platform: 'y' }],
    ['a semicolon may follow a field', 'name: "x"; platform: "y";', { name: 'x', platform: 'y' }],
    ['no white space is needed after a string', 'name:"x"platform:"y"', { name: 'x', platform: 'y' }],
    ['a message needs no colon', 'version_policy { all {} }', { versionPolicy: { all: {} } }],
    ['a message may have a colon', 'version_policy: { all: {} }', { versionPolicy: { all: {} } }],
    ['a message may stand in < >', 'version_policy < all < > >', { versionPolicy: { all: {} } }],
    ['a list of messages needs no colon', 'input [ { name: "a" }, { name: "b" } ]', two],
    ['a list of messages may have a colon', 'input: [ { name: "a" }, < name: "b" > ]', two],
    ['a repeated field may be repeated', 'input { name: "a" } input { name: "b" }', two],
    ['lists and repetition mix, in order', 'input [ { name: "a" } ] input { name: "b" }', two],
    ['blocks elsewhere in the file append', 'input { name: "a" } name: "m" input { name: "b" }', { ...two, name: 'm' }],
    [
      'scalars mix as well',
      'input { dims: [1, 2] dims: 3 dims: [] dims: [4] }',
      { input: [{ dims: ['1', '2', '3', '4'] }] },
    ],
    ['an empty list adds nothing', 'input []', {}],
    ['map entries are messages', 'metric_tags { key: "a" value: "1" }', { metricTags: { a: '1' } }],
    [
      'map entries may be listed',
      'metric_tags [{ value: "1", key: "a" }, { key: "b" }]',
      { metricTags: { a: '1', b: '' } },
    ],
    ['a map entry may lack its key', 'metric_tags { value: "1" }', { metricTags: { '': '1' } }],
    ['maps append', 'metric_tags { key: "a" } metric_tags { key: "b" }', { metricTags: { a: '', b: '' } }],
    ['comments run to the end of the line', 'name: # {\n"x" # }', { name: 'x' }],
    ['a leading byte-order mark is skipped', '\ufeffname: "x"', { name: 'x' }],
    ['an empty text is an empty message', '', {}],
    ['a text of comments is an empty message', ' # nothing\n', {}],
    ['lines may end in CR LF', 'name: "x"\r\nplatform: "y"\r\n', { name: 'x', platform: 'y' }],
    ['enums by name', 'input { format: FORMAT_NCHW }', { input: [{ format: 'FORMAT_NCHW' }] }],
    ['enums by number', 'input { format: 2 }', { input: [{ format: 'FORMAT_NCHW' }] }],
    ['enum numbers without a name', 'input { format: 77 }', { input: [{ format: 77 }] }],
  ])('%s', (_rule, text, expected) => expect(parse(text)).toEqual(expected));
});

describe('scalars', () => {
  it.each<[string, unknown]>([
    ...['true', 'True', 't', '1', '0x1', '01'].map((text) => [`b: ${text}`, true] satisfies [string, unknown]),
    ...['false', 'False', 'f', '0', '00'].map((text) => [`b: ${text}`, false] satisfies [string, unknown]),
    ['i: 42', 42],
    ['i: -42', -42],
    ['i: - 42', -42],
    ['i: 0x1F', 31],
    ['i: -0X1f', -31],
    ['i: 017', 15],
    ['i: 2147483647', 2147483647],
    ['i: -2147483648', -2147483648],
    ['u: 4294967295', 4294967295],
    ['si: -1', -1],
    ['l: 9223372036854775807', '9223372036854775807'],
    ['l: -9223372036854775808', '-9223372036854775808'],
    ['sf: -1', '-1'],
    ['ul: 18446744073709551615', '18446744073709551615'],
    ['ul: 01777777777777777777777', '18446744073709551615'],
    ['fx: 0xFFFFFFFFFFFFFFFF', '18446744073709551615'],
    ['d: 1', 1],
    ['d: 1.', 1],
    ['d: .5', 0.5],
    ['d: 1.5e-3', 0.0015],
    ['d: 1e3', 1000],
    ['d: 1E+3', 1000],
    ['d: 1.5f', 1.5],
    ['f: 2F', 2],
    ['f: 1e2f', 100],
    ['d: inf', Number.POSITIVE_INFINITY],
    ['d: -inf', Number.NEGATIVE_INFINITY],
    ['d: Infinity', Number.POSITIVE_INFINITY],
    ['d: nan', Number.NaN],
    ['d: -nan', Number.NaN],
    ['d: -0', -0],
    ['d: 100000000000000000000000000000', 1e29],
  ])('%s', (text, expected) => expect(scalar(text)).toEqual(expected));
});

describe('strings', () => {
  it.each([
    ['double quotes', 's: "it\'s"', "it's"],
    ['single quotes', 's: \'say "x"\'', 'say "x"'],
    ['simple escapes', String.raw`s: "\a\b\f\n\r\t\v\?\\\'\""`, '\x07\b\f\n\r\t\v?\\\'"'],
    ['octal escapes of one to three digits', String.raw`s: "\0\12\1018"`, '\0\nA8'],
    ['hex escapes of one or two digits', String.raw`s: "\x9\x41\X42g"`, '\tABg'],
    ['bytes that together are UTF-8', String.raw`s: "\xc3\xa9\303\251"`, 'éé'],
    ['code points of four digits', String.raw`s: "\u00e9"`, 'é'],
    ['code points of eight digits', String.raw`s: "\U0001F600"`, '😀'],
    ['a surrogate pair in two escapes', String.raw`s: "a\ud83d\uDE00\\ud83d"`, 'a😀\\ud83d'],
    ['adjacent literals are one', 's: "a" \'b\'\n# between\n"c"', 'abc'],
    ['a character split over literals', String.raw`s: "\xc3" "\xa9"`, 'é'],
    ['characters beyond ASCII as they are', 's: "héllo 😀"', 'héllo 😀'],
    ['comments are no comments inside', 's: "# // /* ${x} {{ y }}"', '# // /* ${x} {{ y }}'],
    ['a byte-order mark inside is kept', 's: "\ufeffx"', '\ufeffx'],
  ])('%s', (_rule, text, expected) => expect(scalar(text)).toBe(expected));

  it('bytes need not be UTF-8', () => {
    expect(scalar(String.raw`y: "\xff\000é"`)).toEqual(Buffer.from([0xff, 0, 0xc3, 0xa9]));
  });
});

describe('where protobufjs alone would read differently', () => {
  it('finds a field by the name in its .proto file, which protobufjs cannot restore', () => {
    const type = typeOf('syntax = "proto3"; message M { int32 is_v2_model = 1; int32 b16 = 2; }', 'M');
    expect(parseMessage(type, 'is_v2_model: 1 b16: 2').message).toEqual({ isV2Model: 1, b16: 2 });
    expect(parseMessage(type, 'isV2_model: 1').message).toBeUndefined();
  });

  it('refuses the camelCase name of a field, as every other reader does', () => {
    const [diagnostic] = parseMessage(modelConfig, 'maxBatchSize: 4').diagnostics;
    expect(diagnostic).toMatchObject({ reason: 'unknown-field', suggestion: 'max_batch_size' });
  });

  it('accepts a field of a type that was made without a .proto file, in both spellings', () => {
    const type = typeOf('syntax = "proto3"; message M { int32 fooBar = 1; }', 'M');
    expect(parseMessage(type, 'fooBar: 1').message).toEqual({ fooBar: 1 });
    expect(parseMessage(type, 'foo_bar: 1').message).toEqual({ fooBar: 1 });
  });

  it('takes no property of JavaScript objects for an enum value', () => {
    const [diagnostic] = parseMessage(modelConfig, 'input { data_type: toString }').diagnostics;
    expect(diagnostic?.reason).toBe('unknown-enum-value');
  });

  it('keeps a map key named __proto__', () => {
    const { message } = parseMessage(modelConfig, 'metric_tags { key: "__proto__" value: "x" }');
    expect(JSON.stringify(message)).toBe('{"metricTags":{"__proto__":"x"}}');
  });
});

describe('proto2', () => {
  const proto2 = typeOf(
    `syntax = "proto2";
     package p;
     message M {
       enum Mode { OFF = 0; ON = 1; }
       required int32 needed = 1;
       optional Mode mode = 2;
       repeated group Item = 3 { optional int32 n = 4; }
       extensions 100 to 200;
     }
     extend M { optional int32 extra_field = 100; optional M nested = 101; }`,
    'p.M',
  );

  it('reads extensions and groups', () => {
    const { diagnostics, message } = parseMessage(
      proto2,
      'needed: 1 mode: ON [p.extra_field]: 5 Item { n: 1 } item { n: 2 } [p.nested] { needed: 2 }',
    );
    expect(diagnostics).toEqual([]);
    expect(message).toMatchObject({ item: [{ n: 1 }, { n: 2 }], '.p.extraField': 5 });
  });

  it('names a required field that is missing, and closed enums refuse other numbers', () => {
    const { diagnostics } = parseMessage(proto2, 'mode: 3 [p.extra_feild]: 1 [p.nested] { }');
    expect(diagnostics.map(({ reason }) => reason)).toEqual([
      'unknown-enum-value',
      'unknown-extension',
      'missing-required',
      'missing-required',
    ]);
    expect(diagnostics[1]?.suggestion).toBe('[p.extra_field]');
  });
});

describe('google.protobuf.Any', () => {
  const withAny = typeOf(
    `syntax = "proto3";
     package google.protobuf;
     message Any { string type_url = 1; bytes value = 2; }
     message Inner { int32 n = 1; }
     message Outer { Any any = 1; }`,
    'google.protobuf.Outer',
  );

  it('is read in its expanded form, and its content is checked', () => {
    const text = 'any { [type.googleapis.com/google.protobuf.Inner] { n: 5 } }';
    const { message } = parseMessage(withAny, text);
    expect(plain(withAny, message)).toEqual({
      any: { typeUrl: 'type.googleapis.com/google.protobuf.Inner', value: [8, 5] },
    });
    const wrong = parseMessage(withAny, 'any { [x.y/google.protobuf.Inner] { m: 5 } type_url: "" } ');
    expect(wrong.diagnostics.map(({ reason }) => reason)).toEqual(['unknown-field', 'duplicate-field']);
    expect(parseMessage(withAny, 'any { [x.y/no.Such] { } }').diagnostics[0]?.reason).toBe('unknown-type');
  });
});
