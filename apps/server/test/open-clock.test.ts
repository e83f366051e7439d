import { AlarmClock, SystemClock } from '@nereid/batching';
import { afterEach, expect, test, vi } from 'vitest';
import { openClock } from '../src/open-clock.ts';

afterEach(() => vi.doUnmock('@nereid/native'));

test('with the addon timers are on its alarm: never early, in the order of their deadlines', async () => {
  const { clock, close } = await openClock();
  expect(clock).toBeInstanceOf(AlarmClock);
  const [early, order]: [number[], number[]] = [[], []];
  const start = clock.nowMicros() + 5000;
  await new Promise<void>((resolve) => {
    for (let i = 0; i < 2000; i++) {
      const delay = (i * 7919) % 20_000;
      clock.at(start + delay, () => {
        order.push(delay);
        if (clock.nowMicros() < start + delay) early.push(delay);
        if (order.length === 2000) resolve();
      });
    }
  });
  close();
  expect(early).toEqual([]);
  expect(order).toEqual([...order].sort((a, b) => a - b));
});

test('a timer that is cancelled does not fire, whichever others do', async () => {
  const { clock, close } = await openClock();
  const start = clock.nowMicros() + 20_000;
  const fired: number[] = [];
  const timers = Array.from({ length: 100 }, (_, i) => clock.at(start + i * 50, () => fired.push(i)));
  for (const timer of timers) timer.cancel();
  await new Promise<void>((resolve) => clock.at(start + 10_000, resolve));
  close();
  expect(fired).toEqual([]);
});

test('without the addon timers are on the event loop', async () => {
  vi.doMock('@nereid/native', () => {
    throw new Error('not built');
  });
  const { clock, close } = await openClock();
  expect(clock).toBeInstanceOf(SystemClock);
  await new Promise<void>((resolve) => clock.at(clock.nowMicros() + 100, resolve));
  close();
});
