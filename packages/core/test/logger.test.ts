import { expect, it } from 'vitest';
import { silentLogger } from '../src/index.ts';

it('the silent logger takes every level and returns nothing', () => {
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    expect(silentLogger[level]({ model: 'mlp' }, 'loaded')).toBeUndefined();
  }
});
