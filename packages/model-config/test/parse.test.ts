import { describe, expect, it } from 'vitest';
import {
  createModelConfig,
  formatConfigDiagnostic,
  hasErrors,
  modelConfigToJson,
  parseModelConfig,
  prepareModelConfig,
} from '../src/index.ts';

const summary = (text: string, format: 'pbtxt' | 'json' = 'pbtxt') =>
  parseModelConfig(text, { format }).diagnostics.map(({ reason, message, span }) => [
    reason,
    `${span?.start.line}:${span?.start.column}`,
    message,
  ]);

describe('parseModelConfig', () => {
  it('takes an empty text as an empty configuration', () => {
    for (const text of ['', '\ufeff', '# nothing\n']) {
      expect(parseModelConfig(text)).toMatchObject({ config: createModelConfig(), diagnostics: [] });
    }
    expect(parseModelConfig('{}', { format: 'json' })).toMatchObject({ config: createModelConfig(), diagnostics: [] });
  });

  it.each(['pbtxt', 'json'] as const)('refuses an unknown field in %s and names the nearest', (format) => {
    const text = format === 'json' ? '{\n "default_model_name": "x"\n}' : '\n default_model_name: "x"\n';
    const [[reason, place, message] = []] = summary(text, format);
    expect([reason, place]).toEqual(['unknown-field', '2:2']);
    expect(message).toContain('default_model_filename');
  });

  it('blocks appended to a file accumulate', () => {
    const { config } = parseModelConfig(`
      output [ { name: "a" } ] parameters { key: "A" value { string_value: "1" } } instance_group [ { count: 1 } ]
      output [ { name: "b" } ] parameters { key: "B" value { string_value: "2" } } instance_group [ { count: 2 } ]`);
    expect(config?.output.map(({ name }) => name)).toEqual(['a', 'b']);
    expect([...(config?.parameters.keys() ?? [])]).toEqual(['A', 'B']);
    expect(config?.instanceGroup.map(({ count }) => count)).toEqual([1, 2]);
  });

  it('keeps unsigned 64-bit values exactly, in text and in JSON', () => {
    const text =
      'dynamic_batching { priority_levels: 18446744073709551615 priority_queue_policy { key: 18446744073709551615 value { default_timeout_microseconds: 18446744073709551615 } } }';
    const { config = createModelConfig() } = parseModelConfig(text);
    expect(config.dynamicBatching?.priorityLevels).toBe(2n ** 64n - 1n);
    expect(config.dynamicBatching?.priorityQueuePolicy.get(2n ** 64n - 1n)?.defaultTimeoutMicroseconds).toBe(
      2n ** 64n - 1n,
    );
    const json = modelConfigToJson(config);
    expect(json).toContain('"priority_levels":18446744073709551615,');
    expect(json).toContain('"priority_queue_policy":{"18446744073709551615":{');
    expect(json).toContain('"default_timeout_microseconds":18446744073709551615,');
    expect(parseModelConfig(json, { format: 'json' }).config).toEqual(config);
  });

  it.each(['pbtxt', 'json'] as const)('refuses a dimension in %s that a number cannot hold', (format) => {
    const text =
      format === 'json' ? '{"input":[{"dims":[1,9007199254740993]}]}' : 'input [ { dims: [ 1, 9007199254740993 ] } ]';
    const { config, diagnostics } = parseModelConfig(text, { format });
    expect(config).toBeUndefined();
    expect(diagnostics).toMatchObject([
      { reason: 'unsupported-value', path: 'input[0].dims[1]', span: { start: { line: 1 } } },
    ]);
  });

  it('refuses an enum number without a name', () => {
    const { diagnostics } = parseModelConfig('input { data_type: 99 }');
    expect(hasErrors(diagnostics)).toBe(true);
    expect(diagnostics[0]?.message).toContain('99');
  });

  it.each(['pbtxt', 'json'] as const)(
    'locates values in %s, and what is missing at the thing that should hold it',
    (format) => {
      const texts = {
        pbtxt:
          'name: "m"\ninput [\n  { name: "x" },\n  { name: "y" dims: [ 1, 2 ] }\n]\nparameters { key: "a.b[\\"" value { string_value: "v" } }\n',
        json: '{"name": "m",\n"input": [\n  {"name": "x"},\n  {"name": "y", "dims": [1, 2]}\n],\n"parameters": {"a.b[\\"": {"string_value": "v"}}}\n',
      };
      const { locate } = parseModelConfig(texts[format], { format });
      const line = (path: string) => locate(path)?.start.line;
      expect([line('name'), line('input'), line('input[1].dims[1]'), line('input[1].dims')]).toEqual([1, 2, 4, 4]);
      expect([line('input[0].dims[0]'), line('input[0].reshape.shape[0]'), line('input[7].dims')]).toEqual([3, 3, 2]);
      expect([line('parameters["a.b[\\""]'), line('parameters["a.b[\\""].string_value')]).toEqual([6, 6]);
      expect([line('output[0]'), line(''), line('no such path!')]).toEqual([undefined, undefined, undefined]);
    },
  );
});

