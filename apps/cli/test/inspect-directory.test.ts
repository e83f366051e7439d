import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { examples, nereid, onDisk, type Tree } from './nereid.ts';

const add = { copyOf: join(testModel('backend_aoti'), 'add.pt2') };
const addsub = { copyOf: join(testModel('backend_torchscript'), 'addsub.pt') };

const tensor = (name: string, type = 'FP32') => `{ name: "${name}" data_type: TYPE_${type} dims: [ -1, -1 ] }`;
const config = (inputs: readonly string[], outputs: readonly string[]) =>
  `backend: "pytorch"\nplatform: "torch_aoti"\ninput [ ${inputs.join(', ')} ]\noutput [ ${outputs.join(', ')} ]\n`;
const FITS = config([tensor('ARGS[0]'), tensor('INPUT__1')], [tensor('RESULT[0]')]);

async function inspectModel(tree: Tree, ...options: readonly string[]) {
  using directory = onDisk(tree);
  const { code, stdout, stderr } = await nereid(['inspect', join(directory.path, 'm'), ...options]);
  const short = (text: string) => text.replaceAll(`${directory.path}/`, '').replace(/config: \S+m\//, 'config: m/');
  return { code, stdout: short(stdout), stderr: short(stderr) };
}

describe('a model directory', () => {
  it.each(['mlp', 'nested', 'vision'])('of the examples is fine: %s', async (name) => {
    const { code, stdout, stderr } = await nereid(['inspect', join(examples, name)]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`${name}: model directory, 1 version\n`);
    expect(stdout).toMatch(/^config: .*config\.pbtxt ok$/m);
    expect(stdout).toContain('\nversion 1: ok\n');
  });

  it('shows every version, and which the policy leaves out', async () => {
    const { code, stdout } = await inspectModel({ 'm/config.pbtxt': FITS, 'm/1/model.pt2': add, 'm/2/model.pt2': add });
    expect(code).toBe(0);
    expect(stdout).toContain('m: model directory, 2 versions\n');
    expect(stdout).toContain('\nversion 1: ok (not selected by the version policy)\n');
    expect(stdout).toContain('\nversion 2: ok\n');
  });

  it('needs no configuration where the file tells everything', async () => {
    const { code, stdout } = await inspectModel({ 'm/1/model.pt2': add });
    expect(code).toBe(0);
    expect(stdout).toContain('config: none, a server completes it from the model file');
    const json: unknown = JSON.parse((await inspectModel({ 'm/1/model.pt2': add }, '--json')).stdout);
    expect(json).toMatchObject({
      effective: { max_batch_size: 8, input: [{ name: 'INPUT__0' }, { name: 'INPUT__1' }] },
    });
  });

  it('says what only a run tells', async () => {
    const file = { copyOf: join(testModel('completion_aoti'), 'model.pt2') };
    const { code, stdout } = await inspectModel({ 'm/1/model.pt2': file });
    expect(code).toBe(0);
    expect(stdout).toContain('warning: datatypes or dims of its outputs are learnt from a run');
  });

  it('is JSON with --json: configuration, diagnostics, versions', async () => {
    const { code, stdout } = await inspectModel({ 'm/config.pbtxt': FITS, 'm/1/model.pt2': add }, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'm',
      config: { diagnostics: [] },
      effective: { platform: 'torch_aoti', default_model_filename: 'model.pt2' },
      versions: [{ version: '1', selected: true, problems: [], file: { kind: 'aoti' } }],
      problems: [],
    });
  });
});

