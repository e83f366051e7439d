import { accessSync, constants } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { PythonRuntimeError } from './errors.ts';

export interface PythonSearch {
  /** Taken without looking further. */
  readonly python?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Where the search for a `.venv` begins; it goes up from there. */
  readonly cwd: string;
}

/**
 * The interpreter for models without an environment of their own: the option, `NEREID_PYTHON`, the active virtual environment, the nearest `.venv` at or above
 * the working directory, `python3` on the path. Whether it has torch shows when it runs.
 *
 * @returns absolute path
 * @throws {PythonRuntimeError} `python` with every place that was looked at
 */
export function findPython({ python, env, cwd }: PythonSearch): string {
  if (python !== undefined) return named('the option python', python, { env, cwd });
  if (env.NEREID_PYTHON) return named('NEREID_PYTHON', env.NEREID_PYTHON, { env, cwd });
  const candidates = [
    ...(env.VIRTUAL_ENV ? [join(env.VIRTUAL_ENV, 'bin', 'python')] : []),
    ...upwards(cwd).map((directory) => join(directory, '.venv', 'bin', 'python')),
    ...onPath('python3', env),
  ];
  const found = candidates.find(isExecutable);
  if (found !== undefined) return found;
  throw missing(`found no Python at ${candidates.join(', ')}`);
}

/** A path, or a command that is looked up as a shell would. */
function named(origin: string, python: string, { env, cwd }: Omit<PythonSearch, 'python'>): string {
  const candidates = python.includes('/') ? [resolve(cwd, python)] : onPath(python, env);
  const found = candidates.find(isExecutable);
  if (found !== undefined) return found;
  throw missing(`${origin} is '${python}', which is no program`);
}

function missing(what: string): PythonRuntimeError {
  return new PythonRuntimeError({
    code: 'UNAVAILABLE',
    reason: 'python',
    message: `${what}. ${PYTHON_REMEDY}`,
  });
}

/** What to do when there is no Python with torch. */
export const PYTHON_REMEDY =
  'Install torch with "python3 -m venv .venv && .venv/bin/pip install torch", name another Python with NEREID_PYTHON, or give the model an ' +
  'environment with parameter EXECUTION_ENV_PATH.';

function onPath(command: string, env: NodeJS.ProcessEnv): string[] {
  return (env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((directory) => join(directory, command));
}

function upwards(start: string): string[] {
  const parent = dirname(start);
  return parent === start ? [start] : [start, ...upwards(parent)];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
