import type { Outcome } from '@nereid/native';
import { memoryInfo, releaseBuffers } from '@nereid/native';
import { expect, test } from 'vitest';
import { numbers, only, Session, shaped } from './support.ts';

const MEBIBYTE = 2 ** 20;
const COPY_LIMIT = 4096;

/** A batch whose result has as many bytes as its input. */
const filled = (size: number) => ({ buffers: [new Uint8Array(size)], rows: [1], shapes: [1, size / 4] });

test.each([
  { size: COPY_LIMIT, tensors: 0 },
  { size: COPY_LIMIT + 4, tensors: 1 },
])('a result of $size bytes is handed out as $tensors external tensors', async ({ size, tensors }) => {
  await using session = await Session.torchScript('double');
  const { outputs } = await session.run(filled(size));
  expect(memoryInfo()).toEqual({ externalBytes: tensors * size, externalTensors: tensors });
  releaseBuffers(outputs.map(({ data }) => data));
  expect(memoryInfo()).toEqual({ externalBytes: 0, externalTensors: 0 });
});

test('releaseBuffers empties the buffers and their views, and passes over those that are empty', async () => {
  await using session = await Session.torchScript('double');
  const { data } = only((await session.run(filled(MEBIBYTE))).outputs[0]);
  const view = new Uint8Array(data, 16);
  releaseBuffers([data]);
  expect([data.byteLength, view.byteLength]).toEqual([0, 0]);
  releaseBuffers([data]);
});

test('releaseBuffers refuses what is no ArrayBuffer', () => {
  expect(() => Reflect.apply(releaseBuffers, undefined, [[new Uint8Array(1)]])).toThrow(TypeError);
  expect(() => Reflect.apply(releaseBuffers, undefined, [undefined])).toThrow(TypeError);
});

test('released memory is back before the next turn of the loop', async () => {
  await using session = await Session.torchScript('double');
  const size = 256 * MEBIBYTE;
  const { outputs } = await session.run(filled(size));
  const before = process.memoryUsage.rss();
  releaseBuffers(outputs.map(({ data }) => data));
  expect(before - process.memoryUsage.rss()).toBeGreaterThan(0.9 * size);
});

test('an address may be used again at once', async () => {
  await using session = await Session.torchScript('double');
  for (let i = 0; i < 200; i++) {
    const { outputs } = await session.run({ ...filled(MEBIBYTE), buffers: [new Uint8Array(MEBIBYTE).fill(0)] });
    expect(numbers(outputs[0])[MEBIBYTE / 8]).toBe(0);
    releaseBuffers(outputs.map(({ data }) => data));
    expect(memoryInfo().externalTensors).toBe(0);
  }
});

test('the bytes of a batch that only the instance still knows are not collected', async () => {
  await using session = await Session.torchScript('slow');
  const runs: Promise<Outcome>[] = [];
  for (let i = 0; i < 20; i++) {
    const values = [1, ...Array.from({ length: 10_000 }, (_, at) => (at % 2 ? i : -i))];
    runs.push(session.run(shaped([values.length], values)));
    for (let garbage = 0; garbage < 200; garbage++) new Uint8Array(50_000).fill(255);
  }
  for (const [i, { outputs }] of (await Promise.all(runs)).entries()) {
    expect(new Set(numbers(outputs[0]).slice(1).map(Math.abs))).toEqual(new Set([i]));
    releaseBuffers(outputs.map(({ data }) => data));
  }
});

test('a result outlives its instance and its model', async () => {
  let data: ArrayBuffer;
  {
    await using session = await Session.torchScript('double');
    data = only((await session.run(filled(MEBIBYTE))).outputs[0]).data;
  }
  expect(new Uint8Array(data).every((byte) => byte === 0)).toBe(true);
  releaseBuffers([data]);
});

test('results that nobody releases are collected, because V8 counts their bytes', async () => {
  await using session = await Session.torchScript('double');
  const size = 16 * MEBIBYTE;
  const batch = filled(size);
  let most = 0;
  for (let i = 0; i < 100; i++) {
    await session.run(batch);
    most = Math.max(most, memoryInfo().externalBytes);
  }
  expect(most).toBeLessThan(50 * size);
});
