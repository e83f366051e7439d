import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { restartDelayMs } from '../../src/supervisor/backoff.ts';
import { FrameReader, frameHeader } from '../../src/supervisor/frames.ts';
import { LineSplitter } from '../../src/supervisor/line-splitter.ts';

const BACKOFF = { initialMs: 100, maxMs: 10_000, jitter: 0.3 };

describe('restartDelayMs', () => {
  it.each([
    [1, 0, 100],
    [1, 1, 70],
    [2, 0, 200],
    [4, 0.5, 680],
    [8, 0, 10_000],
    [10_000, 1, 7_000],
  ])('after %i failures with chance %d waits %d ms', (failures, random, expected) => {
    expect(restartDelayMs(BACKOFF, failures, random)).toBeCloseTo(expected);
  });
});

describe('FrameReader', () => {
  it('gives the same frames however the bytes are cut', () => {
    const frames = fc.array(fc.record({ type: fc.nat(99), payload: fc.uint8Array({ maxLength: 40 }) }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 1, max: 30 })), (sent, cuts) => {
        const bytes = Buffer.concat(sent.flatMap(({ type, payload }) => [frameHeader(type, payload.length), payload]));
        const reader = new FrameReader(40);
        const got = pieces(bytes, cuts).flatMap((piece) => reader.push(piece));
        expect(got.map(({ type, payload }) => ({ type, payload: new Uint8Array(payload) }))).toEqual(
          sent.map(({ type, payload }) => ({ type, payload: new Uint8Array(payload) })),
        );
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it('refuses a payload beyond its limit as soon as it is announced', () => {
    expect(() => new FrameReader(10).push(frameHeader(16, 11))).toThrow('a message of 11 bytes; at most 10 are taken');
  });
});

describe('LineSplitter', () => {
  it('gives the same lines however the bytes are cut', () => {
    const text = fc
      .array(fc.constantFrom('a', 'ü', '語', '\n', '\r\n', ' '), { maxLength: 30 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 1, max: 5 })), (sent, cuts) => {
        const splitter = new LineSplitter(100);
        const got = [...pieces(Buffer.from(sent), cuts).flatMap((piece) => splitter.push(piece)), ...splitter.end()];
        const lines = sent.split('\n').map((line) => line.replace(/\r$/, ''));
        expect(got).toEqual(sent.endsWith('\n') || sent === '' ? lines.slice(0, -1) : lines);
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it('cuts a line that is too long instead of keeping it', () => {
    const splitter = new LineSplitter(4);
    expect(splitter.push(Buffer.from('abcdefghij'))).toEqual(['abcd', 'efgh', 'ij']);
    expect(splitter.end()).toEqual([]);
  });
});

function pieces(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const result: Buffer[] = [];
  let start = 0;
  for (const size of sizes) {
    result.push(bytes.subarray(start, start + size));
    start += size;
  }
  return [...result, bytes.subarray(start)];
}
