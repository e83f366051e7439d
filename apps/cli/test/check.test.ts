import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import type { CheckProblem } from '../src/check/problem.ts';
import { examples, nereid, onDisk, type Tree } from './nereid.ts';

const copyOf = (model: string, file: string) => ({ copyOf: join(testModel(model), file) });
const add = copyOf('backend_aoti', 'add.pt2');
const addsub = copyOf('backend_torchscript', 'addsub.pt');

const tensor = (name: string, rest = 'data_type: TYPE_FP32 dims: [ -1, -1 ]') => `{ name: "${name}" ${rest} }`;
const config = (inputs: readonly string[], outputs: readonly string[], more = '') =>
  `backend: "pytorch"\n${more}\ninput [ ${inputs.join(', ')} ]\noutput [ ${outputs.join(', ')} ]\n`;
const FITS = config([tensor('ARGS[0]'), tensor('ARGS[1]')], [tensor('RESULT[0]')]);
const with_ = (more: string) => config([tensor('ARGS[0]'), tensor('ARGS[1]')], [tensor('RESULT[0]')], more);
const MODULE = config(
  [tensor('x', 'data_type: TYPE_FP32 dims: [ 4 ]')],
  [tensor('y', 'data_type: TYPE_FP32 dims: [ 4 ]')],
);

interface Report {
  readonly models: number;
  readonly errors: number;
  readonly warnings: number;
  readonly problems: readonly CheckProblem[];
}

async function check(tree: Tree, ...options: readonly string[]): Promise<{ code: number; report: Report }> {
  using directory = onDisk(tree);
  const { code, stdout } = await nereid(['check', directory.path, '--json', ...options]);
  return { code, report: JSON.parse(stdout.replaceAll(`${directory.path}/`, '')) as Report };
}

describe('a repository without problems', () => {
  it('of the examples has a line for each model', async () => {
    const { code, stdout, stderr } = await nereid(['check', examples]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^mlp \(version 1\): ok$/m);
    expect(stdout).toMatch(/\d models, 0 errors, 0 warnings\n$/);
  });

  it('may leave configurations to the files', async () => {
    const { code, report } = await check({
      'a/1/model.pt2': add,
      'b/1/model.pt2': add,
      'b/config.pbtxt': 'backend: "pytorch"\n',
    });
    expect(code).toBe(0);
    expect(report).toMatchObject({ models: 2, errors: 0, warnings: 0, problems: [] });
  });

  it('may hold models of Python source', async () => {
    const { code } = await nereid(['check', join(examples, '..', 'model-py', 'model_repository')]);
    expect(code).toBe(0);
  });

  it('may be one model', async () => {
    const { code, stdout } = await nereid(['check', join(examples, 'mlp')]);
    expect(code).toBe(0);
    expect(stdout).toContain('1 model, 0 errors');
  });
});

