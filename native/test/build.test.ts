import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const scripts = join(dirname(fileURLToPath(import.meta.url)), '..', 'scripts');
const MINUTES = 60_000;

function script(
  name: string,
  { args = [], env = {} }: { args?: readonly string[]; env?: Record<string, string> } = {},
) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(scripts, name), ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

test('building what is built says so and does nothing', { timeout: 10 * MINUTES }, () => {
  script('build.mjs');
  expect(script('build.mjs')).toMatchObject({ status: 0, stdout: expect.stringMatching(/nereid\.node is up to date/) });
});

test('missing tools get a sentence each', () => {
  const { status, stderr } = script('build.mjs', { env: { PATH: '', CXX: '/nonexistent/c++' } });
  expect(status).toBe(1);
  expect(stderr).toContain("The C++ compiler '/nonexistent/c++' was not found: install g++ 11");
});

test('a LibTorch that will not do is refused with the reason', () => {
  const { status, stderr } = script('build.mjs', { args: ['--libtorch', '/nonexistent'] });
  expect(status).toBe(1);
  expect(stderr).toContain('not /nonexistent: no such directory (--libtorch)');
});

test('an unknown option is a usage error', () => {
  expect(script('build.mjs', { args: ['--fast'] })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('--fast'),
  });
});

test('the runtime layer passes its own tests', { timeout: 10 * MINUTES }, () => {
  const { stdout, stderr } = script('test-runtime.mjs');
  expect(`${stdout}${stderr}`).toContain('100% tests passed');
});