describe('parseModelConfig of JSON', () => {
  it('accepts both spellings of names, text for 64-bit integers, enum names in any case and numbers, and null for unset', () => {
    const json = `{"maxBatchSize": "4", "max_batch_size": null, "input": [{"name": "x", "dataType": "type_fp32", "dims": ["-1", 2.0, 1e1], "format": 2}],
      "dynamic_batching": {"max_queue_delay_microseconds": "100"}, "sequence_batching": null}`;
    const { config, diagnostics } = parseModelConfig(json, { format: 'json' });
    expect(diagnostics).toEqual([]);
    expect(config).toEqual(
      createModelConfig({
        maxBatchSize: 4,
        input: [{ name: 'x', dataType: 'TYPE_FP32', dims: [-1, 2, 10], format: 'FORMAT_NCHW' }],
        dynamicBatching: { maxQueueDelayMicroseconds: 100n },
      }),
    );
  });

  it.each([
    ['{"name": 1}', 'wrong-type', '1:10', 'expected text in double quotes, got the number 1'],
    ['{"name": ["a"]}', 'wrong-type', '1:10', 'got a list'],
    ['{"input": {}}', 'wrong-type', '1:11', "expected a list for 'input', got an object"],
    ['{"parameters": []}', 'wrong-type', '1:16', "expected an object for the map 'parameters'"],
    ['{"input": [null]}', 'wrong-type', '1:12', 'got null'],
    ['{"response_cache": {"enable": "true"}}', 'wrong-type', '1:31', 'expected true or false, got the text "true"'],
    ['{"max_batch_size": 1.5}', 'wrong-type', '1:20', 'expected an integer, got the number 1.5'],
    ['{"max_batch_size": 2147483648}', 'out-of-range', '1:20', 'expected -2147483648 to 2147483647'],
    ['{"dynamic_batching": {"priority_levels": -1}}', 'out-of-range', '1:42', 'expected 0 to 18446744073709551615'],
    [`{"max_batch_size": ${'9'.repeat(100_000)}}`, 'out-of-range', '1:20', 'out of range'],
    ['{"sequence_batching": {"direct": {"minimum_slot_utilization": 1e39}}}', 'out-of-range', '1:63', 'for a float'],
    [
      '{"sequence_batching": {"direct": {"minimum_slot_utilization": "half"}}}',
      'wrong-type',
      '1:63',
      'expected a number',
    ],
    ['{"input": [{"data_type": "TYPE_FLOAT32"}]}', 'unknown-enum-value', '1:26', 'TYPE_FP32'],
    ['{"input": [{"data_type": true}]}', 'wrong-type', '1:26', 'got true'],
    ['{"name": "a", "name": "b"}', 'duplicate-field', '1:15', "'name' is given twice"],
    ['{"max_batch_size": 1, "maxBatchSize": 1}', 'duplicate-field', '1:23', "'max_batch_size' is given twice"],
    ['{"dynamic_batching": {}, "ensemble_scheduling": {}}', 'oneof-conflict', '1:26', "excludes 'dynamic_batching'"],
    ['{"metric_tags": {"a": "1", "a": "2"}}', 'duplicate-field', '1:28', 'key "a" of \'metric_tags\' is given twice'],
    [
      '{"dynamic_batching": {"priority_queue_policy": {"-1": {}}}}',
      'wrong-type',
      '1:49',
      'must be an integer from 0 to 2^64-1',
    ],
    ['[]', 'wrong-type', '1:1', 'expected an object with the fields of ModelConfig, got a list'],
    ['', 'invalid-json', '1:1', 'the text ends where a value is expected'],
    ['{"name": "m",}', 'invalid-json', '1:14', 'expected a field name in double quotes'],
    ['{"name" "m"}', 'invalid-json', '1:9', "expected ':' after the field name"],
    ['{"name": "m"', 'invalid-json', '1:13', "expected ',' or '}'; the text ends here"],
    ['{"name": "m\n"}', 'invalid-json', '1:10', 'this string has no end'],
    ['{"max_batch_size": 012}', 'invalid-json', '1:20', "expected a value, got '012'"],
    ['{"name": yes}', 'invalid-json', '1:10', "expected a value, got 'yes'"],
    ['{} {}', 'invalid-json', '1:4', 'expected the end of the text'],
    ['['.repeat(101_000), 'invalid-json', '1:102', 'nested deeper than 100 levels'],
    [`{"name": "${'x'.repeat(4 * 1024 * 1024)}"}`, 'too-large', '1:1', 'longer than 4194304 bytes'],
  ])('refuses %.60s: %s', (text, reason, place, message) => {
    const found = summary(text, 'json');
    expect(found).toEqual([[reason, place, expect.stringContaining(message)]]);
    expect(parseModelConfig(text, { format: 'json' }).config).toBeUndefined();
  });

  it('reports every problem, up to a limit', () => {
    expect(summary('{"nam": 1, "platform": 2, "input": [{"dim": 3}]}', 'json').map(([reason]) => reason)).toEqual([
      'unknown-field',
      'wrong-type',
      'unknown-field',
    ]);
    const many = parseModelConfig(`{"input": [${'0,'.repeat(5000)}0]}`, { format: 'json' }).diagnostics;
    expect(many).toHaveLength(1001);
    expect(many.at(-1)).toMatchObject({ reason: 'too-many-problems' });
  });

  it('a key that is a name of every object is an ordinary key', () => {
    const { config } = parseModelConfig('{"metric_tags": {"__proto__": "1", "constructor": "2"}}', { format: 'json' });
    expect(config?.metricTags).toEqual(
      new Map([
        ['__proto__', '1'],
        ['constructor', '2'],
      ]),
    );
    expect(summary('{"__proto__": {}}', 'json').map(([reason]) => reason)).toEqual(['unknown-field']);
  });
});

