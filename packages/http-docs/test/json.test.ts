import { describe, expect, it } from 'vitest';
import { jsonProblem, parseJson, valueText } from '../src/page/json.ts';

describe('JSON of the protocol', () => {
  it('has numbers that are bare words, and strings that look like them', () => {
    expect(parseJson('{"a":[NaN,-Infinity,Infinity,-Inf,1],"NaN":"NaN \\"Infinity\\""}')).toEqual({
      a: [Number.NaN, -Infinity, Infinity, -Infinity, 1],
      NaN: 'NaN "Infinity"',
    });
  });

  it('keeps digits of 64-bit integers where the engine tells the source of a number', () => {
    const [small, large] = parseJson('[1,9007199254740993]') as unknown[];
    // Node 20 does not tell it yet: the text is then that of the nearest double.
    expect([valueText(small), valueText(large)]).toEqual(['1', expect.stringMatching(/^900719925474099[23]$/)]);
  });

  it.each([
    ['[1, NaN]', 'array', undefined],
    ['{}', 'object', undefined],
    ['{}', 'array', 'expected a JSON array'],
    ['null', 'object', 'expected a JSON object'],
    ['[1,]', 'array', expect.stringMatching(/^is no JSON: /)],
    ['[Nan]', 'array', expect.stringMatching(/^is no JSON: /)],
  ] as const)('%s as an %s: %s', (text, kind, problem) => {
    expect(jsonProblem(text, kind)).toEqual(problem);
  });
});
