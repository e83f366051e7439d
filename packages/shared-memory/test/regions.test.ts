import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ShmObject } from '@nereid/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SharedMemoryError, SharedMemoryRegions } from '../src/index.ts';

const EIGHT = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]);

function failureOf(run: () => unknown): SharedMemoryError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof SharedMemoryError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was thrown');
}

/** Whether this process has the file open. */
const isOpen = (path: string) =>
  readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(path);
    } catch {
      return false;
    }
  });

let object: ShmObject;
let regions: SharedMemoryRegions;
beforeEach(() => {
  object = new ShmObject(EIGHT);
  regions = new SharedMemoryRegions();
});
afterEach(() => {
  if (regions.isEnabled) regions.unregister();
  object[Symbol.dispose]();
});

const register = (more: object = {}) =>
  regions.register({ name: 'r', key: object.key, offset: 0, byteSize: 8, ...more });

describe('registering', () => {
  it('is told in the status, in the order it happened, until it is undone', () => {
    register();
    register({ name: 's', offset: 2, byteSize: 6 });
    const s = { name: 's', key: object.key, offset: 2, byteSize: 6 };
    expect(regions.status().map(({ name }) => name)).toEqual(['r', 's']);
    expect(regions.status('s')).toEqual([s]);
    regions.unregister('r');
    expect(regions.status()).toEqual([s]);
    regions.unregister();
    expect(regions.status()).toEqual([]);
    expect(isOpen(object.path)).toBe(false);
  });

  it('takes a key with and without the leading slash, as shm_open does', () => {
    register({ key: object.key.slice(1) });
    register({ name: 's', key: `/${object.key}` });
    expect(regions.status()).toHaveLength(2);
  });

  it.each([
    ['an empty name', { name: '' }, 'bad-region', 'needs a name'],
    ['no bytes', { byteSize: 0 }, 'bad-region', 'invalid args'],
    ['a negative offset', { offset: -1 }, 'bad-region', 'invalid args'],
    ['half a byte', { byteSize: 1.5 }, 'bad-region', 'invalid args'],
    ['more bytes than can be counted', { byteSize: 2 ** 64 }, 'bad-region', 'invalid args'],
    ['more bytes than the object has', { byteSize: 9 }, 'bad-region', 'invalid args, the object'],
    ['an end beyond the object', { offset: 1 }, 'bad-region', 'has 8 bytes, and 8 at offset 1 were named'],
    ['an object that does not exist', { key: '/nosuch-object' }, 'not-opened', 'Unable to open shared memory region'],
    ['an empty key', { key: '' }, 'bad-key', "with the key ''"],
    ['a key of slashes', { key: '//' }, 'bad-key', "with the key '//'"],
    ['a way up', { key: '/../etc/passwd' }, 'bad-key', 'one name'],
    ['the directory above', { key: '/..' }, 'bad-key', 'one name'],
    ['the directory', { key: '/.' }, 'bad-key', 'one name'],
    ['a zero byte', { key: '/a\0b' }, 'bad-key', 'one name'],
    ['a name that is too long', { key: `/${'x'.repeat(256)}` }, 'bad-key', 'longer than 255 bytes'],
    ["memory of Triton's Python models", { key: '/triton_python_backend_shm_region_1' }, 'bad-key', 'reserved'],
    ["memory of this server's models", { key: '//nereid-1-2' }, 'bad-key', 'reserved'],
  ])('refuses %s', (_, more, reason, text) => {
    const error = failureOf(() => register(more));
    expect([error.reason, error.message]).toEqual([reason, expect.stringContaining(text)]);
    expect(regions.status()).toEqual([]);
    expect(isOpen(object.path)).toBe(false);
  });

  it.each([
    ['a link to a file', (path: string) => symlinkSync('/etc/hostname', path)],
    ['a directory', (path: string) => mkdirSync(path)],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ])('does not open %s', (_, make) => {
    const directory = mkdtempSync(join(tmpdir(), 'nereid-shm-'));
    regions = new SharedMemoryRegions({ directory });
    make(join(directory, 'x'));
    try {
      expect(failureOf(() => register({ key: '/x', byteSize: 1 })).reason).toBe('not-opened');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('refuses a name that is taken, and a region too many', () => {
    regions = new SharedMemoryRegions({ maxRegions: 1 });
    register();
    expect(failureOf(() => register({ byteSize: 4 })).message).toContain("region 'r' already in manager");
    expect(failureOf(() => register({ name: 's' })).reason).toBe('limit');
  });

  it('forgets what nobody registered without complaint', () => {
    expect(regions.unregister('nosuch')).toBeUndefined();
    expect(failureOf(() => regions.status('nosuch')).code).toBe('NOT_FOUND');
  });

  it('is refused where shared memory is off, and so is the undoing; the status is empty', () => {
    regions = new SharedMemoryRegions({ isEnabled: false });
    for (const run of [() => register(), () => regions.unregister(), () => regions.cuda.unregister()]) {
      expect(failureOf(run).message).toContain('Client shared memory is disabled');
    }
    expect(failureOf(() => regions.cuda.register('c')).code).toBe('UNSUPPORTED');
    expect(regions.status()).toEqual([]);
  });

  it('answers for CUDA memory as a server without GPUs', () => {
    expect(regions.cuda.status()).toEqual([]);
    expect(failureOf(() => regions.cuda.status('c')).message).toContain(
      "Unable to find cuda shared memory region: 'c'",
    );
    expect(failureOf(() => regions.cuda.register('c')).message).toContain('GPUs not supported');
    expect(regions.cuda.unregister()).toBeUndefined();
  });
});

describe('using a part', () => {
  it.each([
    ['an unknown region', { region: 'x' }, 'unknown-region', "Unable to find shared memory region: 'x'"],
    ['an offset beyond the end', { offset: 7 }, 'bad-part', 'Invalid offset for shared memory region'],
    ['a negative offset', { offset: -1 }, 'bad-part', 'Invalid offset for shared memory region'],
    ['an end beyond the end', { offset: 3, byteSize: 4 }, 'bad-part', 'Invalid offset + byte size'],
    ['a sum beyond all integers', { offset: 2, byteSize: 2 ** 64 }, 'bad-part', 'Invalid offset + byte size'],
    ['more than one tensor may have', { byteSize: 5 }, 'limit', 'more than the limit of 4'],
  ])('refuses %s', (_, more, reason, text) => {
    regions = new SharedMemoryRegions({ maxTensorBytes: 4 });
    register({ byteSize: 6 });
    const error = failureOf(() => regions.use({ region: 'r', offset: 0, byteSize: 6, ...more }));
    expect([error.reason, error.message]).toEqual([reason, expect.stringContaining(text)]);
  });

  it.each([
    ['at once', 65_536],
    ['beside the event loop', 0],
  ])('reads and writes at the place that region and part say, %s', async (_, syncBytes) => {
    regions = new SharedMemoryRegions({ syncBytes });
    register({ offset: 2, byteSize: 6 });
    const use = regions.use({ region: 'r', offset: 1, byteSize: 3 });
    const read = use.read();
    expect(read instanceof Promise).toBe(syncBytes === 0);
    expect(await read).toEqual(Buffer.from([4, 5, 6]));
    await use.write(Buffer.from([9, 9]));
    use.close();
    expect([...object.bytes]).toEqual([1, 2, 3, 9, 9, 6, 7, 8]);
  });

  it.each([
    ['at once', 65_536],
    ['beside the event loop', 0],
  ])('fails alone when the client shortens its object, %s, and does not lengthen it again', async (_, syncBytes) => {
    regions = new SharedMemoryRegions({ syncBytes });
    register();
    const [first, last] = [0, 4].map((offset) => regions.use({ region: 'r', offset, byteSize: 4 }));
    object.truncate(4);
    expect(failureOf(() => last?.read()).message).toContain('has become too short for 4 bytes at offset 4');
    expect(failureOf(() => last?.write(EIGHT.subarray(4))).reason).toBe('bad-part');
    expect(await first?.read()).toEqual(EIGHT.subarray(0, 4));
    expect(object.bytes).toHaveLength(4);
    first?.close();
    last?.close();
  });

  it('keeps a region that is unregistered meanwhile, and its name is free at once', async () => {
    register();
    const use = regions.use({ region: 'r', offset: 0, byteSize: 8 });
    regions.unregister('r');
    expect(regions.status()).toEqual([]);
    using other = new ShmObject(Buffer.from([9]));
    regions.register({ name: 'r', key: other.key, offset: 0, byteSize: 1 });
    expect(await use.read()).toEqual(EIGHT);
    expect(isOpen(object.path)).toBe(true);
    use.close();
    use.close();
    expect(isOpen(object.path)).toBe(false);
    expect(isOpen(other.path)).toBe(true);
  });

  it('lets a transfer end that its user no longer waits for', async () => {
    regions = new SharedMemoryRegions({ syncBytes: 0 });
    register();
    const use = regions.use({ region: 'r', offset: 0, byteSize: 8 });
    const read = use.read();
    use.close();
    regions.unregister();
    expect(isOpen(object.path)).toBe(true);
    expect(await read).toEqual(EIGHT);
    expect(isOpen(object.path)).toBe(false);
  });

  it('keeps what it reads when the client changes its memory afterwards', async () => {
    register();
    const read = await regions.use({ region: 'r', offset: 0, byteSize: 8 }).read();
    writeFileSync(object.path, Buffer.alloc(8));
    expect(read).toEqual(EIGHT);
  });
});
