import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { examples, nereid, onDisk } from './nereid.ts';

const GOOD =
  'name: "m"\nbackend: "pytorch"\ninput { name: "x" data_type: TYPE_FP32 dims: 4 }\noutput { name: "y" data_type: TYPE_FP32 dims: 4 }\n';

describe('a good configuration', () => {
  it('is printed complete', async () => {
    const { code, stdout, stderr } = await nereid(['config', join(examples, 'mlp', 'config.pbtxt')]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('name: "mlp"\nplatform: "torch_aoti"\nbackend: "pytorch"\n');
    expect(stdout).toContain('default_model_filename: "model.pt2"');
    expect(stdout).toContain('instance_group [\n  {\n    name: "mlp"\n    kind: KIND_CPU\n    count: 1\n  }\n]');
  });

  it('is the same when its directory is given', async () => {
    expect(await nereid(['config', join(examples, 'mlp')])).toEqual(
      await nereid(['config', join(examples, 'mlp', 'config.pbtxt')]),
    );
  });

  it('printed complete is good, and complete already', async () => {
    const first = await nereid(['config', '-'], { stdin: GOOD });
    expect(await nereid(['config', '-'], { stdin: first.stdout })).toEqual(first);
  });

  it('is one line of JSON with --json, with the defaults of every field', async () => {
    const { code, stdout } = await nereid(['config', '--json', '-'], { stdin: GOOD });
    expect(code).toBe(0);
    expect(stdout.trimEnd()).not.toContain('\n');
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'm',
      platform: 'pytorch_libtorch',
      max_batch_size: 0,
      version_policy: { latest: { num_versions: 1 } },
      input: [{ name: 'x', format: 'FORMAT_NONE', dims: [4] }],
      instance_group: [{ name: 'm', kind: 'KIND_CPU', count: 1 }],
    });
  });

  it('is read from JSON, by its name', async () => {
    using directory = onDisk({ 'a.json': (await nereid(['config', '--json', '-'], { stdin: GOOD })).stdout });
    expect(await nereid(['config', join(directory.path, 'a.json')])).toEqual(
      await nereid(['config', '-'], { stdin: GOOD }),
    );
  });

  it('shows what is written, and nothing else, with --parse-only', async () => {
    const { code, stdout } = await nereid(['config', '--parse-only', '-'], { stdin: 'max_batch_size: -3\n' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'max_batch_size: -3\n' });
  });
});

describe('what belongs to a model directory', () => {
  const CONFIG = GOOD.replace('backend: "pytorch"\n', '');

  it('takes the backend from the files of the version', async () => {
    using directory = onDisk({ 'm/config.pbtxt': CONFIG, 'm/1/model.pt2': '' });
    const { code, stdout } = await nereid(['config', join(directory.path, 'm', 'config.pbtxt')]);
    expect(code).toBe(0);
    expect(stdout).toContain('platform: "torch_aoti"');
  });

  it('must have the name of the directory', async () => {
    using directory = onDisk({ 'other/config.pbtxt': CONFIG, 'other/1/model.pt2': '' });
    const { code, stderr } = await nereid(['config', join(directory.path, 'other')]);
    expect(code).toBe(1);
    expect(stderr).toContain("config.pbtxt:1:7: error: unexpected directory name 'other' for model 'm'");
  });

  it('may be a variant in configs/', async () => {
    using directory = onDisk({ 'm/configs/small.pbtxt': CONFIG, 'm/1/model.pt': '' });
    const { code, stdout } = await nereid(['config', join(directory.path, 'm', 'configs', 'small.pbtxt')]);
    expect(code).toBe(0);
    expect(stdout).toContain('platform: "pytorch_libtorch"');
  });

  it('has any name elsewhere', async () => {
    using directory = onDisk({ 'other/config.pbtxt': GOOD });
    expect((await nereid(['config', join(directory.path, 'other', 'config.pbtxt')])).code).toBe(0);
  });
});

