#!/usr/bin/env node
/** Builds the C++ tests of the runtime layer and runs them under ctest; with `--sanitize` in `build-asan/`, with AddressSanitizer and UndefinedBehaviorSanitizer. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildDirectory, packageRoot } from '../lib/paths.js';
import { build, configure } from './build/cmake.mjs';
import { requireLibtorch } from './build/libtorch.mjs';
import { withLock } from './build/lock.mjs';
import { Problem } from './build/problem.mjs';
import { createProgress, seconds } from './build/progress.mjs';
import { run } from './build/run.mjs';
import { findTools } from './build/tools.mjs';

const TARGET = 'runtime_test';
const PACKAGE = join(packageRoot, '..', '.cache', 'models', 'native_aoti', 'mlp.pt2');

async function testRuntime({ libtorch: place, sanitize = false }) {
  const start = performance.now();
  const directory = sanitize ? join(packageRoot, 'build-asan') : buildDirectory;
  const libtorch = requireLibtorch(place);
  const tools = findTools();
  await withLock(
    { file: join(directory, 'lock'), onWait: (pid) => console.log(`waiting for another build (process ${pid})`) },
    async () => {
      await configure({ directory, tools, libtorch, definitions: sanitize ? { NEREID_SANITIZE: 'ON' } : {} });
      const progress = createProgress();
      await build({ directory, tools, target: TARGET, onLine: progress.take }).finally(progress.end);
    },
  );
  console.log(`built ${TARGET} in ${seconds(start)}`);
  await run({
    command: join(dirname(tools.cmake), 'ctest'),
    args: ['--test-dir', directory, '--output-on-failure', '--no-tests=error'],
    env: { ...(existsSync(PACKAGE) ? { NEREID_TEST_AOTI: PACKAGE } : {}), ...(sanitize ? sanitizerOptions() : {}) },
    onLine: (line) => console.log(line),
  });
}

/** LibTorch and Python's loaders leave small allocations behind at exit; what our own code leaks still fails the tests. */
function sanitizerOptions() {
  return {
    LSAN_OPTIONS: `suppressions=${join(packageRoot, 'test', 'runtime', 'leaks.supp')}:print_suppressions=0`,
    UBSAN_OPTIONS: 'print_stacktrace=1',
  };
}

const { values } = parseArgs({ options: { sanitize: { type: 'boolean' }, libtorch: { type: 'string' } } });
testRuntime(values).catch((error) => {
  if (!(error instanceof Problem)) throw error;
  console.error(error.message);
  process.exitCode = 1;
});
