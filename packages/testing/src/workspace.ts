import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Directory of a test model, as its export script in `packages/testing/models` wrote it.
 * @param name file name of the script without `.py`
 * @returns absolute path of `.cache/models/<name>` in this repository
 * @throws {Error} when it was not exported yet; the message holds the command
 */
export function testModel(name: string): string {
  const directory = join(repositoryRoot(), '.cache', 'models', name);
  if (existsSync(directory)) return directory;
  throw new Error(`test model '${name}' is not in ${directory}; run: python3 scripts/export_models.py ${name}`);
}

/**
 * The Python that the set-up prepared, with torch, numpy and tritonclient.
 * @returns absolute path of the interpreter in this repository's `.venv`
 * @throws {Error} when the set-up has not run; the message holds the command
 */
export function usePython(): string {
  const parts = process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python'];
  const python = join(repositoryRoot(), '.venv', ...parts);
  if (existsSync(python)) return python;
  throw new Error(`no Python in ${python}; run: npm run setup`);
}

/**
 * What the set-up for tests brought of perf_analyzer: the program in `bin`, the CUDA runtime that it is linked with in `nvidia`.
 * @returns absolute path of `.cache/perf-analyzer` in this repository
 * @throws {Error} when it was not set up; the message holds the command
 */
export function usePerfAnalyzer(): string {
  const directory = join(repositoryRoot(), '.cache', 'perf-analyzer');
  const program = join(directory, 'bin', 'perf_analyzer');
  if (existsSync(program)) return directory;
  throw new Error(`no perf_analyzer in ${program}; run: npm run setup -- --with-tests`);
}

/** @throws {Error} outside of a clone of the repository */
export function repositoryRoot(): string {
  const start = dirname(fileURLToPath(import.meta.url));
  for (let directory = start; directory !== dirname(directory); directory = dirname(directory)) {
    if (existsSync(join(directory, 'pnpm-workspace.yaml'))) return directory;
  }
  throw new Error(
    `no pnpm-workspace.yaml above ${start}: test models and Python exist only in a clone of the repository`,
  );
}
