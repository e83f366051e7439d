// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  format,
  type ParsedMessage,
  PbtxtError,
  parseMessage,
  parseSyntax,
  printMessage,
  printSyntax,
} from '../src/index.ts';
import { tokensOf } from '../src/tree.ts';
import { modelConfig, plain, SAMPLE } from './support/model-config.ts';

/** Pieces that valid and broken texts are made of, so that random ones reach deep into the parser. */
const PIECES = [
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
    '=',
    '.',
    '/',
    '"',
    "'",
    '#',
    '//',
    '/*',
    '*/',
    '\n',
    ' ',
    '\r\n',
  ],
  ...[
    'name',
    'input',
    'dims',
    'data_type',
    'parameters',
    'key',
    'value',
    'metric_tags',
    'version_policy',
    'all',
    'latest',
  ],
  ...[
    'TYPE_FP32',
    'true',
    'inf',
    '0',
    '08',
    '0x1F',
    '1.5e3',
    '-1',
    '99999999999999999999',
    '"a"',
    "'b'",
    '"\\x"',
    '"\\ud83d"',
  ],
  ...[
    '${x}',
    '$x',
    '{{ y }}',
    '[a.b]',
    '[x/y.Z]',
    '\u00a0',
    '\ufeff',
    'é',
    '😀',
    '\ud800',
    '\u0000',
    '"unclosed\n',
    '\\',
  ],
];

const soup = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => pieces.join(''));
const mutated = fc
  .array(fc.tuple(fc.nat(SAMPLE.length), fc.nat(12), fc.constantFrom('', ...PIECES)), { minLength: 1, maxLength: 6 })
  .map((edits) => {
    let text = SAMPLE;
    for (const [at, count, piece] of edits) text = text.slice(0, at) + piece + text.slice(at + count);
    return text;
  });
const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), soup, mutated);

