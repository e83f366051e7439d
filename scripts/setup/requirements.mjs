/** What a machine must have before anything is installed. Every check answers with a sentence that names the remedy, or nothing. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRoot, root } from './paths.mjs';
import { Problem } from './problem.mjs';

const NODE_WANTED = [20, 17];
const PYTHON_WANTED = [3, 10];
const DISK_BYTES_WANTED = 4e9;

const output = (command, args) => spawnSync(command, args, { encoding: 'utf8' });

/** The Python to make the environment with: `PYTHON`, else `python3`. */
export const python = process.env.PYTHON ?? 'python3';

function nodeIsTooOld() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NODE_WANTED[0] || (major === NODE_WANTED[0] && minor >= NODE_WANTED[1])) return undefined;
  return `Node.js ${process.versions.node} is too old: install ${NODE_WANTED.join('.')} or newer from https://nodejs.org.`;
}

function npxIsMissing() {
  if (output('npx', ['--version']).status === 0) return undefined;
  return 'npx was not found: it comes with npm; install npm (Debian, Ubuntu: apt-get install npm).';
}

function pythonIsUnfit() {
  const probe = output(python, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])']);
  if (probe.status !== 0) {
    return `Python 3 was not found as '${python}': install it (Debian, Ubuntu: apt-get install python3 python3-venv), or set PYTHON to one.`;
  }
  const [major, minor] = probe.stdout.trim().split('.').map(Number);
  if (major < PYTHON_WANTED[0] || (major === PYTHON_WANTED[0] && minor < PYTHON_WANTED[1])) {
    return `Python ${probe.stdout.trim()} is too old for PyTorch: install ${PYTHON_WANTED.join('.')} or newer, or set PYTHON to one.`;
  }
  if (output(python, ['-c', 'import venv, ensurepip']).status !== 0) {
    return `Python ${probe.stdout.trim()} has no venv module: install it (Debian, Ubuntu: apt-get install python3-venv).`;
  }
  return undefined;
}

function compilerIsMissing() {
  const folder = mkdtempSync(join(tmpdir(), 'nereid-compiler-'));
  try {
    const source = join(folder, 'probe.cc');
    writeFileSync(
      source,
      '#include <concepts>\n#include <string>\nstatic_assert(std::same_as<int, int>);\nint main() { return 0; }\n',
    );
    const compiler = process.env.CXX ?? 'c++';
    const probe = output(compiler, ['-std=c++20', '-fsyntax-only', source]);
    if (probe.status === 0) return undefined;
    const why = probe.error ? 'was not found' : 'does not compile C++20';
    return `the C++ compiler '${compiler}' ${why}: install g++ 11, clang 14 or newer (Debian, Ubuntu: apt-get install g++), or set CXX to one.`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function diskIsFull() {
  if (existsSync(inRoot('.venv', 'bin', 'pip'))) return undefined;
  const { bavail, bsize } = statfsSync(root);
  const free = bavail * bsize;
  if (free >= DISK_BYTES_WANTED) return undefined;
  return `only ${(free / 1e9).toFixed(1)} GB are free in ${root}: PyTorch and the build need ${DISK_BYTES_WANTED / 1e9} GB.`;
}

/** @throws {Problem} that lists everything missing at once */
export function checkRequirements() {
  const missing = [nodeIsTooOld, npxIsMissing, pythonIsUnfit, compilerIsMissing, diskIsFull]
    .map((check) => check())
    .filter(Boolean);
  if (missing.length > 0) throw new Problem(missing.join('\n'));
}

/** Build tools that this machine lacks and pip has to bring. */
export function missingBuildTools() {
  return ['cmake', 'ninja'].filter((tool) => output(tool, ['--version']).status !== 0);
}

/** Whether the Python that is active here already has the wanted PyTorch, so that it need not be downloaded. */
export function activePythonHasTorch(version) {
  const probe = output(python, ['-c', 'import importlib.metadata as m; print(m.version("torch"))']);
  return probe.status === 0 && probe.stdout.trim().split('+')[0] === version;
}
