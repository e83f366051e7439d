import type { Timer } from '@nereid/core';
import fc from 'fast-check';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Alarm, AlarmClock, SystemClock } from '../src/index.ts';
import { clockContract, lateness } from './clock-contract.ts';

/** An alarm on timers of the system clock, which notes what it is asked for. */
class PortableAlarm implements Alarm {
  readonly calls: ('set' | 'clear' | 'close')[] = [];
  readonly #clock = new SystemClock();
  readonly #onDue: () => void;
  #timer: Timer | undefined;

  constructor(onDue: () => void) {
    this.#onDue = onDue;
  }

  set(delayMicros: number): void {
    this.calls.push('set');
    this.#timer?.cancel();
    this.#timer = this.#clock.at(this.#clock.nowMicros() + delayMicros, this.#onDue);
  }

  clear(): void {
    this.calls.push('clear');
    this.#timer?.cancel();
  }

  close(): void {
    this.calls.push('close');
    this.#timer?.cancel();
  }
}

function open(): { clock: AlarmClock; calls: PortableAlarm['calls']; ring: () => void } {
  let ring = () => {};
  const calls: PortableAlarm['calls'] = [];
  const clock = new AlarmClock((onDue) => {
    ring = onDue;
    return Object.assign(new PortableAlarm(onDue), { calls });
  });
  onTestFinished(() => clock.close());
  return { clock, calls, ring: () => ring() };
}

const HOUR = 3.6e9;

afterEach(() => vi.restoreAllMocks());

describe('AlarmClock', () => {
  clockContract(new AlarmClock((onDue) => new PortableAlarm(onDue)));

  it('sets the alarm for an earlier deadline only, and clears it when the last timer is cancelled', () => {
    const { clock, calls } = open();
    const now = clock.nowMicros();
    const timers = [5, 7, 5, 3, 4].map((hours) => clock.at(now + hours * HOUR, () => {}));
    expect(calls).toEqual(['set', 'set']);
    for (const timer of timers.slice(1)) timer.cancel();
    expect(calls).toEqual(['set', 'set']);
    timers[0]?.cancel();
    expect(calls).toEqual(['set', 'set', 'clear']);
  });

  it('looks at the time when the alarm comes early, and sets it again', async () => {
    const { clock, calls, ring } = open();
    let isFired = false;
    clock.at(clock.nowMicros() + HOUR, () => {
      isFired = true;
    });
    ring();
    expect(isFired).toBe(false);
    expect(calls).toEqual(['set', 'set']);
  });

  it('fires in the order of deadlines, equal ones in that of arming, whatever was cancelled before or by another', () => {
    const actions = fc.array(fc.record({ delay: fc.nat({ max: 20 }), victim: fc.option(fc.nat({ max: 40 })) }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(actions, fc.array(fc.nat({ max: 40 })), (timers, cancelled) => {
        const { clock, ring } = open();
        const time = vi.spyOn(clock, 'nowMicros').mockReturnValue(0);
        const fired: number[] = [];
        const armed: Timer[] = timers.map(({ delay, victim }, i) =>
          clock.at(delay, () => {
            fired.push(i);
            if (victim !== null) armed[victim]?.cancel();
          }),
        );
        for (const i of cancelled) armed[i]?.cancel();
        for (const now of [3, 11, 20]) {
          time.mockReturnValue(now);
          ring();
        }
        expect(fired).toEqual(expectedOrder(timers, cancelled));
      }),
      { numRuns: 300 },
    );
  });

  it('fires ten thousand timers, none early', async () => {
    const { clock } = open();
    const early: number[] = [];
    const start = clock.nowMicros();
    let fired = 0;
    for (let i = 0; i < 10_000; i++) {
      const deadline = start + ((i * 7919) % 10_000);
      clock.at(deadline, () => {
        fired++;
        if (clock.nowMicros() < deadline) early.push(deadline);
      });
    }
    await lateness(clock, 20_000);
    expect({ fired, early }).toEqual({ fired: 10_000, early: [] });
  });

  it('keeps what callbacks arm for another turn, so that other work gets its turn too', async () => {
    const { clock } = open();
    let [fired, turns] = [0, 0];
    const otherWork = () => {
      turns++;
      if (fired < 10) setImmediate(otherWork);
    };
    await new Promise<void>((resolve) => {
      const again = () => {
        if (++fired === 10) resolve();
        else clock.at(0, again);
      };
      again();
      otherWork();
    });
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  it('fires the others when a callback throws', async () => {
    const { clock, ring } = open();
    const fired: string[] = [];
    clock.at(clock.nowMicros(), () => {
      throw new Error('broken callback');
    });
    clock.at(clock.nowMicros(), () => fired.push('same time'));
    clock.at(HOUR + clock.nowMicros(), () => fired.push('later'));
    expect(ring).toThrow('broken callback');
    expect(fired).toEqual([]);
    await lateness(clock, 0);
    expect(fired).toEqual(['same time']);
  });

  it('asks for the alarm as much earlier as nine in ten are late at most, and for no more than 150 us', () => {
    const delays: number[] = [];
    let ring = () => {};
    const clock = new AlarmClock((onDue) => {
      ring = onDue;
      return { set: (delay) => delays.push(delay), clear: () => {}, close: () => {} };
    });
    const time = vi.spyOn(clock, 'nowMicros').mockReturnValue(0);
    const fireLate = (lateMicros: number) => {
      clock.at(clock.nowMicros() + 1000, () => {});
      time.mockReturnValue(clock.nowMicros() + (delays.at(-1) ?? 0) + lateMicros);
      ring();
      time.mockReturnValue(Math.ceil(clock.nowMicros() / 1000) * 1000 + 1000);
      ring();
    };
    const leadMicros = () => 1000 - (delays.at(-1) ?? 0);
    const isBetween = (least: number, most: number) => {
      expect(leadMicros()).toBeGreaterThanOrEqual(least);
      expect(leadMicros()).toBeLessThanOrEqual(most);
    };
    for (let i = 0; i < 1000; i++) fireLate(30);
    isBetween(28, 34);
    // Uniform from 0 to 100, in an order that has no runs.
    for (let i = 0; i < 2000; i++) fireLate((i * 37) % 101);
    isBetween(75, 105);
    for (let i = 0; i < 1000; i++) fireLate(i % 20 === 0 ? 100 : 10);
    isBetween(8, 20);
    for (let i = 0; i < 1000; i++) fireLate(2000);
    expect(leadMicros()).toBe(150);
    clock.close();
  });

  it('fires nothing after close', async () => {
    const { clock, calls } = open();
    let fired = 0;
    clock.at(clock.nowMicros() + 500, () => fired++);
    clock.close();
    clock.at(clock.nowMicros(), () => fired++).cancel();
    await lateness(new SystemClock(), 3000);
    expect({ fired, calls }).toEqual({ fired: 0, calls: ['set', 'close'] });
  });
});

/** By sorting: a timer fires unless it was cancelled first. */
function expectedOrder(
  timers: readonly { readonly delay: number; readonly victim: number | null }[],
  cancelled: readonly number[],
): readonly number[] {
  const gone = new Set(cancelled);
  const order = timers.map((_, i) => i).sort((a, b) => (timers[a]?.delay ?? 0) - (timers[b]?.delay ?? 0) || a - b);
  return order.filter((i) => {
    if (gone.has(i)) return false;
    const victim = timers[i]?.victim ?? null;
    if (victim !== null) gone.add(victim);
    return true;
  });
}
