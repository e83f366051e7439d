import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LoopDelay } from '../src/loop-delay.ts';

function block(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

test('a turn that takes long is counted by its delay, and what was counted stays', async () => {
  const delay = new LoopDelay();
  await sleep(50);
  const before = delay.snapshot();
  block(300);
  await sleep(50);
  const after = delay.snapshot();
  delay.close();
  const upTo = ({ buckets }: typeof before, wanted: number) =>
    buckets.find(({ bound }) => bound === wanted)?.count ?? 0;
  const longer = (snapshot: typeof before) => snapshot.count - upTo(snapshot, 0.25);
  expect(before.count).toBeGreaterThan(0);
  expect(longer(after)).toBeGreaterThan(longer(before));
  expect(after.sum).toBeGreaterThan(before.sum + 0.25);
});

test('it does not keep the process alive, and ends', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const delay = new LoopDelay();
  expect(timers()).toBe(before);
  await sleep(50);
  delay.close();
  const { count } = delay.snapshot();
  await sleep(50);
  expect(delay.snapshot().count).toBe(count);
});
