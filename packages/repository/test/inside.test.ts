import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveInside } from '../src/inside.ts';
import { dir, onDisk, type Tree } from './on-disk.ts';

const TREE: Tree = {
  'model/labels.txt': 'a\n',
  'model/sub': dir,
  'model/link-inside': { link: 'labels.txt' },
  'model/link-outside': { link: '../secret.txt' },
  'model/link-outside-missing': { link: '../not-there-yet.txt' },
  'model/loop': { link: 'loop' },
  'model-two/labels.txt': 'b\n',
  'secret.txt': 's',
  alias: { link: 'model' },
};

describe('resolveInside', () => {
  it.each([
    ['labels.txt', 'model/labels.txt'],
    ['sub/../labels.txt', 'model/labels.txt'],
    ['link-inside', 'model/labels.txt'],
    ['.', 'model'],
    ['sub/not/there/yet', 'model/sub/not/there/yet'],
    ['..labels', 'model/..labels'],
    ['../alias/labels.txt', 'model/labels.txt'],
  ])('takes %s', async (path, expected) => {
    using disk = onDisk(TREE);
    expect(await resolveInside(join(disk.path, 'model'), path)).toBe(join(realpathSync(disk.path), expected));
  });

  it.each([
    '..',
    '../secret.txt',
    'sub/../../secret.txt',
    '/etc/passwd',
    'link-outside',
    'link-outside-missing',
    '../model-two/labels.txt',
  ])('refuses %s, which escapes', async (path) => {
    using disk = onDisk(TREE);
    await expect(resolveInside(join(disk.path, 'model'), path)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      reason: 'escapes-directory',
      message: expect.stringContaining('escapes the directory'),
    });
  });

  it.each(['loop', 'a\0b', `${'x'.repeat(300)}`])('refuses %j, which cannot be resolved', async (path) => {
    using disk = onDisk(TREE);
    await expect(resolveInside(join(disk.path, 'model'), path)).rejects.toMatchObject({ reason: 'unreadable' });
  });

  it('refuses when the directory itself does not exist', async () => {
    using disk = onDisk({});
    await expect(resolveInside(join(disk.path, 'gone'), 'x')).rejects.toMatchObject({ reason: 'unreadable' });
  });

  it('takes everything inside the root directory', async () => {
    expect(await resolveInside('/', '/etc')).toBe(realpathSync('/etc'));
  });
});
