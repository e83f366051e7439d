import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readLimited } from '../src/read-limited.ts';
import { dir, onDisk } from './on-disk.ts';

describe('readLimited', () => {
  it('reads a file of exactly the limit', async () => {
    using disk = onDisk({ file: 'abcd' });
    expect(String(await readLimited(join(disk.path, 'file'), 4))).toBe('abcd');
  });

  it('refuses a file one byte above the limit and names both sizes', async () => {
    using disk = onDisk({ file: 'abcde' });
    await expect(readLimited(join(disk.path, 'file'), 4)).rejects.toMatchObject({
      reason: 'too-large',
      message: expect.stringMatching(/has 5 bytes or more; at most 4 are read/),
    });
  });

  it('reads files whose size reads as 0, within the limit', async () => {
    expect((await readLimited('/proc/self/status', 1 << 20)).byteLength).toBeGreaterThan(100);
    await expect(readLimited('/proc/self/status', 100)).rejects.toMatchObject({ reason: 'too-large' });
  });

  it.each([
    ['a missing file', 'gone', 'it does not exist'],
    ['a directory', 'folder', 'it is a directory'],
    ['a loop of links', 'loop', 'its symbolic links form a loop'],
    ['a path through a file', 'file/x', 'a part of the path is not a directory'],
    ['a device that never ends', 'zero', 'it is not a regular file'],
  ])('refuses %s', async (_, name, fault) => {
    using disk = onDisk({ file: '', folder: dir, loop: { link: 'loop' }, zero: { link: '/dev/zero' } });
    await expect(readLimited(join(disk.path, name), 100)).rejects.toMatchObject({
      reason: 'unreadable',
      message: expect.stringContaining(fault),
    });
  });

  it('does not wait for a writer on a pipe', async () => {
    using disk = onDisk({});
    const pipe = join(disk.path, 'pipe');
    execFileSync('/usr/bin/env', ['mkfifo', pipe]);
    await expect(readLimited(pipe, 100)).rejects.toMatchObject({ reason: 'unreadable' });
  });
});
