import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ModelRepository, scanModelDirectory } from '../src/index.ts';
import { dir, onDisk, type Tree } from './on-disk.ts';

async function scanTree(tree: Tree, options: { configName?: string; maxConfigBytes?: number } = {}) {
  using disk = onDisk(tree);
  return await new ModelRepository({ paths: [disk.path], ...options }).scan();
}

async function scanOne(tree: Tree, options: { configName?: string; maxConfigBytes?: number } = {}) {
  const [model] = await scanTree(tree, options);
  if (model?.kind !== 'model') throw new Error('expected one model');
  return model;
}

describe('which directories are models', () => {
  it('takes every sub-directory, hidden ones and links included, ascending by name', async () => {
    using elsewhere = onDisk({ '1/model.pt': '' });
    const models = await scanTree({
      'b/1': dir,
      '.hidden/1': dir,
      linked: { link: elsewhere.path },
      'a/config.pbtxt': '',
      'README.md': 'a plain file',
    });
    expect(models.map((model) => model.name)).toEqual(['.hidden', 'a', 'b', 'linked']);
    expect(models[3]).toMatchObject({ versions: [{ version: '1' }] });
  });

  it('finds nothing in an empty repository', async () => {
    expect(await scanTree({})).toEqual([]);
  });

  it('reads several repositories in one order, whatever the order given, each once', async () => {
    using first = onDisk({ b: dir });
    using second = onDisk({ a: dir });
    const paths = [second.path, first.path, `${second.path}/`];
    const repository = new ModelRepository({ paths });
    expect(repository.paths).toEqual([first.path, second.path].sort());
    expect((await repository.scan()).map((model) => model.name)).toEqual(['a', 'b']);
  });

  it('keeps a name of two repositories as one duplicate that names both places', async () => {
    using first = onDisk({ 'm/1': dir, only: dir });
    using second = onDisk({ 'm/1': dir });
    const models = await new ModelRepository({ paths: [first.path, second.path] }).scan();
    expect(models).toMatchObject([
      {
        kind: 'duplicate',
        name: 'm',
        directories: [join(first.path, 'm'), join(second.path, 'm')].sort(),
        message: expect.stringContaining('model appears in two or more repositories'),
      },
      { kind: 'model', name: 'only' },
    ]);
  });
});

describe('versions', () => {
  it('are the numbered directories in numeric order', async () => {
    const model = await scanOne({ 'm/10': dir, 'm/9': dir, 'm/0': dir, 'm/model.py': '', 'm/labels.txt': '' });
    expect(model.versions.map((version) => version.version)).toEqual(['0', '9', '10']);
    expect(model.problems).toEqual([]);
  });

  it.each(['warmup', 'initial_state', 'configs'])('pass over %s silently', async (name) => {
    const model = await scanOne({ 'm/1': dir, [`m/${name}`]: dir });
    expect(model.problems).toEqual([]);
  });

  it.each([
    ['01', dir, 'its name has leading zeros'],
    ['abc', dir, 'its name is not a version number'],
    ['1abc', dir, 'its name is not a version number'],
    ['-3', dir, 'its name is not a version number'],
    ['9223372036854775808', dir, 'its name is greater than the greatest version'],
    ['2', 'a file', 'it is a file'],
  ])('leave out %s with a warning', async (name, content, fault) => {
    const model = await scanOne({ 'm/1': dir, [`m/${name}`]: content });
    expect(model.versions.map((version) => version.version)).toEqual(['1']);
    expect(model.problems).toMatchObject([
      { severity: 'warning', reason: 'ignored-version', message: expect.stringContaining(fault) },
    ]);
  });

  it('follow links, and a broken one keeps its number with the fault', async () => {
    const model = await scanOne({ 'm/1': dir, 'm/2': { link: '1' }, 'm/3': { link: 'gone' } });
    expect(model.versions).toMatchObject([
      { version: '1' },
      { version: '2' },
      { version: '3', fault: expect.stringContaining("it is a broken link to 'gone': it does not exist") },
    ]);
    expect(model.versions[1]).not.toHaveProperty('fault');
  });
});

describe('the configuration file', () => {
  const VARIANTS: Tree = { 'm/config.pbtxt': 'plain', 'm/configs/fast.pbtxt': 'fast', 'm/configs/slow.pbtxt': 'slow' };

  it.each([
    ['config.pbtxt by default', undefined, 'plain'],
    ['the variant that was asked for', 'fast', 'fast'],
    ['config.pbtxt when the variant is absent', 'other', 'plain'],
  ])('is %s', async (_, configName, text) => {
    const model = await scanOne(VARIANTS, configName === undefined ? {} : { configName });
    expect(model.config?.text).toBe(text);
  });

  it('may be missing', async () => {
    const model = await scanOne({ 'm/1': dir });
    expect(model).not.toHaveProperty('config');
    expect(model.problems).toEqual([]);
  });

  it.each([
    ['is a directory', { 'm/config.pbtxt/x': '' }, 'it is a directory'],
    ['is a broken link', { 'm/config.pbtxt': { link: 'gone' } }, 'it does not exist'],
    ['is larger than the limit', { 'm/config.pbtxt': '# ten bytes' }, 'at most 10 are read'],
  ] satisfies [string, Tree, string][])('that %s is a problem of its model', async (_, tree, fault) => {
    const model = await scanOne(tree, { maxConfigBytes: 10 });
    expect(model.problems).toMatchObject([
      { severity: 'error', reason: 'unreadable-config', message: expect.stringContaining(fault) },
    ]);
  });

  it('whose variant directory is a broken link is a problem, not the plain file in disguise', async () => {
    const model = await scanOne({ 'm/config.pbtxt': '', 'm/configs': { link: 'gone' } }, { configName: 'fast' });
    expect(model.problems).toMatchObject([{ reason: 'unreadable-config' }]);
  });
});

