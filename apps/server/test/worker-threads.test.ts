import { describe, expect, it } from 'vitest';
import { WorkerThreads } from '../src/worker-threads.ts';

const moduleOf = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
const DOUBLE = moduleOf(`
  import { threadId } from 'node:worker_threads';
  export default ({ bytes }) => {
    const value = bytes.map((byte) => byte * 2);
    return { value: { threadId, value }, transfer: [value.buffer] };
  };
`);
const THROW = moduleOf(`export default () => { throw new RangeError('too far'); };`);
const EXIT = moduleOf(`export default () => process.exit(3);`);
const SLEEP = moduleOf(`
  export default ({ flag, at }) => {
    Atomics.wait(flag, at, 0);
    return { value: at, transfer: [] };
  };
`);

describe('worker threads', () => {
  it('run a job on another thread, and move its bytes there and back', async () => {
    const threads = new WorkerThreads();
    const bytes = Uint8Array.of(1, 2, 3);
    const answer = await threads.run({ module: DOUBLE, input: { bytes }, transfer: [bytes.buffer] });
    expect(answer).toEqual({ threadId: expect.any(Number), value: Uint8Array.of(2, 4, 6) });
    expect((answer as { threadId: number }).threadId).toBeGreaterThan(0);
    expect(bytes.byteLength).toBe(0);
    await threads.close();
  });

  it('reject with what a job throws, what cannot be cloned, and the end of a thread; the next job runs', async () => {
    const threads = new WorkerThreads({ maxThreads: 1 });
    const next = () => threads.run({ module: DOUBLE, input: { bytes: Uint8Array.of(1) } });
    await expect(threads.run({ module: THROW, input: {} })).rejects.toThrow('too far');
    await expect(next()).resolves.toMatchObject({ value: Uint8Array.of(2) });
    await expect(threads.run({ module: DOUBLE, input: { call() {} } })).rejects.toThrow('could not be cloned');
    await expect(next()).resolves.toMatchObject({ value: Uint8Array.of(2) });
    await expect(threads.run({ module: EXIT, input: {} })).rejects.toThrow('ended with code 3');
    await expect(next()).resolves.toMatchObject({ value: Uint8Array.of(2) });
    await expect(threads.run({ module: 'file:///nowhere.js', input: {} })).rejects.toThrow('nowhere.js');
    await threads.close();
  });

  it('run so many jobs at a time, the others after them in their order', async () => {
    const threads = new WorkerThreads({ maxThreads: 2 });
    const flag = new Int32Array(new SharedArrayBuffer(12));
    const done: unknown[] = [];
    const jobs = [0, 1, 2].map((at) =>
      threads.run({ module: SLEEP, input: { flag, at } }).then((value) => done.push(value)),
    );
    const release = (at: number) => {
      flag[at] = 1;
      Atomics.notify(flag, at);
    };
    release(2);
    release(1);
    await Promise.all(jobs.slice(1));
    expect(done).toEqual([1, 2]);
    release(0);
    await Promise.all(jobs);
    await threads.close();
  });

  it('reject jobs under way, those that wait and those that come, once they are closed', async () => {
    const threads = new WorkerThreads({ maxThreads: 1 });
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const run = () => threads.run({ module: SLEEP, input: { flag, at: 0 } });
    const ended = Promise.allSettled([run(), run()]);
    await threads.close();
    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(run()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
