import { fuzz, mutated } from '@nereid/testing/fuzz';
import fc from 'fast-check';
import { expect } from 'vitest';
import { hasErrors, modelConfigToJson, modelConfigToText, parseModelConfig } from '../src/index.ts';
import { arbitraryConfig } from './arbitrary-config.ts';

const WORDS = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    '\\',
    '\n',
    ' ',
    '\u0000',
    'é',
    'null',
    'true',
    '1e400',
    '-1',
    '0.5',
    '"NaN"',
    '-0',
  ],
  ...[
    '9'.repeat(30),
    '"18446744073709551616"',
    '"__proto__"',
    '"name"',
    '"maxBatchSize"',
    '"max_batch_size"',
    '"dims"',
  ],
  ...['TYPE_FP32', 'KIND_CPU', '[[', '{"a":', '"input":[', 'dims: [', 'parameters { key: "a" }'],
];

fuzz(
  'model-config',
  fc.property(
    arbitraryConfig.chain((config) =>
      fc.constantFrom('pbtxt' as const, 'json' as const).chain((format) =>
        mutated(fc.constant(Buffer.from(format === 'json' ? modelConfigToJson(config) : modelConfigToText(config))), {
          dictionary: WORDS,
        }).map((bytes) => ({ format, text: bytes.toString('utf8') })),
      ),
    ),
    ({ format, text }) => {
      const { config, diagnostics } = parseModelConfig(text, { format });
      expect(config === undefined).toBe(hasErrors(diagnostics));
      if (config === undefined) return;
      expect(parseModelConfig(modelConfigToJson(config), { format: 'json' }).config).toEqual(config);
      expect(parseModelConfig(modelConfigToText(config)).config).toEqual(config);
    },
  ),
);
