import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FileRegion } from '../../src/transport/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'nereid-region-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** A small limit, so that both ways of transferring are taken by small data. */
const region = () => new FileRegion({ directory, syncBytes: 100 });

function bytes(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => i % 251);
}

describe('FileRegion', () => {
  it.each([0, 1, 100, 101, 70_000])('gives back %i bytes that were written in pieces', async (length) => {
    const shared = region();
    shared.grow(100_000);
    const sent = bytes(length);
    const cut = Math.floor(length / 3);
    const written = shared.write(50, [sent.subarray(0, cut), new Uint8Array(0), sent.subarray(cut)]);
    expect(written instanceof Promise).toBe(length > 100);
    await written;
    const got = new Uint8Array(length);
    await shared.read(50, got);
    expect(got).toEqual(sent);
    shared.close();
  });

  it('writes more pieces than one system call takes', async () => {
    const shared = region();
    const pieces = Array.from({ length: 3000 }, (_, i) => Uint8Array.of(i % 251));
    await shared.write(0, pieces);
    const got = new Uint8Array(3000);
    await shared.read(0, got);
    expect(got).toEqual(bytes(3000));
    shared.close();
  });

  it('has no name in its directory, so that nothing is left however the process ends', () => {
    const shared = region();
    expect(readdirSync(directory)).toEqual([]);
    shared.close();
  });

  it('grows and keeps its content, and never shrinks', () => {
    const shared = region();
    shared.grow(10);
    shared.write(0, [Uint8Array.of(1, 2, 3)]);
    shared.grow(1000);
    shared.grow(5);
    expect(shared.sizeBytes).toBe(1000);
    const got = new Uint8Array(4);
    shared.read(0, got);
    expect([...got]).toEqual([1, 2, 3, 0]);
    shared.close();
  });

  it('refuses to read past its end', async () => {
    const shared = region();
    shared.grow(10);
    expect(() => shared.read(5, new Uint8Array(6))).toThrow('the shared memory ends before byte 10');
    await expect(shared.read(5, new Uint8Array(200))).rejects.toThrow('the shared memory ends before byte 10');
    shared.close();
  });

  it('finishes a transfer that was running when it was closed, and takes no more', async () => {
    const shared = region();
    shared.grow(2 ** 20);
    const sent = bytes(2 ** 20);
    const writing = shared.write(0, [sent]);
    const got = new Uint8Array(2 ** 20);
    const reading = writing?.then(() => got);
    shared.close();
    shared.close();
    await reading;
    expect(() => shared.write(0, [sent])).toThrow('the shared memory was closed');
    expect(() => shared.read(0, got)).toThrow('the shared memory was closed');
    expect(() => shared.grow(2 ** 21)).toThrow('the shared memory was closed');
  });

  it('says where there is no memory to be had', () => {
    expect(() => new FileRegion({ directory: '/no/such/directory' })).toThrow(
      /^no shared memory in \/no\/such\/directory: ENOENT.*Enlarge that file system, or name another directory\.$/,
    );
    const shared = region();
    expect(() => shared.grow(2 ** 60)).toThrow(/no shared memory in/);
    shared.close();
  });
});