describe('every problem is found', () => {
  it.each<{ rule: string; tree: Tree; finds: Partial<CheckProblem> & { says: string }; severity?: 'warning' }>([
    {
      rule: 'an unknown field, with its place and the nearest name',
      tree: { 'm/config.pbtxt': 'backend: "pytorch"\n  max_batchsize: 8\n', 'm/1/model.pt2': add },
      finds: { file: 'm/config.pbtxt', line: 2, column: 3, says: 'did you mean `max_batch_size`' },
    },
    {
      rule: 'a rule that is broken, with its place',
      tree: { 'm/config.pbtxt': FITS.replace('dims: [ -1, -1 ]', 'dims: [ 0 ]'), 'm/1/model.pt2': add },
      finds: { line: 3, says: 'dimension must be integer >= 1' },
    },
    {
      rule: 'a name that the model does not have, with those it has',
      tree: { 'm/config.pbtxt': FITS.replace('ARGS[1]', 'ARGS[7]'), 'm/1/model.pt2': add },
      finds: { version: '1', says: "The model's inputs: INPUT__0 (ARGS[0]), INPUT__1 (ARGS[1])" },
    },
    {
      rule: 'another datatype',
      tree: { 'm/config.pbtxt': FITS.replace('TYPE_FP32', 'TYPE_INT8'), 'm/1/model.pt2': add },
      finds: { version: '1', says: 'TYPE_INT8 in the configuration, but the package was compiled for TYPE_FP32' },
    },
    {
      rule: 'another rank',
      tree: { 'm/config.pbtxt': FITS.replace('[ -1, -1 ]', '[ -1, -1, 3 ]'), 'm/1/model.pt2': add },
      finds: { version: '1', says: "input 'ARGS[0]' has shape [-1,-1,3] in the configuration" },
    },
    {
      rule: 'a batch beyond the declared range',
      tree: { 'm/config.pbtxt': 'backend: "pytorch"\nmax_batch_size: 9\n', 'm/1/model.pt2': add },
      finds: { version: '1', says: 'max_batch_size is 9' },
    },
    {
      rule: 'a file for another platform',
      tree: {
        'm/config.pbtxt': with_('platform: "pytorch_libtorch" default_model_filename: "model.pt2"'),
        'm/1/model.pt2': add,
      },
      finds: { version: '1', says: 'set platform: "torch_aoti"' },
    },
    {
      rule: 'a GPU that is not there',
      tree: { 'm/config.pbtxt': with_('instance_group [ { kind: KIND_GPU } ]'), 'm/1/model.pt2': add },
      finds: { file: 'm/config.pbtxt', line: 2, says: 'GPU' },
    },
    {
      rule: 'operators outside torch',
      tree: { 'm/config.pbtxt': MODULE, 'm/1/model.pt': copyOf('backend_torchscript', 'unknown_operator.pt') },
      finds: { version: '1', says: "operators that are not PyTorch's: nereid_test::plus_one" },
    },
    {
      rule: 'a configuration that does not tell enough, with the lines to add',
      tree: { 'm/1/model.pt': addsub },
      finds: { says: '\ninput [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]' },
    },
    {
      rule: 'a feature that is refused, with its place',
      tree: {
        'm/config.pbtxt': with_('model_repository_agents { agents [ { name: "checksum" } ] }'),
        'm/1/model.pt2': add,
      },
      finds: { line: 2, says: 'model_repository_agents' },
    },
    {
      rule: 'a label file that is missing',
      tree: {
        'm/config.pbtxt': FITS.replace('name: "RESULT[0]"', 'name: "RESULT[0]" label_filename: "labels.txt"'),
        'm/1/model.pt2': add,
      },
      finds: { file: 'm/config.pbtxt', says: "label_filename of output 'RESULT[0]'" },
    },
    {
      rule: 'a version of the policy that is absent',
      tree: { 'm/config.pbtxt': with_('version_policy { specific { versions: [ 1, 9 ] } }'), 'm/1/model.pt2': add },
      finds: { says: 'version 9 is in the version policy, but there is no such directory' },
    },
    {
      rule: 'a policy that selects nothing',
      tree: { 'm/config.pbtxt': with_('version_policy { specific { versions: [ 9 ] } }'), 'm/1/model.pt2': add },
      finds: { says: 'the version policy selects no version; there are 1' },
    },
    {
      rule: 'a model without a version',
      tree: { 'm/config.pbtxt': FITS },
      finds: { says: 'it has no version' },
    },
    {
      rule: 'a file that is no model',
      tree: { 'm/config.pbtxt': FITS, 'm/1/model.pt2': 'text' },
      finds: { version: '1', says: 'model.pt2' },
    },
    {
      rule: 'a directory that is ignored',
      tree: { 'm/config.pbtxt': FITS, 'm/1/model.pt2': add, 'm/01/model.pt2': add },
      finds: { says: 'leading zeros' },
      severity: 'warning',
    },
    {
      rule: 'what is wrong with a version that the policy does not select',
      tree: { 'm/config.pbtxt': FITS, 'm/1/model.pt2': 'text', 'm/2/model.pt2': add },
      finds: { version: '1', says: 'model.pt2' },
      severity: 'warning',
    },
    {
      rule: 'outputs that only a run tells',
      tree: { 'm/1/model.pt2': copyOf('completion_aoti', 'model.pt2') },
      finds: { says: 'learnt from a run' },
      severity: 'warning',
    },
  ])('$rule', async ({ tree, finds: { says, ...place }, severity = 'error' }) => {
    const { code, report } = await check(tree);
    const expected = { severity, model: 'm', ...place, message: expect.stringContaining(says) };
    expect(report.problems).toContainEqual(expect.objectContaining(expected));
    expect(code).toBe(severity === 'error' ? 1 : 0);
  });

  it('Python source that is not there', async () => {
    const config = `${MODULE}runtime: "model.py"\n`;
    const { code, report } = await check({ 'm/config.pbtxt': config, 'm/1/notes.txt': '' });
    expect(code).toBe(1);
    expect(report.problems).toMatchObject([
      { version: '1', message: expect.stringContaining("has none of 'model.py'") },
    ]);
  });

  it('a name in two repositories', async () => {
    using first = onDisk({ 'm/1/model.pt2': add });
    using second = onDisk({ 'm/1/model.pt2': add, 'n/1/model.pt2': add });
    const { code, stdout } = await nereid(['check', first.path, second.path]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^m: problems\n {2}error: model appears in two or more repositories/m);
    expect(stdout).toMatch(/^2 models, 1 error, 0 warnings$/m);
  });

  it('in every model, with the count of each kind', async () => {
    const { code, report } = await check({
      'a/config.pbtxt': 'x: 1\n',
      'b/1/model.pt2': add,
      'c/1/model.pt': addsub,
    });
    expect(code).toBe(1);
    expect(report).toMatchObject({ models: 3, warnings: 0 });
    expect(new Set(report.problems.map(({ model }) => model))).toEqual(new Set(['a', 'c']));
    expect(report.errors).toBe(report.problems.length);
  });
});

it('operators are taken as given with --custom-ops', async () => {
  const tree = { 'm/config.pbtxt': MODULE, 'm/1/model.pt': copyOf('backend_torchscript', 'unknown_operator.pt') };
  using library = onDisk({ 'ops.so': '' });
  const { code } = await check(tree, '--custom-ops', join(library.path, 'ops.so'));
  expect(code).toBe(0);
});

it('is text with places, and a total', async () => {
  using directory = onDisk({ 'm/config.pbtxt': 'max_batchsize: 8\n', 'm/1/model.pt2': add });
  const { code, stdout } = await nereid(['check', directory.path]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^m.*: problems$/m);
  expect(stdout).toMatch(/^ {2}error: \S*m\/config\.pbtxt:1:1: ModelConfig has no field `max_batchsize`/m);
  expect(stdout).toMatch(/^1 model, 1 error, 0 warnings$/m);
});

describe('wrong usage', () => {
  it.each<[rule: string, path: string, code: number, says: string]>([
    ['a directory that is not there', '/nowhere', 1, "cannot read '/nowhere'"],
    ['a file', join(testModel('backend_aoti'), 'add.pt2'), 2, 'nereid inspect tells about a model file'],
    ['a version directory', join(examples, 'mlp', '1'), 1, 'is a version directory; check the model directory'],
  ])('%s', async (_, path, code, says) => {
    const result = await nereid(['check', path]);
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toContain(says);
  });
});
