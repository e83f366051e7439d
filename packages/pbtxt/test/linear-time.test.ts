// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { describe, expect, it } from 'vitest';
import { format, formatDiagnostic, parseMessage } from '../src/index.ts';
import { modelConfig } from './support/model-config.ts';

const KIB = 1024;

/** `piece` until the text has this many characters. */
function repeated(piece: string, size: number): string {
  return piece.repeat(Math.ceil(size / piece.length));
}

function elapsedMs(run: () => unknown): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

/** How many times as long the long run takes: of several runs in turns, the shortest, which others disturb least. */
function growth(run: (size: number) => unknown, { from, to }: { from: number; to: number }): number {
  const rounds = Array.from({ length: 4 }, () => [elapsedMs(() => run(from)), elapsedMs(() => run(to))] as const);
  return Math.min(...rounds.map(([, long]) => long)) / Math.min(...rounds.map(([short]) => short));
}

const INPUT = 'input {\n  name: "INPUT__0"  # first\n  data_type: TYPE_FP32\n  dims: [1, 3, 224, 224]\n}\n';

// A parser of quadratic time would need the square: 16 and 256 times as long.
describe('time grows with the length of the text, not with its square', { timeout: 60_000 }, () => {
  it('for a valid text: four times the text takes less than ten times as long', () => {
    const texts = new Map([250 * KIB, 1000 * KIB].map((size) => [size, repeated(INPUT, size)]));
    const parse = (size: number) => parseMessage(modelConfig, texts.get(size) ?? '');
    expect(growth(parse, { from: 250 * KIB, to: 1000 * KIB })).toBeLessThan(10);
    expect(parse(1000 * KIB).diagnostics).toEqual([]);
  });

  it('for formatting', () => {
    const run = (size: number) => format(repeated(INPUT, size));
    expect(growth(run, { from: 50 * KIB, to: 200 * KIB })).toBeLessThan(10);
  });

  it.each([
    ['openers', 'a{'],
    ['brackets', '['],
    ['closers', '}'],
    ['half a placeholder', '${'],
    ['half another placeholder', '{{ '],
    ['comments that are not closed', '/*'],
    ['quotes', '"'],
    ['escapes', '"\\'],
    ['minus signs', '-'],
    ['digits', '9'],
    ['letters', 'a'],
    ['letters of other scripts', 'é'],
    ['stray spaces', '\u00a0a'],
    ['unknown fields', 'nane: 1 '],
    ['unknown fields of an open block', 'input { name: "x"\nnamee: 1\nplatform: "x"\n'],
    ['map keys', 'metric_tags { key: "a" }'],
    ['adjacent strings', '"\\xc3" '],
    ['lists that are not closed', 'input { dims: [ 1 '],
    ['bracketed names', '[a.'],
  ])('for a text of nothing but %s: sixteen times the text takes less than a hundred times as long', (_what, piece) => {
    const run = (size: number) => {
      const text = `name: ${repeated(piece, size)}`;
      for (const diagnostic of parseMessage(modelConfig, text).diagnostics.slice(0, 20)) {
        formatDiagnostic(diagnostic, { text });
      }
    };
    expect(growth(run, { from: 4 * KIB, to: 64 * KIB })).toBeLessThan(100);
  });
});
