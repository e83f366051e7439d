import { expect, test } from 'vitest';
import { parseCpuTime, readCpuTime, utilization } from '../src/cpu-time.ts';

test.each([
  ['cpu  10 1 5 100 4 2 3 0 7 0\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 9\n', { busy: 21, total: 125 }],
  ['cpu  10 1 5 100\n', { busy: 16, total: 116 }],
  ['cpu0 10 1 5 100\n', undefined],
  ['cpu  a b c\n', undefined],
  ['', undefined],
])('%j of /proc/stat is read as %j', (text, time) => {
  expect(parseCpuTime(text)).toEqual(time);
});

test.each([
  [{ busy: 0, total: 0 }, { busy: 25, total: 100 }, 0.25],
  [{ busy: 10, total: 100 }, { busy: 10, total: 200 }, 0],
  [{ busy: 10, total: 100 }, { busy: 10, total: 100 }, 0],
  [{ busy: 10, total: 100 }, { busy: 5, total: 200 }, 0],
])('from %j to %j the CPUs were used by %d', (from, to, part) => {
  expect(utilization(from, to)).toBe(part);
});

test('a system without /proc/stat has no CPU time', async () => {
  expect(await readCpuTime('/nosuch/stat')).toBeUndefined();
});
