import { describe, expect, it } from 'vitest';
import { CallQueue, SchedulerError } from '../src/index.ts';

/** A function whose calls end when the test says so. */
function controlled() {
  const open: { readonly input: number; end(): void }[] = [];
  const inputs: number[] = [];
  const run = (input: number) =>
    new Promise<number>((resolve) => {
      inputs.push(input);
      open.push({ input, end: () => resolve(input * 2) });
    });
  const endAll = async () => {
    while (open.length > 0) {
      open.shift()?.end();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { run, inputs, open, endAll };
}

describe('CallQueue', () => {
  it('runs so many calls at a time, in order, and gives each its result', async () => {
    const { run, inputs, open, endAll } = controlled();
    const queue = new CallQueue({ run, concurrency: 2 });
    const results = [1, 2, 3, 4, 5].map((input) => queue.call(input));
    expect(inputs).toEqual([1, 2]);
    open.shift()?.end();
    expect(await results[0]).toBe(2);
    expect(inputs).toEqual([1, 2, 3]);
    await endAll();
    expect(await Promise.all(results)).toEqual([2, 4, 6, 8, 10]);
    expect(inputs).toEqual([1, 2, 3, 4, 5]);
  });

  it('runs as many at a time as it was told, however long they take', async () => {
    const { run, open, endAll } = controlled();
    const queue = new CallQueue({ run, concurrency: 5 });
    const results = Array.from({ length: 12 }, (_, input) => queue.call(input));
    expect(open).toHaveLength(5);
    await new Promise((resolve) => setTimeout(resolve, 5));
    open.shift()?.end();
    await results[0];
    expect(open).toHaveLength(5);
    await endAll();
    expect(await Promise.all(results)).toHaveLength(12);
  });

  it('rejects with what the function throws, and goes on', async () => {
    const failure = new Error('unreachable host');
    const queue = new CallQueue({
      run: async (input: string) => {
        if (input === 'bad') throw failure;
        return input.length;
      },
    });
    const results = await Promise.allSettled(['bad', 'good'].map((input) => queue.call(input)));
    expect(results).toEqual([
      { status: 'rejected', reason: failure },
      { status: 'fulfilled', value: 4 },
    ]);
  });

  it('refuses the call that is one too many', async () => {
    const { run, endAll } = controlled();
    const queue = new CallQueue({ run, maxQueueSize: 1, name: 'embed' });
    const taken = [queue.call(1), queue.call(2)];
    await expect(queue.call(3)).rejects.toThrow(
      "Exceeds maximum queue size: 1 requests already wait for model 'embed'",
    );
    await endAll();
    expect(await Promise.all(taken)).toEqual([2, 4]);
  });

  it('takes a waiting call out by its signal, and lets a running one complete', async () => {
    const { run, inputs, endAll } = controlled();
    const queue = new CallQueue({ run });
    const controller = new AbortController();
    const running = queue.call(1, { signal: controller.signal });
    const waiting = queue.call(2, { signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toThrow(SchedulerError);
    await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(queue.call(3, { signal: controller.signal })).rejects.toMatchObject({ code: 'CANCELLED' });
    await endAll();
    expect(await running).toBe(2);
    expect(inputs).toEqual([1]);
  });

  it('closes when the last call is done, and refuses calls from then on', async () => {
    const { run, endAll } = controlled();
    const queue = new CallQueue({ run });
    const results = [queue.call(1), queue.call(2)];
    const closed = queue.close();
    await expect(queue.call(3)).rejects.toMatchObject({ code: 'UNAVAILABLE', reason: 'stopping' });
    await endAll();
    await closed;
    expect(await Promise.all(results)).toEqual([2, 4]);
  });
});
