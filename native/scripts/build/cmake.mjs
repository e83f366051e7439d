/** Configures and builds through cmake-js, which takes Node's headers from the packages node-api-headers and node-addon-api: nothing is downloaded. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../lib/paths.js';
import { run } from './run.mjs';

const require = createRequire(import.meta.url);
const CMAKE_JS = require.resolve('cmake-js/bin/cmake-js');
const BYTES_PER_COMPILER = 2e9;

/** Configures `directory` unless that was finished before for the same `settings`; a half-made or different configuration is removed first. */
export async function configure({ directory, tools, libtorch, definitions = {} }) {
  const record = join(directory, 'configured.json');
  const settings = JSON.stringify({ tools, libtorch: libtorch.directory, version: libtorch.version, definitions });
  if (existsSync(record) && readFileSync(record, 'utf8') === settings) return;
  for (const name of ['configured.json', 'CMakeCache.txt', 'CMakeFiles', 'build.ninja', 'Makefile']) {
    rmSync(join(directory, name), { recursive: true, force: true });
  }
  const all = {
    CMAKE_PREFIX_PATH: join(libtorch.directory, 'share', 'cmake'),
    CMAKE_MAKE_PROGRAM: tools.makeProgram,
    ...definitions,
  };
  const custom = Object.entries(all).map(([name, value]) => `--CD${name}=${value}`);
  await cmakeJs('configure', { directory, tools, args: custom });
  writeFileSync(record, settings);
}

/** Builds what is out of date: everything that is built by default, or one `target`. */
export async function build({ directory, tools, target, onLine }) {
  const jobs = Math.max(1, Math.min(availableParallelism(), Math.floor(totalmem() / BYTES_PER_COMPILER)));
  await cmakeJs('build', {
    directory,
    tools,
    args: ['--parallel', String(jobs), ...(target ? ['--target', target] : [])],
    onLine,
  });
}

function cmakeJs(verb, { directory, tools, args, onLine }) {
  const common = [
    '--directory',
    packageRoot,
    '--out',
    directory,
    '--cmake-path',
    tools.cmake,
    '--generator',
    tools.generator,
  ];
  return run({ command: process.execPath, args: [CMAKE_JS, verb, ...common, ...args], cwd: packageRoot, onLine });
}
