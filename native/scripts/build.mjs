#!/usr/bin/env node
/**
 * Builds the addon into `native/build/`. Does nothing when sources, LibTorch and tools are those of the last finished build.
 * May be interrupted at any time: the next run goes on.
 */
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { addonFile, buildDirectory, readStamp, stampFile } from '../lib/paths.js';
import { build, configure } from './build/cmake.mjs';
import { hashSources } from './build/hash.mjs';
import { requireLibtorch } from './build/libtorch.mjs';
import { withLock } from './build/lock.mjs';
import { Problem } from './build/problem.mjs';
import { createProgress, seconds } from './build/progress.mjs';
import { findTools } from './build/tools.mjs';

const USAGE = `usage: node native/scripts/build.mjs [--libtorch DIR]

  --libtorch DIR  LibTorch, or the torch folder of a Python environment.
                  Default: NEREID_LIBTORCH, else the torch of the active Python, else of a .venv here or above.
`;

async function buildAddon(directory) {
  const start = performance.now();
  const libtorch = requireLibtorch(directory);
  const tools = findTools();
  const { directory: place, version } = libtorch;
  const hash = hashSources({ place, version, compiler: tools.compiler, arch: process.arch });
  const name = relative(process.cwd(), addonFile);
  if (existsSync(addonFile) && readStamp()?.hash === hash) {
    console.log(`${name} is up to date (LibTorch ${libtorch.version})`);
    return;
  }
  console.log(`building ${name} against LibTorch ${libtorch.version} at ${libtorch.directory} (${libtorch.origin})`);
  await configure({ directory: buildDirectory, tools, libtorch });
  const progress = createProgress();
  try {
    await build({ directory: buildDirectory, tools, onLine: progress.take });
  } finally {
    progress.end();
  }
  writeStamp({ hash, libtorch, compiler: tools.compiler });
  console.log(`built ${name} in ${seconds(start)}`);
}

/** Whole or not at all: a stamp says that the build was finished. */
function writeStamp(stamp) {
  writeFileSync(`${stampFile}.new`, `${JSON.stringify(stamp, null, 2)}\n`);
  renameSync(`${stampFile}.new`, stampFile);
}

async function main() {
  const { values } = parseArgs({ options: { libtorch: { type: 'string' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const onWait = (pid) => console.log(`waiting for another build (process ${pid})`);
  await withLock({ file: join(buildDirectory, 'lock'), onWait }, () => buildAddon(values.libtorch));
}

main().catch((error) => {
  if (!(error instanceof Problem) && error.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw error;
  console.error(error.message);
  process.exitCode = 1;
});
