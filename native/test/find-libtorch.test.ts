import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describeSearch, findLibtorch, libtorchVersion, TORCH_RELEASE } from '@nereid/native/find-libtorch';
import { afterAll, beforeAll, expect, test } from 'vitest';

const packageRoot = join(dirname(fileURLToPath(import.meta.url)), '..');
const LIBRARY = process.platform === 'darwin' ? 'libtorch.dylib' : 'libtorch.so';
const NOTHING_ACTIVE = { PATH: '' };

let scratch = '';
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'nereid-libtorch-'));
});
afterAll(() => rmSync(scratch, { recursive: true }));

/** Files that look like a LibTorch. */
function libtorch(name: string, { version = `${TORCH_RELEASE}.0`, library = true, cmake = true } = {}): string {
  const directory = join(scratch, name);
  mkdirSync(join(directory, 'lib'), { recursive: true });
  mkdirSync(join(directory, 'share', 'cmake', 'Torch'), { recursive: true });
  writeFileSync(join(directory, 'build-version'), `${version}\n`);
  if (library) writeFileSync(join(directory, 'lib', LIBRARY), '');
  if (cmake) writeFileSync(join(directory, 'share', 'cmake', 'Torch', 'TorchConfig.cmake'), '');
  return directory;
}

test('a directory that is named is taken, or refused with the reason; nothing else is looked at', () => {
  const good = libtorch('good');
  expect(findLibtorch({ directory: good })).toEqual({
    found: { origin: '--libtorch', directory: good, version: `${TORCH_RELEASE}.0` },
    rejected: [],
  });
  const named = findLibtorch({ env: { NEREID_LIBTORCH: good, PATH: '' } });
  expect(named.found).toMatchObject({ origin: 'NEREID_LIBTORCH', directory: good });
});

test.each([
  { what: 'no such directory', options: undefined, reason: 'no such directory' },
  { what: 'no library', options: { library: false }, reason: `has no lib/${LIBRARY}` },
  {
    what: 'no headers',
    options: { cmake: false },
    reason: 'has libraries but no headers and CMake files to build with',
  },
  {
    what: 'another release',
    options: { version: '2.9.1' },
    reason: `is PyTorch 2.9.1; the addon is written for ${TORCH_RELEASE}`,
  },
])('$what is a reason', ({ what, options, reason }) => {
  const directory = options === undefined ? join(scratch, 'absent') : libtorch(what, options);
  const search = findLibtorch({ directory });
  expect(search).toEqual({ found: undefined, rejected: [{ origin: '--libtorch', directory, reason }] });
  expect(describeSearch(search)).toEqual([`not ${directory}: ${reason} (--libtorch)`]);
});

test('the folder above torch will do', () => {
  const torch = libtorch(join('site-packages', 'torch'));
  expect(findLibtorch({ directory: dirname(torch) }).found?.directory).toBe(torch);
});

test('a .venv in or above the working directory is found when no Python is active', () => {
  const torch = libtorch(join('project', '.venv', 'lib', 'python3.12', 'site-packages', 'torch'));
  const cwd = join(scratch, 'project', 'deep');
  mkdirSync(cwd);
  const { found, rejected } = findLibtorch({ env: NOTHING_ACTIVE, cwd });
  expect(found).toMatchObject({ origin: join(scratch, 'project', '.venv'), directory: torch });
  expect(rejected.map(({ origin }) => origin)).toEqual(['python3 on PATH', 'python on PATH']);
});

test('the version is read from a Python package too', () => {
  const directory = join(scratch, 'python');
  mkdirSync(directory);
  writeFileSync(join(directory, 'version.py'), "from typing import Optional\n__version__ = '2.13.0+cpu'\n");
  expect(libtorchVersion(directory)).toBe('2.13.0+cpu');
  expect(libtorchVersion(scratch)).toBeUndefined();
});

test('an addon that was never built is explained: tried, required, found, what to do', () => {
  const copy = join(scratch, 'copy');
  for (const part of ['loader.js', 'lib', 'package.json'])
    cpSync(join(packageRoot, part), join(copy, part), { recursive: true });
  const program = `import(${JSON.stringify(pathToFileURL(join(copy, 'loader.js')).href)}).catch((error) => console.log(error.code + ' ' + error.message))`;
  const text = execFileSync(process.execPath, ['-e', program], {
    encoding: 'utf8',
    env: { ...process.env, NEREID_LIBTORCH: join(scratch, 'absent') },
  });
  expect(text.split('\n').map((line) => line.trim())).toEqual([
    expect.stringMatching(/^UNAVAILABLE The native addon of @nereid\/native cannot be loaded into Node\.js /),
    'Tried:',
    `${join(copy, 'build', 'Release', 'nereid.node')}: not built yet`,
    `Required: PyTorch ${TORCH_RELEASE} (LibTorch). Found:`,
    `not ${join(scratch, 'absent')}: no such directory (NEREID_LIBTORCH)`,
    'What to do:',
    `1. install PyTorch: pip install "torch==${TORCH_RELEASE}.*", or set NEREID_LIBTORCH to where LibTorch is`,
    `2. build the addon: node ${join(copy, 'scripts', 'build.mjs')}`,
    '',
  ]);
});
