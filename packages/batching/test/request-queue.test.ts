import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestQueue } from '../src/request-queue.ts';

class Entry {
  isGone = false;
  readonly id: number;
  constructor(id: number) {
    this.id = id;
  }
}

/** The first entries that a visit shows. */
function visited(queue: RequestQueue<Entry>, count: number): Entry[] {
  const seen: Entry[] = [];
  queue.visit((entry) => seen.push(entry) < count);
  return seen;
}

describe('RequestQueue', () => {
  it('gives entries back in order, without the gone ones, and counts those that wait', () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constant({ type: 'push' as const }) },
      { weight: 2, arbitrary: fc.constant({ type: 'shift' as const }) },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('leave' as const), which: fc.nat() }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const queue = new RequestQueue<Entry>(({ isGone }) => !isGone);
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
            entry.isGone = true;
            queue.noteGone();
          }
          expect(queue.size).toBe(waiting.length);
          expect(visited(queue, waiting.length + 1)).toEqual(waiting);
          expect(visited(queue, 2)).toEqual(waiting.slice(0, 2));
        }
        for (const entry of waiting) expect(queue.shift()).toBe(entry);
        expect(queue.shift()).toBeUndefined();
      }),
    );
  });

  it('keeps no memory of entries that left while nothing is taken out', () => {
    const queue = new RequestQueue<Entry>(({ isGone }) => !isGone);
    const first = new Entry(-1);
    queue.push(first);
    for (let id = 0; id < 10_000; id++) {
      const entry = new Entry(id);
      queue.push(entry);
      entry.isGone = true;
      queue.noteGone();
      expect(queue.held).toBeLessThan(2 * queue.size + 40);
    }
    expect(queue.size).toBe(1);
    expect(queue.shift()).toBe(first);
  });
});
