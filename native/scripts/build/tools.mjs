/** The tools of a build. Each that is missing gets one sentence with the remedy. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { packageRoot } from '../../lib/paths.js';
import { Problem } from './problem.mjs';

const CXX20_PROBE = '#include <bit>\n#include <concepts>\n#include <span>\nstatic_assert(std::same_as<int, int>);\n';

/**
 * `cmake`, `generator` with `makeProgram`, and the identity of the compiler. CMake and Ninja may come from a `.venv`, where pip puts them.
 * @throws {Problem} naming all that is missing
 */
export function findTools() {
  const cmake = which('cmake');
  const ninja = which('ninja');
  const make = ninja ?? which('make');
  const compiler = process.env.CXX ?? 'c++';
  const missing = [
    cmake === undefined &&
      'CMake was not found: pip install cmake, or with your system (Debian, Ubuntu: apt-get install cmake).',
    make === undefined &&
      'Neither Ninja nor Make was found: pip install ninja, or with your system (Debian, Ubuntu: apt-get install ninja-build).',
    compilerProblem(compiler),
  ].filter(Boolean);
  if (missing.length > 0) throw new Problem(missing.join('\n'));
  return {
    cmake,
    generator: ninja ? 'Ninja' : 'Unix Makefiles',
    makeProgram: make,
    compiler: `${compiler}: ${firstLine(compiler, ['--version'])}`,
  };
}

function compilerProblem(compiler) {
  const probe = spawnSync(compiler, ['-std=c++20', '-fsyntax-only', '-x', 'c++', '-'], { input: CXX20_PROBE });
  if (probe.status === 0) return undefined;
  const why = probe.error ? 'was not found' : 'does not compile C++20';
  return `The C++ compiler '${compiler}' ${why}: install g++ 11, clang 14 or newer (Debian, Ubuntu: apt-get install g++), or set CXX to one.`;
}

function which(tool) {
  const name = process.platform === 'win32' ? `${tool}.exe` : tool;
  return [...(process.env.PATH ?? '').split(delimiter), ...venvFolders()]
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file) && firstLine(file, ['--version']) !== '');
}

function* venvFolders() {
  const folder = process.platform === 'win32' ? 'Scripts' : 'bin';
  for (let directory = packageRoot; directory !== dirname(directory); directory = dirname(directory)) {
    yield join(directory, '.venv', folder);
  }
}

function firstLine(command, args) {
  const { stdout, status } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? (stdout.split('\n')[0] ?? '') : '';
}
