import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { PbtxtError, parseMessage, printMessage } from '../src/index.ts';
import { modelConfig, typeOf } from './support/model-config.ts';

describe('printMessage', () => {
  it('prints fields by number, by their names in the .proto file', () => {
    const message = {
      maxBatchSize: 8,
      name: 'm',
      input: [{ dims: [1, -1], dataType: 11 }],
      metricTags: { b: '2', a: '"' },
    };
    expect(printMessage(modelConfig, message)).toBe(`name: "m"
max_batch_size: 8
input {
  data_type: TYPE_FP32
  dims: 1
  dims: -1
}
metric_tags {
  key: "a"
  value: "\\""
}
metric_tags {
  key: "b"
  value: "2"
}
`);
  });

  it('prints nothing for a message without fields', () => {
    expect(printMessage(modelConfig, modelConfig.create())).toBe('');
  });

  it('restores names that protobufjs cannot, at every depth', () => {
    const type = typeOf(
      `syntax = "proto3";
       message M { int32 is_v2_model = 1; M nested = 2; map<string, M> by_v2 = 3; repeated M Upper = 4; }`,
      'M',
    );
    const inner = { isV2Model: 2 };
    const message = { isV2Model: 1, nested: inner, byV2: { is_v2_model: inner }, Upper: [inner] };
    const text = printMessage(type, message);
    expect(text.match(/^ *\w+/gm)?.map((name) => name.trim())).toEqual([
      'is_v2_model',
      'nested',
      'is_v2_model',
      'by_v2',
      'key',
      'value',
      'is_v2_model',
      'Upper',
      'is_v2_model',
    ]);
    expect(type.toObject(type.fromObject(parseMessage(type, text).message ?? {}))).toEqual(message);
  });

  it('reads back what any type prints, whichever way its names were made', () => {
    const proto =
      'syntax = "proto3"; message M { int32 snake_case = 1; int32 camelCase = 2; int32 Pascal = 3; int32 v2_x = 4; }';
    for (const options of [{ keepCase: true }, { keepCase: false }]) {
      const parsed = protobuf.parse(proto, options).root.lookupType('M');
      const type = protobuf.Root.fromJSON(parsed.root.toJSON()).lookupType('M');
      const message = Object.fromEntries(type.fieldsArray.map(({ name, id }) => [name, id]));
      const text = printMessage(type, message);
      expect(text).toBe('snake_case: 1\ncamelCase: 2\nPascal: 3\nv2_x: 4\n');
      expect(parseMessage(type, text).message).toEqual(message);
    }
  });

  it('throws its own error for a message that does not fit', () => {
    let nested: object = {};
    for (let depth = 0; depth < 200; depth++) nested = { nested };
    const type = typeOf('syntax = "proto3"; message M { M nested = 1; }', 'M');
    expect(() => printMessage(type, nested)).toThrow(PbtxtError);
    expect(() => printMessage(type, nested)).toThrow('the message does not fit M: max depth exceeded');
  });
});