const name = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('', '"', '\\', "'\n", '__proto__'),
);
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
const shape = fc.record({ shape: fc.array(int64, { maxLength: 3 }) });
const message = fc.record(
  {
    name,
    maxBatchSize: int32,
    versionPolicy: fc.oneof(
      fc.constant({ all: {} }),
      fc.record({ latest: fc.record({ numVersions: fc.nat() }) }),
      fc.record({ specific: fc.record({ versions: fc.array(int64, { maxLength: 3 }) }) }),
    ),
    input: fc.array(
      fc.record(
        {
          name,
          dataType: fc.constantFrom(0, 1, 11, 77),
          dims: fc.array(int64, { maxLength: 4 }),
          reshape: shape,
          optional: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 3 },
    ),
    dynamicBatching: fc.record(
      {
        preferredBatchSize: fc.array(int32, { maxLength: 3 }),
        maxQueueDelayMicroseconds: uint64,
        priorityQueuePolicy: fc.dictionary(uint64, shape, { maxKeys: 3 }),
      },
      { requiredKeys: [] },
    ),
    metricTags: fc.dictionary(name, name, { maxKeys: 4 }),
    parameters: fc.dictionary(name, fc.record({ stringValue: name }), { maxKeys: 4 }),
    modelMetrics: fc.record({
      buckets: fc.array(fc.double(), { maxLength: 4 }),
      seed: fc.uint8Array({ maxLength: 8 }),
      offset: int32,
    }),
  },
  { requiredKeys: [] },
);

function errorsOf({ diagnostics }: ParsedMessage): string[] {
  return diagnostics.filter(({ severity }) => severity === 'error').map((error) => error.message);
}

describe('for every message', () => {
  it('parsing what was printed gives it back', () => {
    fc.assert(
      fc.property(message, (object) => {
        const original = modelConfig.fromObject(object);
        const parsed = parseMessage(modelConfig, printMessage(modelConfig, original));
        expect(errorsOf(parsed)).toEqual([]);
        expect(plain(modelConfig, parsed.message)).toEqual(plain(modelConfig, modelConfig.toObject(original)));
      }),
      { seed: 20250101, numRuns: 60 },
    );
  });

  it('formatting what was printed keeps the message', () => {
    fc.assert(
      fc.property(message, fc.integer({ min: 10, max: 100 }), (object, width) => {
        const text = printMessage(modelConfig, modelConfig.fromObject(object));
        const formatted = format(text, { width });
        expect(plain(modelConfig, parseMessage(modelConfig, formatted).message)).toEqual(
          plain(modelConfig, parseMessage(modelConfig, text).message),
        );
        expect(format(formatted, { width })).toBe(formatted);
      }),
      { seed: 7, numRuns: 60 },
    );
  });
});

describe('for every text', () => {
  it('printing the tree gives the text back', () => {
    fc.assert(
      fc.property(anyText, (text) => printSyntax(parseSyntax(text).document) === text),
      { seed: 1, numRuns: 500 },
    );
  });

  it('parsing never throws, and says why there is no message', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const parsed = parseMessage(modelConfig, text);
        expect(parsed.message === undefined).toBe(errorsOf(parsed).length > 0);
        expect(parsed.diagnostics.filter(({ reason }) => reason === 'rejected')).toEqual([]);
      }),
      { seed: 2, numRuns: 500 },
    );
  });

  it('every diagnostic stands inside the text, at its line and column', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const { span } of parseMessage(modelConfig, text).diagnostics) {
          expect(span.start.offset).toBeGreaterThanOrEqual(0);
          expect(span.end.offset).toBeGreaterThanOrEqual(span.start.offset);
          expect(span.end.offset).toBeLessThanOrEqual(text.length);
          const lineStart = text.split('\n', span.start.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
          expect(span.start.offset).toBe(lineStart + span.start.column - 1);
        }
      }),
      { seed: 3, numRuns: 500 },
    );
  });

  it('formatting is idempotent, loses no comment, and keeps the message; or it refuses a broken text', () => {
    // Comments and line breaks between any two tokens, also where nobody would put them.
    const starts = tokensOf(parseSyntax(SAMPLE).document).map(({ start }) => start);
    const trivia = fc.constantFrom('\n', '\n\n\n', ' # c1\n', '\n  # c2\n', '\n# c3\n\n', '\t');
    const commented = fc
      .array(fc.tuple(fc.constantFrom(...starts), trivia), { maxLength: 8 })
      .map((edits) => edits.toSorted(([a], [b]) => b - a))
      .map((edits) => edits.reduce((text, [at, piece]) => text.slice(0, at) + piece + text.slice(at), SAMPLE));
    let kept = 0;
    fc.assert(
      fc.property(fc.oneof(commented, mutated), fc.constantFrom(20, 100), (text, width) => {
        if (parseSyntax(text).diagnostics.length > 0) {
          expect(() => format(text)).toThrow(PbtxtError);
          return;
        }
        kept++;
        const formatted = format(text, { width });
        expect(format(formatted, { width })).toBe(formatted);
        expect(commentsOf(formatted)).toEqual(commentsOf(text));
        const [before, after] = [parseMessage(modelConfig, text), parseMessage(modelConfig, formatted)];
        expect(plain(modelConfig, after.message)).toEqual(plain(modelConfig, before.message));
        expect(after.diagnostics.map(({ reason }) => reason)).toEqual(before.diagnostics.map(({ reason }) => reason));
      }),
      { seed: 4, numRuns: 500 },
    );
    expect(kept).toBeGreaterThan(150);
  });
});

function commentsOf(text: string): string[] {
  const comments: string[] = [];
  const tokens = parseSyntax(text).document;
  JSON.stringify(tokens, (key, value: unknown) => {
    if (key === 'leading' && typeof value === 'string') {
      comments.push(
        ...value.split('\n').flatMap((line) => (line.includes('#') ? [line.slice(line.indexOf('#')).trim()] : [])),
      );
    }
    return value;
  });
  return comments;
}
