import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestQueue } from '../src/request-queue.ts';

class Entry {
  isCancelled = false;
  readonly id: number;
  constructor(id: number) {
    this.id = id;
  }
}

describe('RequestQueue', () => {
  it('gives entries back in order, without the cancelled ones, and counts those that wait', () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constant({ type: 'push' as const }) },
      { weight: 2, arbitrary: fc.constant({ type: 'shift' as const }) },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('cancel' as const), which: fc.nat() }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const queue = new RequestQueue<Entry>();
        const waiting: Entry[] = [];
        for (const [id, action] of steps.entries()) {
          if (action.type === 'push') {
            const entry = new Entry(id);
            queue.push(entry);
            waiting.push(entry);
          } else if (action.type === 'shift') {
            expect(queue.shift()).toBe(waiting.shift());
          } else {
            const [entry] = waiting.splice(action.which % Math.max(waiting.length, 1), 1);
            if (entry === undefined) continue;
            entry.isCancelled = true;
            queue.noteCancelled();
          }
          expect(queue.size).toBe(waiting.length);
        }
        for (const entry of waiting) expect(queue.shift()).toBe(entry);
        expect(queue.shift()).toBeUndefined();
      }),
    );
  });

  it('keeps no memory of entries that were cancelled while nothing is taken out', () => {
    const queue = new RequestQueue<Entry>();
    const first = new Entry(-1);
    queue.push(first);
    for (let id = 0; id < 10_000; id++) {
      const entry = new Entry(id);
      queue.push(entry);
      entry.isCancelled = true;
      queue.noteCancelled();
      expect(queue.held).toBeLessThan(2 * queue.size + 40);
    }
    expect(queue.size).toBe(1);
    expect(queue.shift()).toBe(first);
  });
});
