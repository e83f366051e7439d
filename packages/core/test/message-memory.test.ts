import fc from 'fast-check';
import { expect, it } from 'vitest';
import { messageMemory } from '../src/index.ts';

it('memory for a message has its length, and what begins where the tensors do is aligned for every datatype', () => {
  fc.assert(
    fc.property(fc.nat(200_000), fc.nat(100_000), (byteLength, tensorsAt) => {
      const memory = messageMemory(Buffer.allocUnsafeSlow, byteLength, tensorsAt);
      expect([memory.length, (memory.byteOffset + tensorsAt) % 16]).toEqual([byteLength, 0]);
    }),
  );
});
