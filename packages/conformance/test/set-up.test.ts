import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'nereid-setup-'));
afterAll(() => rmSync(folder, { recursive: true }));

function setUp(env: Readonly<Record<string, string>>) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/setup.mjs'], {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  return { status, printed: stdout + stderr };
}

/** A program that does what the script says, in place of one that the machine has. */
function program(name: string, script: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe('set-up says in a sentence what is missing, and what to do', () => {
  test.each([
    [
      'no Python',
      { PYTHON: '/nonexistent/python3' },
      ["Python 3 was not found as '/nonexistent/python3'", 'apt-get install python3'],
    ],
    ['an old Python', { PYTHON: program('old-python', 'echo 3.8') }, ['Python 3.8 is too old', '3.10']],
    [
      'no venv module',
      { PYTHON: program('bare-python', 'case "$2" in *venv*) exit 1;; *) echo 3.11;; esac') },
      ['Python 3.11 has no venv module', 'apt-get install python3-venv'],
    ],
    [
      'no compiler',
      { CXX: '/nonexistent/c++' },
      ["the C++ compiler '/nonexistent/c++' was not found", 'apt-get install g++'],
    ],
    ['an old compiler', { CXX: program('old-c++', 'exit 1') }, ['does not compile C++20', 'g++ 11']],
  ])('%s', (_, env, fragments) => {
    const { status, printed } = setUp(env);
    expect(status).toBe(1);
    for (const fragment of fragments) expect(printed).toContain(fragment);
    expect(printed).not.toContain('    at ');
  });

  test('everything missing at once', () => {
    const { printed } = setUp({ PYTHON: '/nonexistent/python3', CXX: '/nonexistent/c++' });
    expect(printed).toContain('Python 3 was not found');
    expect(printed).toContain('the C++ compiler');
  });
});

test('after set-up the command runs from the root', () => {
  const nereid = join(root, 'node_modules', '.bin', 'nereid');
  expect(existsSync(nereid)).toBe(true);
  const { status, stdout } = spawnSync(nereid, ['--version'], { encoding: 'utf8' });
  expect(status).toBe(0);
  expect(stdout).toMatch(/\d+\.\d+\.\d+/);
});