describe('a fault is shown with its reason, exit code 1', () => {
  it.each<[rule: string, tree: Tree, ...expected: string[]]>([
    [
      'a name that the file does not have',
      { 'm/config.pbtxt': config([tensor('ARGS[0]'), tensor('ARGS[2]')], [tensor('RESULT[0]')]), 'm/1/model.pt2': add },
      'version 1: has problems',
      "problem: model 'm': The model has no input for the input 'ARGS[2]'.",
    ],
    [
      'another datatype',
      {
        'm/config.pbtxt': config([tensor('ARGS[0]', 'INT8'), tensor('ARGS[1]')], [tensor('RESULT[0]')]),
        'm/1/model.pt2': add,
      },
      "problem: model 'm': input 'ARGS[0]' is TYPE_INT8 in the configuration, but the package was compiled for TYPE_FP32",
    ],
    [
      'a file of the other platform',
      { 'm/config.pbtxt': `${FITS}default_model_filename: "a.pt"`, 'm/1/a.pt': addsub },
      "problem: model 'm': platform is torch_aoti, but 'm/1/a.pt' is for platform pytorch_libtorch",
    ],
    [
      'no file',
      { 'm/config.pbtxt': FITS, 'm/1/other.pt2': add },
      "problem: unable to find 'm/1/model.pt2' for model 'm'",
    ],
    [
      'a file that is no model',
      { 'm/config.pbtxt': FITS, 'm/1/model.pt2': { copyOf: join(testModel('archive_files'), 'state_dict.pt') } },
      "problem: failed to load model 'm': 'm/1/model.pt2' is a state dict",
    ],
    [
      'a configuration with errors, whose file is shown nevertheless',
      { 'm/config.pbtxt': 'max_batchsize: 1', 'm/1/model.pt2': add },
      'config: m/config.pbtxt has errors',
      'did you mean `max_batch_size`?',
      'version 1: ok',
      'INPUT__0  ARGS[0]',
    ],
    [
      'no configuration, and a file that does not make up for it',
      { 'm/1/model.pt': addsub },
      'config: none\n',
      "problem: model configuration is not provided for model 'm'",
      '\ninput [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]\n',
    ],
    ['no version', { 'm/config.pbtxt': FITS }, "problem: it has no version: put the model file into 'm/1'"],
    [
      'a version that is ignored',
      { 'm/config.pbtxt': FITS, 'm/1/model.pt2': add, 'm/01/model.pt2': add },
      "warning: 'm/01' is ignored: its name has leading zeros; rename it to '1'",
    ],
  ])('%s', async (rule, tree, ...expected) => {
    const { code, stdout, stderr } = await inspectModel(tree);
    expect({ code, stderr }).toEqual({ code: rule === 'a version that is ignored' ? 0 : 1, stderr: '' });
    for (const text of expected) expect(stdout).toContain(text);
  });
});

describe('a directory that is no model is named, with what to give instead', () => {
  it.each<[what: string, tree: Tree, message: string]>([
    [
      'a repository',
      { 'm/a/1/model.pt2': '', 'm/b/config.pbtxt': '' },
      "'m' is a model repository; inspect one of its models: 'm/a', 'm/b'",
    ],
    ['a version', { 'm/model.pt2': '' }, "'m' is a version directory; inspect 'm/model.pt2'"],
    [
      'anything else',
      { 'm/readme.txt': '' },
      "'m' is no model directory: it has neither a config.pbtxt nor a version directory (1, 2 …)",
    ],
  ])('%s', async (_, tree, message) => {
    expect(await inspectModel(tree)).toEqual({ code: 1, stdout: '', stderr: `nereid: ${message}\n` });
  });
});

it('--config writes the configuration for the file of the latest version', async () => {
  const { code, stdout } = await inspectModel(
    { 'm/1/model.pt2': add, 'm/2/model.pt2': { copyOf: join(examples, 'mlp', '1', 'model.pt2') } },
    '--config',
  );
  expect(code).toBe(0);
  expect(stdout).toContain('max_batch_size: 64');
  const none = await inspectModel({ 'm/1/readme.txt': '' }, '--config');
  expect(none.code).toBe(1);
  expect(none.stderr).toContain(
    "has no model file to write a configuration for: unable to find 'm/1/model.pt' or 'm/1/model.pt2'",
  );
});

it('does not change what it inspects', async () => {
  const before = readFileSync(join(examples, 'mlp', 'config.pbtxt'), 'utf8');
  await nereid(['inspect', join(examples, 'mlp')]);
  expect(readFileSync(join(examples, 'mlp', 'config.pbtxt'), 'utf8')).toBe(before);
});