describe('prepareModelConfig', () => {
  it('without a configuration file a TorchScript model lacks its outputs, after its backend was deduced', () => {
    const { config, diagnostics } = prepareModelConfig(undefined, {
      directoryName: 'm',
      files: [{ name: 'model.pt', isDirectory: false }],
    });
    expect(config).toBeUndefined();
    expect(diagnostics.map(({ message }) => message)).toEqual([
      expect.stringContaining(
        "model configuration must contain at least one output, none were specified for model 'm'",
      ),
    ]);
  });

  it('says once why there is no backend', () => {
    const { diagnostics } = prepareModelConfig('', { directoryName: 'foo', files: [] });
    expect(diagnostics.map(({ reason }) => reason)).toEqual(['backend-unknown']);
  });

  it('completes name, backend, policy, groups and pinned memory', () => {
    const text = 'platform: "libtorch" output [ { name: "y" data_type: TYPE_FP32 dims: [ 1 ] } ]';
    const { config, diagnostics } = prepareModelConfig(text, { directoryName: 'm', files: [] });
    expect(diagnostics).toEqual([]);
    expect(config).toMatchObject({
      name: 'm',
      backend: 'pytorch',
      platform: 'pytorch_libtorch',
      versionPolicy: { latest: { numVersions: 1 } },
      instanceGroup: [{ name: 'm', kind: 'KIND_CPU', count: 1 }],
      optimization: { inputPinnedMemory: { enable: true } },
    });
  });

  it('takes an override in JSON like a file', () => {
    const json =
      '{"backend": "pytorch", "max_batch_size": -1, "output": [{"name": "y", "data_type": "TYPE_FP32", "dims": [1]}]}';
    const { diagnostics } = prepareModelConfig(json, { directoryName: 'm', files: [], format: 'json' });
    expect(diagnostics).toMatchObject([
      { reason: 'negative-max-batch-size', span: { start: { line: 1, column: 42 } } },
    ]);
  });
});

describe('formatConfigDiagnostic', () => {
  const text = 'max_batch_size: -1\nbackend: "pytorch"\noutput [ { name: "y" data_type: TYPE_FP32 dims: [ 1 ] } ]\n';
  const [diagnostic = expect.fail()] = prepareModelConfig(text, { directoryName: 'm', files: [] }).diagnostics;

  it('shows the line where the text is known', () => {
    const lines = formatConfigDiagnostic(diagnostic, { text, file: 'config.pbtxt' }).split('\n');
    expect(lines[0]).toContain("config.pbtxt:1:17: error: 'max_batch_size' must be non-negative for m, got -1");
    expect(lines[1]).toContain('max_batch_size: -1');
    expect(lines[2]).toContain('^~');
  });

  it('is one line where it is not', () => {
    expect(formatConfigDiagnostic(diagnostic)).toMatch(/^error: 'max_batch_size' must be non-negative/);
    expect(formatConfigDiagnostic(diagnostic, { file: 'override' })).toMatch(/^override: error: /);
  });
});
