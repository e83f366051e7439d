import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Alarm } from '@nereid/native';
import { openAlarm } from '@nereid/native';
import { expect, onTestFinished, test } from 'vitest';

const LOADER = new URL('../loader.js', import.meta.url).href;
const HOUR = 3.6e9;
const now = () => performance.now() * 1000;

/** An alarm, and the next time it is due. */
function open(): Alarm & { readonly due: () => Promise<void>; readonly rings: () => number } {
  let rings = 0;
  let listener = () => {};
  const alarm = openAlarm(() => {
    rings++;
    listener();
  });
  onTestFinished(() => alarm.close());
  return {
    ...alarm,
    rings: () => rings,
    due: () =>
      new Promise((resolve) => {
        listener = resolve;
      }),
  };
}

test.each([-1000, 0, 1, 250, 999.5, 3000, 12_345])('is never early: %f µs', async (delay) => {
  const alarm = open();
  for (let i = 0; i < 5; i++) {
    const start = now();
    alarm.set(delay);
    await alarm.due();
    expect(now() - start).toBeGreaterThanOrEqual(delay);
  }
  expect(alarm.rings()).toBe(5);
});

test('does not ring from inside the call', async () => {
  const alarm = open();
  alarm.set(0);
  expect(alarm.rings()).toBe(0);
  await alarm.due();
});

test('an earlier deadline takes the place of a later one, and the other way round', async () => {
  const alarm = open();
  alarm.set(Number.POSITIVE_INFINITY);
  alarm.set(HOUR);
  alarm.set(100);
  await alarm.due();
  const start = now();
  alarm.set(5000);
  alarm.set(9000);
  // A machine that stalls may let the first come.
  while (now() - start < 9000) await alarm.due();
});

test('a deadline that was taken back does not come', async () => {
  const [alarm, other] = [open(), open()];
  alarm.set(20_000);
  alarm.clear();
  other.set(30_000);
  await other.due();
  expect(alarm.rings()).toBe(0);
});

test('is set again from its own callback', async () => {
  let rings = 0;
  await new Promise<void>((resolve) => {
    const alarm = openAlarm(() => {
      if (++rings < 200) return alarm.set(1);
      alarm.close();
      resolve();
    });
    alarm.set(1);
  });
  expect(rings).toBe(200);
});

test('many alarms keep their own deadlines', async () => {
  const order: number[] = [];
  const start = now();
  await Promise.all(
    [50_000, 20_000, 80_000, 35_000].map(async (delay) => {
      const alarm = open();
      alarm.set(delay);
      await alarm.due();
      expect(now() - start).toBeGreaterThanOrEqual(delay);
      order.push(delay);
    }),
  );
  expect(order.sort((a, b) => a - b)).toEqual([20_000, 35_000, 50_000, 80_000]);
});

test('closed it refuses deadlines; closing and clearing again does nothing', () => {
  const alarm = open();
  alarm.set(HOUR);
  alarm.close();
  alarm.close();
  alarm.clear();
  expect(() => alarm.set(1)).toThrow(expect.objectContaining({ code: 'UNAVAILABLE', message: 'the alarm is closed' }));
});

test.each([undefined, 'soon', Number.NaN, 5n])('refuses %s as a delay', (delay) => {
  // @ts-expect-error on purpose
  expect(() => open().set(delay)).toThrow(new TypeError('delayMicros must be a number'));
});

test('refuses a callback that is none', () => {
  // @ts-expect-error on purpose
  expect(() => openAlarm('ring')).toThrow(new TypeError('onDue must be a function'));
});

test.each([
  ['was never set', ''],
  ['was cleared', `alarm.set(${HOUR}); alarm.clear();`],
  ['was closed', `alarm.set(${HOUR}); alarm.close();`],
  ['has rung', `alarm.set(10);`],
  ['is unreachable', `alarm.set(10); alarm = undefined; globalThis.gc();`],
])('a process ends by itself when its alarm %s', async (_, body) => {
  const program = `import { openAlarm } from ${JSON.stringify(LOADER)};
    let alarm = openAlarm(() => console.log('rang')); ${body}`;
  const { stdout } = await run(program);
  expect(stdout).toBe(body.includes('set(10)') ? 'rang\n' : '');
});

test('a process whose callback throws ends with that exception', async () => {
  const program = `import { openAlarm } from ${JSON.stringify(LOADER)};
    openAlarm(() => { throw new Error('broken callback') }).set(10);`;
  await expect(run(program)).rejects.toThrow('broken callback');
});

function run(program: string): Promise<{ readonly stdout: string }> {
  return promisify(execFile)(process.execPath, ['--expose-gc', '--input-type=module', '--eval', program]);
}

test.each([
  ['never rang', `alarm.set(${HOUR})`],
  ['rings without end', 'alarm.set(0)'],
  ['was closed', 'alarm.close()'],
])('a worker is terminated whose alarm %s, ten times', async (_, body) => {
  const program = `import { parentPort } from 'node:worker_threads';
    import { openAlarm } from ${JSON.stringify(LOADER)};
    const alarm = openAlarm(() => alarm.set(0));
    ${body};
    parentPort.postMessage('armed');
    setInterval(() => {}, 1000);`;
  for (let i = 0; i < 10; i++) {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`));
    await once(worker, 'message');
    expect(await worker.terminate()).toBe(1);
  }
});

test('a worker ends by itself once its alarm has rung', async () => {
  const program = `import { openAlarm } from ${JSON.stringify(LOADER)};
    import { parentPort } from 'node:worker_threads';
    openAlarm(() => parentPort.postMessage('rang')).set(500);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`));
  expect(await Promise.all([once(worker, 'message'), once(worker, 'exit')])).toEqual([['rang'], [0]]);
});
