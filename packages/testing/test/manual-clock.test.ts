import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../src/index.ts';

describe('ManualClock', () => {
  it('stands still until it is moved', () => {
    const clock = new ManualClock(5);
    expect([clock.nowMicros(), clock.nowMicros()]).toEqual([5, 5]);
    clock.advance(2.5);
    expect(clock.nowMicros()).toBe(7.5);
  });

  it.each(['advance', 'block'] as const)('refuses to go back: %s', (move) => {
    expect(() => new ManualClock()[move](-1)).toThrow('a clock only moves forward; it was asked to move by -1 µs');
  });

  it('fires what falls due, in the order of deadlines, each at its own time', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 50 })), fc.array(fc.nat({ max: 30 })), (delays, moves) => {
        const clock = new ManualClock(100);
        const fired: { readonly index: number; readonly at: number }[] = [];
        for (const [index, delay] of delays.entries()) {
          clock.at(100 + delay, () => fired.push({ index, at: clock.nowMicros() }));
        }
        for (const move of moves) clock.advance(move);
        const passed = moves.reduce((sum, move) => sum + move, 0);
        const due = delays.map((delay, index) => ({ index, at: 100 + delay })).filter(({ at }) => at <= 100 + passed);
        const expected = moves.length === 0 ? [] : due.sort((a, b) => a.at - b.at || a.index - b.index);
        expect(fired).toEqual(expected);
        expect(clock.pending).toBe(delays.length - expected.length);
      }),
    );
  });

  it('never fires from inside the call that arms, even for a deadline that has passed', () => {
    const clock = new ManualClock(100);
    const fired: number[] = [];
    clock.at(50, () => fired.push(clock.nowMicros()));
    expect(fired).toEqual([]);
    clock.advance(0);
    expect(fired).toEqual([100]);
  });

  it('fires in the same move what a callback arms within it', () => {
    const clock = new ManualClock();
    const fired: number[] = [];
    const again = () => {
      fired.push(clock.nowMicros());
      clock.at(clock.nowMicros() + 10, again);
    };
    clock.at(10, again);
    clock.advance(35);
    expect(fired).toEqual([10, 20, 30]);
  });

  it('forgets a cancelled timer', () => {
    const clock = new ManualClock();
    const timer = clock.at(10, () => expect.unreachable());
    timer.cancel();
    timer.cancel();
    clock.advance(20);
    expect(clock.pending).toBe(0);
  });

  it('passes time without firing while it blocks', () => {
    const clock = new ManualClock();
    const fired: number[] = [];
    clock.at(10, () => fired.push(clock.nowMicros()));
    clock.block(50);
    expect([clock.nowMicros(), fired]).toEqual([50, []]);
    clock.advance(0);
    expect(fired).toEqual([50]);
  });

  it('lets promises run between timers when it elapses', async () => {
    const clock = new ManualClock();
    const seen: number[] = [];
    const sleep = (micros: number) => new Promise<void>((resolve) => clock.at(clock.nowMicros() + micros, resolve));
    const work = async () => {
      for (let i = 0; i < 3; i++) {
        await sleep(10);
        await Promise.resolve();
        seen.push(clock.nowMicros());
      }
    };
    const done = work();
    await clock.elapse(100);
    await done;
    expect(seen).toEqual([10, 20, 30]);
    expect(clock.nowMicros()).toBe(100);
  });
});
