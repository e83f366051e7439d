/** Which Python runs a model. The environments are real archives whose `bin/python3` hands over to the Python with torch. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { usePython, valuesOf } from '@nereid/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { openEnvironment } from '../src/execution-environment.ts';
import { findPython } from '../src/find-python.ts';
import { inputsAndOutputs, loadFailure, row, ServedModel, type ServeOptions } from './served-model.ts';

const root = mkdtempSync(join(tmpdir(), 'nereid-python-'));
afterAll(() => rmSync(root, { recursive: true }));

/** An executable script. */
function program(path: string, ...lines: readonly string[]): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
  return path;
}

describe('findPython', () => {
  const cwd = join(root, 'project', 'deep');
  mkdirSync(cwd, { recursive: true });
  const venv = program(join(root, 'project', '.venv', 'bin', 'python'));
  const active = program(join(root, 'active', 'bin', 'python'));
  const named = program(join(root, 'named', 'python3.11'));
  const onPath = program(join(root, 'path', 'python3'));
  const PATH = `${join(root, 'empty')}:${dirname(onPath)}:${dirname(named)}`;
  const VIRTUAL_ENV = join(root, 'active');

  it.each([
    { what: 'the option', search: { python: named, env: { NEREID_PYTHON: active, PATH }, cwd }, found: named },
    { what: 'the option as a command', search: { python: 'python3.11', env: { PATH }, cwd }, found: named },
    {
      what: 'the option below the working directory',
      search: { python: '../.venv/bin/python', env: {}, cwd },
      found: venv,
    },
    { what: 'NEREID_PYTHON', search: { env: { NEREID_PYTHON: named, VIRTUAL_ENV, PATH }, cwd }, found: named },
    { what: 'the active environment', search: { env: { VIRTUAL_ENV, PATH }, cwd }, found: active },
    { what: 'the nearest .venv', search: { env: { PATH }, cwd }, found: venv },
    { what: 'python3 on the path', search: { env: { PATH }, cwd: root }, found: onPath },
  ])('takes $what', ({ search, found }) => {
    expect(findPython(search)).toBe(found);
  });

  it.each([
    {
      search: { python: '/no/python', env: {}, cwd: root },
      message: "the option python is '/no/python', which is no program.",
    },
    {
      search: { env: { NEREID_PYTHON: 'nopython', PATH }, cwd },
      message: "NEREID_PYTHON is 'nopython', which is no program.",
    },
    { search: { env: { PATH: '/no' }, cwd: '/' }, message: 'found no Python at /.venv/bin/python, /no/python3.' },
  ])('says what to do: $message', ({ search, message }) => {
    expect(() => findPython(search)).toThrow(
      `${message} Install torch with "python3 -m venv .venv && .venv/bin/pip install torch", name another Python with NEREID_PYTHON, or give ` +
        'the model an environment with parameter EXECUTION_ENV_PATH.',
    );
  });
});

describe('a Python without torch', () => {
  it('fails the load with the remedy', async () => {
    // -S leaves site-packages out, where torch is.
    const python = program(join(root, 'bare', 'python3'), `exec '${usePython()}' -S "$@"`);
    const error = await loadFailure({ ...ADDSUB, backend: { python } });
    expect(error).toMatchObject({ code: 'UNAVAILABLE', reason: 'python' });
    expect(error.message).toMatch(
      /^failed to load model 'm': \S+ cannot import torch: No module named 'torch'\. Install torch with /,
    );
  });
});

const ADDSUB: ServeOptions = { file: 'identity.py', config: inputsAndOutputs(['x FP32 -1 -1'], ['y FP32 -1 -1']) };

describe('EXECUTION_ENV_PATH', () => {
  const modelDirectory = join(root, 'model');
  const environment = join(root, 'environment');
  program(join(environment, 'bin', 'python3'), 'export FROM_ENVIRONMENT=1', `exec '${usePython()}' "$@"`);
  program(join(environment, 'bin', 'conda-unpack'), 'pwd > /dev/null', 'touch "$(dirname "$0")/relocated"');
  mkdirSync(modelDirectory, { recursive: true });
  execFileSync('tar', ['-czf', join(modelDirectory, 'env.tar.gz'), '-C', environment, '.']);
  const model = join(modelDirectory, '1', 'model.py');
  mkdirSync(dirname(model));
  writeFileSync(
    model,
    [
      'import os, torch',
      'class Model(torch.nn.Module):',
      '    def forward(self, x): return x + int(os.environ["FROM_ENVIRONMENT"])',
      '',
    ].join('\n'),
  );
  const open = (path: string, cacheDirectory: string) =>
    openEnvironment({ modelName: 'm', modelDirectory, path, cacheDirectory });

  it('runs the model with the Python of the archive', async () => {
    const cacheDirectory = join(root, 'cache');
    await using served = await ServedModel.load({
      ...ADDSUB,
      file: model,
      parameters: { EXECUTION_ENV_PATH: '$$TRITON_MODEL_DIRECTORY/env.tar.gz' },
      backend: { python: '/never/used', cacheDirectory },
    });
    const y = (await served.infer(row(1))).get('y');
    expect(y && valuesOf(y)).toEqual([2]);
  });

  it('is unpacked once per content, and relocated where it lies', async () => {
    const cache = join(root, 'once');
    const [first, second] = await Promise.all([open('env.tar.gz', cache), open('env.tar.gz', cache)]);
    expect(first?.python).toBe(second?.python);
    const entries = readdirSync(cache).sort();
    expect(entries).toHaveLength(2);
    expect(entries[1]?.startsWith(`${entries[0]}.`)).toBe(true);
    expect(readdirSync(join(cache, entries[0] ?? '', 'bin')).sort()).toEqual(['conda-unpack', 'python3', 'relocated']);
    await open('env.tar.gz', cache);
    expect(readdirSync(cache)).toHaveLength(2);
  });

  it('may be a directory', async () => {
    const { python, env } = await open(environment, join(root, 'unused'));
    expect(python).toBe(join(environment, 'bin', 'python3'));
    expect(env).toMatchObject({ CONDA_PREFIX: environment, PYTHONNOUSERSITE: '1' });
  });

  it.each([
    { path: 'no.tar.gz', message: /no\.tar\.gz' cannot be read: ENOENT/ },
    { path: '1/model.py', message: /model\.py' cannot be unpacked: Command failed: tar/ },
    { path: '1', message: /model\/1' has no bin\/python3; pack a whole environment, e\.g\. with conda-pack$/ },
  ])('refuses $path, and leaves nothing behind', async ({ path, message }) => {
    const cache = join(root, 'refused');
    await expect(open(path, cache)).rejects.toThrow(message);
    await expect(open(path, cache)).rejects.toThrow("model 'm': parameter EXECUTION_ENV_PATH: ");
    expect(path === '1/model.py' ? readdirSync(cache) : []).toEqual([]);
  });

  it('refuses an archive whose entries lead out of it', async () => {
    const inside = join(root, 'evil', 'inside');
    mkdirSync(inside, { recursive: true });
    writeFileSync(join(root, 'evil', 'stray.txt'), 'stray');
    execFileSync('tar', ['-czPf', join(modelDirectory, 'evil.tar.gz'), '-C', inside, '../stray.txt']);
    const cache = join(root, 'evil-cache');
    await expect(open('evil.tar.gz', cache)).rejects.toThrow(/cannot be unpacked|has no bin\/python3/);
    expect(readdirSync(cache)).not.toContain('stray.txt');
  });
});
