import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALIGNMENT, hasHeader, type Slot, SlotAllocator, slotHeader } from '../../src/transport/slot-allocator.ts';

describe('SlotAllocator', () => {
  it('never gives the same bytes to two slots in use, and aligns each', () => {
    const step = fc.oneof(fc.nat(1000), fc.constant('free' as const));
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.nat())), (steps) => {
        const allocator = new SlotAllocator();
        const used: Slot[] = [];
        for (const [what, pick] of steps) {
          if (what === 'free') {
            const [slot] = used.splice(used.length === 0 ? 0 : pick % used.length, 1);
            if (slot !== undefined) allocator.free(slot);
          } else {
            const slot = allocator.allocate(what);
            expect(slot.offset % ALIGNMENT).toBe(0);
            expect(slot.bytes).toBeGreaterThanOrEqual(what + ALIGNMENT);
            for (const other of used) {
              expect(slot.offset + slot.bytes <= other.offset || other.offset + other.bytes <= slot.offset).toBe(true);
            }
            used.push(slot);
          }
        }
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it('takes the first gap that is large enough', () => {
    const allocator = new SlotAllocator();
    const [a, b, c] = [100, 100, 100].map((bytes) => allocator.allocate(bytes));
    if (a !== undefined) allocator.free(a);
    expect(allocator.allocate(300).offset).toBe((c?.offset ?? 0) + (c?.bytes ?? 0));
    expect(allocator.allocate(50).offset).toBe(0);
    expect(b?.offset).toBe(a?.bytes);
  });

  it('gives each slot another generation, which its header shows', () => {
    const allocator = new SlotAllocator();
    const generations = [1, 2, 3].map((bytes) => {
      const slot = allocator.allocate(bytes);
      allocator.free(slot);
      return slot.generation;
    });
    expect(new Set(generations).size).toBe(3);
    expect(hasHeader(slotHeader(7), 7)).toBe(true);
    expect(hasHeader(slotHeader(7), 8)).toBe(false);
    expect(hasHeader(Buffer.alloc(64), 0)).toBe(false);
    expect(hasHeader(Buffer.alloc(8), 0)).toBe(false);
  });
});