describe('what cannot be read', () => {
  afterEach(() => process.seteuid?.(0));

  it('a broken link in the repository is a problem of that name alone', async () => {
    const models = await scanTree({ 'good/1': dir, bad: { link: 'gone' }, loop: { link: 'loop' } });
    expect(models).toMatchObject([
      { name: 'bad', problems: [{ severity: 'error', reason: 'unreadable-model' }] },
      { name: 'good', problems: [] },
      { name: 'loop', problems: [{ message: expect.stringContaining('its symbolic links form a loop') }] },
    ]);
  });

  it('a directory or file without permission is a problem that says so', async () => {
    using disk = onDisk({ 'closed/1': dir, 'file/config.pbtxt': '', 'good/1': dir });
    chmodSync(disk.path, 0o755);
    chmodSync(join(disk.path, 'closed'), 0);
    chmodSync(join(disk.path, 'file/config.pbtxt'), 0);
    // Root reads everything, so it looks as somebody else.
    if (process.getuid?.() === 0) process.seteuid?.(65534);
    const models = await new ModelRepository({ paths: [disk.path] }).scan();
    if (process.getuid?.() === 0) process.seteuid?.(0);
    const denied = expect.stringContaining('permission denied');
    expect(models).toMatchObject([
      { name: 'closed', problems: [{ severity: 'error', reason: 'unreadable-model', message: denied }] },
      { name: 'file', problems: [{ severity: 'error', reason: 'unreadable-config', message: denied }] },
      { name: 'good', problems: [] },
    ]);
    chmodSync(join(disk.path, 'closed'), 0o755);
  });
});

describe('a repository is refused', () => {
  it.each([
    ['that does not exist', 'gone', 'it does not exist'],
    ['that is a file', 'file', 'a part of the path is not a directory'],
  ])('%s', async (_, name, fault) => {
    using disk = onDisk({ file: '', 'good/1': dir });
    const repository = new ModelRepository({ paths: [join(disk.path, 'good'), join(disk.path, name)] });
    await expect(repository.scan()).rejects.toMatchObject({
      code: 'INVALID_ARG',
      reason: 'not-a-directory',
      message: expect.stringMatching(new RegExp(`repository path is not a valid directory: .*${name}.*${fault}`)),
    });
  });

  it('without any path', () => {
    expect(() => new ModelRepository({ paths: [] })).toThrow('no model repository was given');
  });

  it.each(['', '../x', 'a/b', 'a\\b', 'a\0'])('with the configuration variant %j', (configName) => {
    expect(() => new ModelRepository({ paths: ['.'], configName })).toThrow('cannot name a configuration variant');
  });
});

describe('names', () => {
  it('lists the directories of this moment, links followed, without files and broken links', () => {
    using disk = onDisk({ a: dir, b: dir, file: '', gone: { link: 'x' }, loop: { link: 'loop' }, to: { link: 'a' } });
    const repository = new ModelRepository({ paths: [disk.path] });
    expect(repository.names()).toEqual(['a', 'b', 'to']);
    mkdirSync(join(disk.path, 'c'));
    rmSync(join(disk.path, 'a'), { recursive: true });
    expect(repository.names()).toEqual(['b', 'c']);
  });

  it('is empty for a repository that went away', () => {
    expect(new ModelRepository({ paths: ['/nonexistent/repository'] }).names()).toEqual([]);
  });
});

describe('a model directory by itself', () => {
  it('reads as in a scan of its repository', async () => {
    using disk = onDisk({ 'm/config.pbtxt': 'name: "m"', 'm/1/model.pt': '', 'm/x1': dir });
    const [scanned] = await new ModelRepository({ paths: [disk.path] }).scan();
    expect(await scanModelDirectory(join(disk.path, 'm'))).toEqual(scanned);
  });

  it('has a problem when it does not exist', async () => {
    using disk = onDisk({});
    const { name, versions, problems } = await scanModelDirectory(join(disk.path, 'm'));
    expect({ name, versions }).toEqual({ name: 'm', versions: [] });
    expect(problems.map(({ message }) => message)).toEqual([
      `cannot read the model directory '${join(disk.path, 'm')}': it does not exist`,
    ]);
  });

  it('keeps to the limits of the options', async () => {
    using disk = onDisk({ 'config.pbtxt': 'name: "m"' });
    const { problems } = await scanModelDirectory(disk.path, { maxConfigBytes: 2 });
    expect(problems[0]).toMatchObject({ severity: 'error', reason: 'unreadable-config' });
  });
});
