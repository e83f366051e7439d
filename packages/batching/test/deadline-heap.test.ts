import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DeadlineHeap } from '../src/deadline-heap.ts';

interface Entry {
  readonly deadlineMicros: number;
  readonly order: number;
  isGone: boolean;
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('push' as const), deadlineMicros: fc.nat({ max: 50 }) }) },
  { weight: 2, arbitrary: fc.constant({ type: 'pop' as const }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('leave' as const), which: fc.nat() }) },
);

it('gives the earliest of those that wait, the first comer of equals, and holds few that are gone', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const heap = new DeadlineHeap<Entry>(({ isGone }) => !isGone);
      const waiting: Entry[] = [];
      for (const [order, action] of steps.entries()) {
        if (action.type === 'push') {
          const entry = { deadlineMicros: action.deadlineMicros, order, isGone: false };
          heap.push(entry);
          waiting.push(entry);
          waiting.sort((a, b) => a.deadlineMicros - b.deadlineMicros || a.order - b.order);
        } else if (action.type === 'pop') expect(heap.pop()).toBe(waiting.shift());
        else {
          const [entry] = waiting.splice(action.which % Math.max(1, waiting.length), 1);
          if (entry === undefined) continue;
          entry.isGone = true;
          heap.noteGone();
        }
        expect(heap.peek()).toBe(waiting[0]);
        expect(heap.held).toBeLessThan(2 * waiting.length + 40);
      }
    }),
    { seed: 7, numRuns: 200 },
  );
});
