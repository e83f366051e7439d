/**
 * Where LibTorch is. The addon's build, its loader and the CLI all ask here, so that they agree and can say what was found and what was not taken.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Release of PyTorch that the addon is written for. Its C++ interface changes between minor releases. */
export const TORCH_RELEASE = '2.13';

const PACKAGE_ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const CMAKE_CONFIG = join('share', 'cmake', 'Torch', 'TorchConfig.cmake');
const LIBRARY =
  { linux: 'libtorch.so', darwin: 'libtorch.dylib', win32: 'torch.lib' }[process.platform] ?? 'libtorch.so';
const PYTHON_TIMEOUT_MS = 10_000;
const PRINT_TORCH =
  'import importlib.util as u; s = u.find_spec("torch"); print(s.submodule_search_locations[0] if s else "")';

/**
 * Looks in order at `directory`, or else `NEREID_LIBTORCH`; if neither is given, at the torch of the active Python and of a `.venv`.
 * The first usable place is taken; every other that was looked at is reported with the reason.
 */
export function findLibtorch({ directory, env = process.env, cwd = process.cwd() } = {}) {
  const rejected = [];
  for (const { origin, places } of origins({ directory, env, cwd })) {
    const candidates = places();
    if (candidates.length === 0) rejected.push({ origin, directory: undefined, reason: 'has no PyTorch' });
    for (const candidate of candidates) {
      const result = examine(candidate);
      if (result.reason === undefined) return { found: { origin, ...result }, rejected };
      rejected.push({ origin, directory: candidate, reason: result.reason });
    }
  }
  return { found: undefined, rejected };
}

/** Version of the LibTorch in a directory, e.g. `2.13.0+cpu`; undefined if there is none. */
export function libtorchVersion(directory) {
  const python = read(join(directory, 'version.py'));
  const release =
    python === undefined ? read(join(directory, 'build-version')) : /__version__ = '([^']+)'/.exec(python)?.[1];
  return release?.trim();
}

/** One line per place: what was found and what was rejected, and why. */
export function describeSearch({ found, rejected }) {
  const lines = rejected.map(
    ({ origin, directory, reason }) => `not ${directory ?? origin}: ${reason}${directory ? ` (${origin})` : ''}`,
  );
  if (found) lines.unshift(`LibTorch ${found.version} at ${found.directory} (${found.origin})`);
  return lines;
}

function* origins({ directory, env, cwd }) {
  if (directory !== undefined) {
    yield { origin: '--libtorch', places: () => [resolve(cwd, directory)] };
    return;
  }
  if (env.NEREID_LIBTORCH) {
    yield { origin: 'NEREID_LIBTORCH', places: () => [resolve(cwd, env.NEREID_LIBTORCH)] };
    return;
  }
  for (const python of ['python3', 'python'])
    yield { origin: `${python} on PATH`, places: () => torchOfPython(python, env) };
  for (const venv of venvs(cwd)) yield { origin: venv, places: () => torchOfVenv(venv) };
}

function examine(candidate) {
  const directory = existsSync(join(candidate, 'torch', CMAKE_CONFIG)) ? join(candidate, 'torch') : candidate;
  if (!existsSync(directory)) return { reason: 'no such directory' };
  if (!existsSync(join(directory, 'lib', LIBRARY))) return { reason: `has no lib/${LIBRARY}` };
  if (!existsSync(join(directory, CMAKE_CONFIG)))
    return { reason: 'has libraries but no headers and CMake files to build with' };
  const version = libtorchVersion(directory);
  if (version === undefined) return { reason: 'does not state its version (version.py or build-version)' };
  if (!version.startsWith(`${TORCH_RELEASE}.`))
    return { reason: `is PyTorch ${version}; the addon is written for ${TORCH_RELEASE}` };
  return { directory, version };
}

/** Asks without importing torch, which takes seconds. */
function torchOfPython(python, env) {
  try {
    const options = { env, encoding: 'utf8', timeout: PYTHON_TIMEOUT_MS, stdio: ['ignore', 'pipe', 'ignore'] };
    return [execFileSync(python, ['-c', PRINT_TORCH], options).trim()].filter(Boolean);
  } catch {
    return [];
  }
}

function torchOfVenv(venv) {
  const unix = join(venv, 'lib');
  const versions = existsSync(unix) ? readdirSync(unix).filter((name) => name.startsWith('python3')) : [];
  return [
    ...versions.map((name) => join(unix, name, 'site-packages', 'torch')),
    join(venv, 'Lib', 'site-packages', 'torch'),
  ].filter(existsSync);
}

/** `.venv` of the working directory and the directories above it, then of this package's. */
function venvs(cwd) {
  const found = new Set();
  for (const start of [resolve(cwd), PACKAGE_ROOT]) {
    for (let directory = start; ; directory = dirname(directory)) {
      if (existsSync(join(directory, '.venv'))) found.add(join(directory, '.venv'));
      if (directory === dirname(directory)) break;
    }
  }
  return found;
}

function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
