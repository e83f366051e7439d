import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeFault, writeOrExplain } from '../src/output/write-file.ts';
import { onDisk } from './nereid.ts';

it('writes text and bytes', async () => {
  using directory = onDisk({});
  await writeOrExplain(join(directory.path, 'a'), 'text');
  await writeOrExplain(join(directory.path, 'b'), Uint8Array.of(1, 2));
  expect(readFileSync(join(directory.path, 'a'), 'utf8')).toBe('text');
  expect([...readFileSync(join(directory.path, 'b'))]).toEqual([1, 2]);
});

it.each([
  ['a directory', '.', 'it is a directory'],
  ['a place below a file', 'file/x', 'a part of the path is not a directory'],
  ['a place that does not exist', 'none/x', 'it does not exist'],
])('says why it cannot write to %s', async (_, name, why) => {
  using directory = onDisk({ file: '' });
  const path = join(directory.path, name);
  await expect(writeOrExplain(path, '')).rejects.toThrow(`cannot write '${path}': ${why}`);
});

it.each([
  ['EACCES', 'permission denied; choose another place'],
  ['EROFS', 'permission denied; choose another place'],
  ['ENOSPC', 'the disk is full'],
  ['EEXIST', 'a file of that name is in the way'],
])('has words for %s', (code, words) => {
  expect(writeFault(Object.assign(new Error(code), { code }))).toBe(words);
});
