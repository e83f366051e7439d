import { describe, expect, test } from 'vitest';
import { optionsFromFlags, parseFlags, UsageError } from '../src/index.ts';

function read(...argv: string[]) {
  const { options, warnings } = optionsFromFlags(parseFlags(['--model-repository=models', ...argv]));
  return { rateLimit: options.rateLimit, warnings };
}

describe('--rate-limit', () => {
  test.each([[[]], [['--rate-limit=off']]])('is off by default and when it is said: %j', (argv) => {
    expect(read(...argv)).toEqual({ rateLimit: undefined, warnings: [] });
  });

  test('without resources leaves their number to the demands', () => {
    expect(read('--rate-limit=execution_count')).toEqual({ rateLimit: {}, warnings: [] });
  });

  test('takes resources, for one device or each; of one name and device the last', () => {
    const argv = ['R1:3', 'R2:7:1', 'r1:4', 'R1:0:0'].map((resource) => `--rate-limit-resource=${resource}`);
    expect(read('--rate-limit=execution_count', ...argv).rateLimit).toEqual({
      resources: [
        { name: 'r1', count: 4, device: undefined },
        { name: 'R2', count: 7, device: 1 },
        { name: 'R1', count: 0, device: 0 },
      ],
    });
  });

  test('says that resources have no effect without it', () => {
    expect(read('--rate-limit-resource=R:1', '--rate-limit-resource=S:1')).toEqual({
      rateLimit: undefined,
      warnings: ['--rate-limit-resource has no effect without --rate-limit=execution_count'],
    });
  });

  test.each(['R', 'R:', ':1', 'R:x', 'R:-1', 'R:1.5', 'R:1:', 'R:1:gpu', 'R:1:0:0', 'R:2147483648', 'R:1:2147483648'])(
    'refuses the resource %s',
    (resource) => {
      const message = `option '--rate-limit-resource' takes name:count or name:count:device, numbers from 0 to 2147483647, got '${resource}'`;
      expect(() => read('--rate-limit=execution_count', '--rate-limit-resource', resource)).toThrow(
        new UsageError(message),
      );
      expect(() => read('--rate-limit-resource', resource)).toThrow(new UsageError(message));
    },
  );

  test('refuses another mode', () => {
    expect(() => read('--rate-limit=priority')).toThrow(
      new UsageError("option '--rate-limit' takes one of off, execution_count, got 'priority'"),
    );
  });
});
