// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { fuzz, mutated } from '@nereid/testing/fuzz';
import fc from 'fast-check';
import { expect } from 'vitest';
import { format, PbtxtError, parseMessage, parseSyntax, printMessage, printSyntax } from '../src/index.ts';
import { modelConfig, plain, SAMPLE } from './support/model-config.ts';

const WORDS = [
  ...[
    '{',
    '}',
    '<',
    '>',
    '[',
    ']',
    ':',
    ',',
    ';',
    '-',
    '.',
    '/',
    '"',
    "'",
    '#',
    '\\',
    '\n',
    ' ',
    '\u0000',
    'é',
    '\ufeff',
  ],
  ...[
    'inf',
    'nan',
    'true',
    '08',
    '0x1F',
    '1.5e3',
    '-1',
    '9'.repeat(30),
    "'b'",
    '"\\x"',
    '"\\ud83d"',
    '"\\377"',
    '/*',
    '*/',
  ],
  ...['name', 'input', 'dims', 'data_type', 'parameters', 'key', 'value', 'TYPE_FP32', '{{ y }}', '${x}', '[x/y.Z]'],
  ...['input {', 'input [', 'a: <', 'instance_group [ { count: 1 } ]'],
];

fuzz(
  'pbtxt',
  fc.property(mutated(fc.constant(Buffer.from(SAMPLE)), { dictionary: WORDS, changes: 8 }), (bytes) => {
    const text = bytes.toString('utf8');
    expect(printSyntax(parseSyntax(text).document)).toBe(text);
    const { message, diagnostics } = parseMessage(modelConfig, text);
    expect(message === undefined).toBe(diagnostics.some(({ severity }) => severity === 'error'));
    if (message === undefined) return;
    const again = parseMessage(modelConfig, printMessage(modelConfig, message));
    expect(plain(modelConfig, again.message)).toEqual(plain(modelConfig, message));
    try {
      expect(plain(modelConfig, parseMessage(modelConfig, format(text)).message)).toEqual(plain(modelConfig, message));
    } catch (thrown) {
      if (!(thrown instanceof PbtxtError)) throw thrown;
    }
  }),
);
