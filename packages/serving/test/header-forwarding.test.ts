import { describe, expect, it } from 'vitest';
import { HeaderForwarding, withForwarded } from '../src/index.ts';

const HEADERS = ['Host', 'x', 'My-Id', '1', 'x-my-id', '2', 'Other.Name', '3', 'my-id', '4', 'my-id', '5'];

const forwarded = (pattern: string) => Object.fromEntries(new HeaderForwarding(pattern).parametersOf(HEADERS));

describe('HeaderForwarding', () => {
  it.each<[string, object]>([
    ['my-id', { 'My-Id': '1', 'x-my-id': '2', 'my-id': '4, 5' }],
    ['^MY', { 'My-Id': '1', 'my-id': '4, 5' }],
    ['(?-i)^my', { 'my-id': '4, 5' }],
    ['(?i)^MY', { 'My-Id': '1', 'my-id': '4, 5' }],
    ['^(host|other)', { Host: 'x', 'Other.Name': '3' }],
    ['other\\.name', { 'Other.Name': '3' }],
    ['^x\\-[a-z\\-]+$', { 'x-my-id': '2' }],
    ['(?P<first>m)y-', { 'My-Id': '1', 'x-my-id': '2', 'my-id': '4, 5' }],
    ['\\\\', {}],
    ['nothing', {}],
  ])('%s', (pattern, expected) => {
    expect(forwarded(pattern)).toEqual(expected);
    expect(forwarded(pattern)).toEqual(expected);
  });

  it.each(['(', '[', '*', '[[:alpha:]]', '(?s)x', '\\z', '\\Aabc', '\\pN'])('refuses the pattern %s', (pattern) => {
    expect(() => new HeaderForwarding(pattern)).toThrow(SyntaxError);
  });

  it.each(['sequence_id', 'priority', 'timeout', 'headers', 'binary_data_output', 'triton_x'])(
    'refuses to forward %s',
    (name) => {
      const forwarding = new HeaderForwarding('.*');
      const refusal = expect.objectContaining({
        code: 'INVALID_ARG',
        message: expect.stringContaining('is reserved for Triton usage'),
      });
      expect(() => forwarding.parametersOf([name, 'x'])).toThrow(refusal);
      expect(new HeaderForwarding('^x').parametersOf([name, 'x']).size).toBe(0);
    },
  );

  it('puts headers before parameters that the client made up', () => {
    const init = {
      id: 'r',
      parameters: new Map<string, string | number>([
        ['user', 'me'],
        ['n', 1],
      ]),
    };
    const { id, parameters } = withForwarded(init, new Map([['user', 'you']]));
    expect([id, Object.fromEntries(parameters)]).toEqual(['r', { user: 'you', n: 1 }]);
  });
});
