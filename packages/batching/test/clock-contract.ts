/** What every clock that runs by itself keeps to. */
import type { Clock } from '@nereid/core';
import { describe, expect, it } from 'vitest';

/** Microseconds by which a timer of the clock was late; negative when it was early. */
export function lateness(clock: Clock, delayMicros: number): Promise<number> {
  const deadline = clock.nowMicros() + delayMicros;
  return new Promise((resolve) => clock.at(deadline, () => resolve(clock.nowMicros() - deadline)));
}

export function clockContract(clock: Clock): void {
  describe('keeps to the contract of clocks', () => {
    it('never goes back', () => {
      let before = clock.nowMicros();
      for (let i = 0; i < 10_000; i++) {
        const now = clock.nowMicros();
        expect(now >= before).toBe(true);
        before = now;
      }
    });

    it.each([-1000, 0, 1, 300, 999, 1000, 2500, 3001, 5000, 12_345])('never fires early: %i µs', async (delay) => {
      expect(await lateness(clock, delay)).toBeGreaterThanOrEqual(0);
    });

    it('never fires from inside the call, even for a deadline that has passed', async () => {
      let isInside = true;
      const wasInside = new Promise<boolean>((resolve) => clock.at(clock.nowMicros() - 5000, () => resolve(isInside)));
      isInside = false;
      expect(await wasInside).toBe(false);
    });

    it('fires each timer once', async () => {
      const start = clock.nowMicros();
      const fired: number[] = [];
      for (const delay of [4000, 500, 8000, 2500]) clock.at(start + delay, () => fired.push(delay));
      await lateness(clock, 15_000);
      expect(fired.sort((a, b) => a - b)).toEqual([500, 2500, 4000, 8000]);
    });

    it.each([
      ['asleep', 8000, 0],
      ['about to fire', 1500, 0],
      ['between the coarse and the fine part of its wait', 8000, 7000],
    ])('forgets a timer that is cancelled while it is %s', async (_, delay, waited) => {
      let isFired = false;
      const timer = clock.at(clock.nowMicros() + delay, () => {
        isFired = true;
      });
      if (waited > 0) await lateness(clock, waited);
      // On a machine that stalls, the timer may have fired by now, and rightly so.
      const wasFired = isFired;
      timer.cancel();
      timer.cancel();
      await lateness(clock, 15_000);
      expect(isFired).toBe(wasFired);
    });

    it('takes deadlines of weeks from now, and those that never come', () => {
      for (const delay of [2 ** 31 * 2000, Number.POSITIVE_INFINITY]) {
        const timer = clock.at(clock.nowMicros() + delay, () => {
          throw new Error('fired weeks early');
        });
        timer.cancel();
      }
    });
  });
}
