import { describe, expect, it, vi } from 'vitest';
import { InferenceServerError } from '../src/index.ts';

class PartError extends InferenceServerError {
  override readonly name = 'PartError';
}

/** The module once more, as a second installed copy would load it. */
async function secondCopy(): Promise<typeof InferenceServerError> {
  vi.resetModules();
  const copy = await import('../src/index.ts');
  return copy.InferenceServerError;
}

describe('InferenceServerError', () => {
  it('carries code, message, name and cause', () => {
    const cause = new Error('disk');
    const error = new InferenceServerError('NOT_FOUND', 'no such model', { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'InferenceServerError', code: 'NOT_FOUND', message: 'no such model', cause });
    expect(String(error)).toBe('InferenceServerError: no such model');
  });

  it('is an instance across two installed copies, in both directions', async () => {
    const Copy = await secondCopy();
    expect(Copy).not.toBe(InferenceServerError);
    expect(new Copy('INTERNAL', 'x')).toBeInstanceOf(InferenceServerError);
    expect(new InferenceServerError('INTERNAL', 'x')).toBeInstanceOf(Copy);
    expect(new PartError('INTERNAL', 'x')).toBeInstanceOf(Copy);
  });

  it('tells subclasses apart', () => {
    expect(new PartError('INTERNAL', 'x')).toBeInstanceOf(PartError);
    expect(new PartError('INTERNAL', 'x')).toBeInstanceOf(InferenceServerError);
    expect(new InferenceServerError('INTERNAL', 'x')).not.toBeInstanceOf(PartError);
  });

  it.each([[null], [undefined], ['text'], [new Error('x')], [{ code: 'INTERNAL' }], [() => {}]])(
    '%s is none',
    (stranger) => {
      expect(stranger instanceof InferenceServerError).toBe(false);
    },
  );

  it('shows its brand to nobody', () => {
    expect(Object.keys(new InferenceServerError('INTERNAL', 'x')).sort()).toEqual(['code', 'name']);
  });
});

describe('InferenceServerError.from', () => {
  it('returns one of the family as it is, also one of another copy', async () => {
    const Copy = await secondCopy();
    for (const error of [new PartError('CANCELLED', 'x'), new Copy('CANCELLED', 'x')]) {
      expect(InferenceServerError.from(error)).toBe(error);
    }
  });

  it.each([
    [new TypeError('bad'), 'bad'],
    ['text', 'text'],
    [undefined, 'undefined'],
    [Object.create(null), '{}'],
    [{ status: 3 }, '{"status":3}'],
    [{ size: 3n }, '[object Object]'],
    [3n, '3'],
  ])('makes a stranger INTERNAL with itself as cause: %o', (thrown, message) => {
    expect(InferenceServerError.from(thrown)).toMatchObject({ code: 'INTERNAL', message, cause: thrown });
  });
});
