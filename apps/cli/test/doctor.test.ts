import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkNode } from '../src/doctor/machine.ts';
import { checkPython } from '../src/doctor/python.ts';
import { nereid, onDisk } from './nereid.ts';

const env = { PATH: process.env.PATH ?? '' };

describe('doctor', () => {
  it('finds everything here, a line each', async () => {
    const { code, stdout, stderr } = await nereid(['doctor'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const name of ['Node.js', 'LibTorch', 'C++ ABI', 'Addon', 'Processor', 'Cores', 'Python']) {
      expect(stdout).toMatch(new RegExp(`^(?:ok|note) +${name.replaceAll('+', '\\+')}  `, 'm'));
    }
    expect(stdout).toMatch(/^ok +LibTorch +2\.\d+\.\S+ at \//m);
    expect(stdout).toMatch(/^ok +Addon +built against LibTorch 2\./m);
  });

  it('says the same as JSON', async () => {
    const { code, stdout } = await nereid(['doctor', '--json'], { env });
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as { ok: boolean; findings: { name: string; state: string; found: string }[] };
    expect(report.ok).toBe(true);
    expect(report.findings.map(({ name }) => name)).toEqual([
      'Node.js',
      'LibTorch',
      'C++ ABI',
      'CUDA',
      'Addon',
      'Processor',
      'Cores',
      'Python',
    ]);
    expect(report.findings.find(({ name }) => name === 'Cores')?.found).toMatch(/^\d+ usable of \d+/);
  });

  it('names what it rejected, why, and what to do, with exit code 1', async () => {
    using directory = onDisk({ 'lib/readme.txt': '' });
    const { code, stdout } = await nereid(['doctor', '--libtorch', directory.path], { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^problem +LibTorch +none for PyTorch 2\.\d+$/m);
    expect(stdout).toContain(`not ${directory.path}: has no lib/libtorch`);
    expect(stdout).toContain('to do: install PyTorch: ');
  });

  it('takes NEREID_LIBTORCH as the only place', async () => {
    const { code, stdout } = await nereid(['doctor'], { env: { ...env, NEREID_LIBTORCH: '/nowhere' } });
    expect(code).toBe(1);
    expect(stdout).toContain('not /nowhere: no such directory (NEREID_LIBTORCH)');
  });
});

describe('Node.js', () => {
  it.each([
    ['20.17.0', '9', 'ok'],
    ['24.0.0', '10', 'ok'],
    ['20.16.9', '9', 'problem'],
    ['18.20.0', '9', 'problem'],
    ['20.17.0', '8', 'problem'],
  ])('%s with Node-API %s is %s', (node, napi, state) => {
    expect(checkNode({ node, napi }).state).toBe(state);
  });
});

describe('Python', () => {
  const fake = (answer: string) => {
    const directory = onDisk({});
    const python = join(directory.path, '.venv', 'bin', 'python');
    mkdirSync(join(directory.path, '.venv', 'bin'), { recursive: true });
    writeFileSync(python, `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 });
    return { directory, python };
  };

  it('of the .venv in or above the working directory comes first', async () => {
    const { directory, python } = fake('["3.12.1", "2.13.0+cpu", "2.1.0"]');
    using _ = directory;
    expect(await checkPython({ env, cwd: join(directory.path, 'deeper') })).toEqual({
      name: 'Python',
      state: 'ok',
      found: `3.12.1 (${python}), torch 2.13.0+cpu, numpy 2.1.0`,
    });
  });

  it('without torch is a note with the remedy', async () => {
    const { directory, python } = fake('["3.12.1", null, "2.1.0"]');
    using _ = directory;
    expect(await checkPython({ env: { ...env, NEREID_PYTHON: python }, cwd: '/' })).toMatchObject({
      state: 'note',
      found: expect.stringContaining('torch missing'),
      remedy: expect.stringContaining(`${python} -m pip install torch numpy`),
    });
  });

  it('may be absent', async () => {
    expect(await checkPython({ env: { NEREID_PYTHON: '/nowhere/python' }, cwd: '/' })).toMatchObject({
      state: 'note',
      found: 'none',
    });
  });
});
