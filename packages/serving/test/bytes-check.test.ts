import { encodeBytes } from '@nereid/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesFault } from '../src/bytes-check.ts';

const words = (shape: number[], data: Uint8Array) => ({ name: 'w', datatype: 'BYTES', shape, data }) as const;

describe('bytesFault', () => {
  it('finds nothing in what encodeBytes makes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 20 }), (items) => {
        expect(bytesFault(words([items.length], encodeBytes(items)))).toBeUndefined();
      }),
      { seed: 11 },
    );
  });

  it('finds fault with every proper prefix', () => {
    const data = encodeBytes(['one', '', 'three']);
    for (let end = 0; end < data.byteLength; end++) {
      expect(bytesFault(words([3], data.subarray(0, end)))).toEqual(expect.any(String));
    }
  });

  it.each([
    ['too few elements', [3], encodeBytes(['a', 'b']), "expected 3 string elements for inference input 'w', got 2"],
    ['too many elements', [1], encodeBytes(['a', 'b']), "expected 1 string elements for inference input 'w', got more"],
    [
      'a length cut off',
      [1],
      Uint8Array.of(1, 0, 0),
      "incomplete string length indicator for inference input 'w', expecting 4 bytes, got 3",
    ],
    [
      'an element cut off',
      [1],
      Uint8Array.of(5, 0, 0, 0, 1),
      "incomplete string data for inference input 'w': element 0 has 5 bytes by its length, 1 are left",
    ],
    [
      'a length with the highest bit set',
      [1],
      Uint8Array.of(0, 0, 0, 128),
      "incomplete string data for inference input 'w': element 0 has 2147483648 bytes by its length, 0 are left",
    ],
  ])('says so of %s', (_, shape, data, message) => {
    expect(bytesFault(words(shape, data))).toBe(message);
  });

  it('takes no element for a shape with a 0', () => {
    expect(bytesFault(words([2, 0], new Uint8Array(0)))).toBeUndefined();
  });
});