describe('problems', () => {
  it('are all shown, with place, line, caret and suggestion', async () => {
    const stdin = 'max_batchsize: 8\ninput [ { name: "a" data_type: FP32 dims: 3 } ]\n';
    expect(await nereid(['config', '-'], { stdin })).toEqual({
      code: 1,
      stdout: '',
      stderr: [
        '<stdin>:1:1: error: ModelConfig has no field `max_batchsize`; did you mean `max_batch_size`?',
        '  1 | max_batchsize: 8',
        '    | ^~~~~~~~~~~~~',
        '<stdin>:2:32: error: DataType has no value `FP32` for `data_type`; did you mean `TYPE_FP32`?',
        '  2 | input [ { name: "a" data_type: FP32 dims: 3 } ]',
        '    |                                ^~~~',
        '<stdin>: 2 errors',
        '',
      ].join('\n'),
    });
  });

  it('of the rules have their place as well', async () => {
    const { code, stderr } = await nereid(['config', '-'], { stdin: GOOD.replace('dims: 4', 'dims: 0') });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^<stdin>:3:\d+: error: .*\n {2}3 \| input/);
  });

  it('are coloured on a terminal', async () => {
    const { stderr } = await nereid(['config', '-'], { stdin: 'x: 1', terminal: true });
    expect(stderr).toContain('\u001b[31merror\u001b[0m');
  });
});

describe('--format', () => {
  const UNTIDY = '# what it is\nname:   "m" # its name\n\n\ninput {name:"x",data_type:TYPE_FP32;dims:[1,2]}\n';
  const TIDY = '# what it is\nname: "m"  # its name\n\ninput { name: "x" data_type: TYPE_FP32 dims: [1, 2] }\n';

  it('prints the file laid out anew with its comments', async () => {
    expect(await nereid(['config', '--format', '-'], { stdin: UNTIDY })).toEqual({ code: 0, stdout: TIDY, stderr: '' });
  });

  it('needs no more than the syntax to be right', async () => {
    expect((await nereid(['config', '--format', '-'], { stdin: 'no_such_field: 1' })).code).toBe(0);
    const { code, stdout, stderr } = await nereid(['config', '--format', '-'], { stdin: 'name: }' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('<stdin>:1:7: error:');
  });

  it('rewrites the file with --write, once', async () => {
    using directory = onDisk({ 'a.pbtxt': UNTIDY });
    const path = join(directory.path, 'a.pbtxt');
    expect(await nereid(['config', '--format', '--write', path])).toEqual({
      code: 0,
      stdout: `${path} rewritten\n`,
      stderr: '',
    });
    expect(readFileSync(path, 'utf8')).toBe(TIDY);
    expect((await nereid(['config', '--format', '--write', path])).stdout).toBe(`${path} was laid out already\n`);
  });

  it('is for text format', async () => {
    using directory = onDisk({ 'a.json': '{}' });
    const { code, stderr } = await nereid(['config', '--format', join(directory.path, 'a.json')]);
    expect(code).toBe(2);
    expect(stderr).toContain('--format is for text format');
  });
});

describe('what is no configuration is told in a sentence', () => {
  it.each([
    ['a file that does not exist', {}, 'x', "cannot read 'x': it does not exist"],
    [
      'a binary file',
      { x: 'PK\u0003\u0004\u0000' },
      'x',
      "'x' is a binary file, no configuration; nereid inspect tells what a model file is",
    ],
    [
      'a directory without one',
      { 'x/1/model.pt': '' },
      'x',
      "'x' holds no config.pbtxt; nereid inspect --config FILE prints one for a model file",
    ],
    [
      'a file that is too large',
      { x: '#'.repeat(4 * 1024 * 1024 + 1) },
      'x',
      "'x' has 4194305 bytes or more; at most 4194304 are read",
    ],
    ['a path through a file', { x: '' }, 'x/y', "cannot read 'x/y': a part of the path is not a directory"],
  ])('%s', async (_, tree, argument, message) => {
    using directory = onDisk(tree);
    const { code, stdout, stderr } = await nereid(['config', join(directory.path, argument)]);
    expect({ code, stdout, stderr: stderr.replaceAll(`${directory.path}/`, '') }).toEqual({
      code: 1,
      stdout: '',
      stderr: `nereid: ${message}\n`,
    });
  });

  it('standard input without an end that is near', async () => {
    const { code, stderr } = await nereid(['config', '-'], { stdin: '#'.repeat(4 * 1024 * 1024 + 1) });
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'nereid: standard input has more than 4194304 bytes\n' });
  });
});
