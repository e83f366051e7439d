import { existsSync, lstatSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { nereid, onDisk } from './nereid.ts';
import { startQuietly } from './server.ts';

const add = join(testModel('backend_aoti'), 'add.pt2');
const ranked = join(testModel('completion_aoti'), 'model.pt2');
const addsub = join(testModel('backend_torchscript'), 'addsub.pt');
const several = join(testModel('archive_several'), 'model.pt2');

describe('init', () => {
  it('writes a model directory that is served as it is', async () => {
    using output = onDisk({});
    const { code, stdout, stderr } = await nereid(['init', add, '--output', output.path]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /add\/config\.pbtxt written\n.*add\/1\/model\.pt2 copied\nserve it: nereid serve --model-repository /,
    );
    await using server = await startQuietly([output.path]);
    expect(server.models()).toMatchObject([{ name: 'add', state: 'READY' }]);
  });

  it('says in comments what the file says, and how requests are batched', async () => {
    using output = onDisk({});
    await nereid(['init', add, '--name', 'sum', '--output', output.path]);
    const config = readFileSync(join(output.path, 'sum', 'config.pbtxt'), 'utf8');
    expect(config).toContain('# Configuration of model.pt2, an AOTInductor package for cpu');
    expect(config).not.toContain('default_model_filename');
    expect(config).toContain(
      '\nmax_batch_size: 8\n\n# Requests that wait at the same time run together.\ndynamic_batching {}\n',
    );
    expect(config).toContain('    # ARGS[0], [1..8, 1..64]\n    name: "INPUT__0"\n');
    expect((await nereid(['config', '--format', join(output.path, 'sum')])).stdout).toBe(config);
  });

  it('runs the model for what its file does not state, unless told not to', async () => {
    using output = onDisk({});
    expect((await nereid(['init', ranked, '--name', 'a', '--output', output.path])).code).toBe(0);
    expect(readFileSync(join(output.path, 'a', 'config.pbtxt'), 'utf8')).toContain('data_type: TYPE_INT64\n');
    const without = await nereid(['init', ranked, '--name', 'b', '--output', output.path, '--no-run']);
    expect(without.code).toBe(1);
    expect(without.stderr).toContain('fill in: data_type of OUTPUT__1: the file does not state it\n');
    expect(readFileSync(join(output.path, 'b', 'config.pbtxt'), 'utf8')).toContain('# FILL IN data_type');
  });

  it('leaves the lines of a module to fill in', async () => {
    using output = onDisk({});
    const { code, stderr } = await nereid(['init', addsub, '--output', output.path]);
    expect(code).toBe(1);
    expect(stderr).toContain("fill in: data_type and dims of input 'INPUT0'\n");
    const path = join(output.path, 'addsub', 'config.pbtxt');
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('# FILL IN ', ''));
    expect((await nereid(['check', output.path])).code).toBe(0);
  });

  it('links with --link', async () => {
    using output = onDisk({});
    const { stdout } = await nereid(['init', add, '--link', '--output', output.path]);
    const file = join(output.path, 'add', '1', 'model.pt2');
    expect(stdout).toContain('model.pt2 linked\n');
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(realpathSync(file)).toBe(realpathSync(add));
  });

  it('chooses a model of a package that holds several', async () => {
    using output = onDisk({});
    await nereid(['init', several, '--model', 'burnt_in', '--output', output.path]);
    expect(readFileSync(join(output.path, 'model', 'config.pbtxt'), 'utf8')).toContain(
      'value { string_value: "burnt_in" }',
    );
  });

  it('never overwrites without --force', async () => {
    using output = onDisk({ 'add/config.pbtxt': '# mine\n' });
    const config = join(output.path, 'add', 'config.pbtxt');
    const refused = await nereid(['init', add, '--output', output.path]);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toBe(
      `nereid: '${config}' is there already: --force overwrites it, --name makes another model\n`,
    );
    expect(readFileSync(config, 'utf8')).toBe('# mine\n');
    expect(existsSync(join(output.path, 'add', '1'))).toBe(false);
    expect((await nereid(['init', add, '--output', output.path, '--force'])).code).toBe(0);
    expect(readFileSync(config, 'utf8')).toContain('max_batch_size: 8');
  });

  it('writes the configuration beside a file that is in its place already', async () => {
    using output = onDisk({ 'm/1/model.pt2': { copyOf: add } });
    const file = join(output.path, 'm', '1', 'model.pt2');
    expect((await nereid(['init', file, '--name', 'm', '--output', output.path, '--force'])).code).toBe(0);
    expect(readFileSync(file)).toEqual(readFileSync(add));
  });
});

describe('init refuses', () => {
  it.each<[rule: string, argv: readonly string[], code: number, says: string]>([
    ['a file that is no model', [join(testModel('archive_files'), 'state_dict.pt')], 1, 'is a state dict'],
    ['a file that is not there', ['/nowhere/model.pt2'], 1, "'/nowhere/model.pt2'"],
    ['a name that is no name', [add, '--name', 'a/b'], 2, "--name 'a/b' cannot name a model"],
    ['to choose a model of a module', [addsub, '--model', 'x'], 2, '--model chooses a model of an AOTInductor package'],
    ['to copy and to link', [add, '--copy', '--link'], 2, "option '--link' cannot be used with option '--copy'"],
  ])('%s', async (_, argv, code, says) => {
    using output = onDisk({});
    const result = await nereid(['init', ...argv, '--output', output.path]);
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toContain(says);
  });
});
