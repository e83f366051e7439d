/** The Python of models of Python source; models of files need none. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Finding } from './finding.ts';

const TIMEOUT_MS = 20_000;

/** Versions without importing anything, which takes seconds. */
const ASK = `
import importlib.metadata as m, json, sys
def version(name):
    try: return m.version(name)
    except m.PackageNotFoundError: return None
print(json.dumps([sys.version.split()[0], version("torch"), version("numpy")]))
`;

export interface PythonOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

export async function checkPython(options: PythonOptions): Promise<Finding> {
  for (const python of candidates(options)) {
    const versions = await ask(python, options.env);
    if (versions === undefined) continue;
    const [version, torch, numpy] = versions;
    const found = `${version} (${python}), torch ${torch ?? 'missing'}, numpy ${numpy ?? 'missing'}`;
    if (torch !== null && numpy !== null) return { name: 'Python', state: 'ok', found };
    const remedy = `for models of Python source: ${python} -m pip install torch numpy`;
    return { name: 'Python', state: 'note', found, remedy };
  }
  const remedy = 'for models of Python source: install Python 3 with torch and numpy, or set NEREID_PYTHON';
  return { name: 'Python', state: 'note', found: 'none', remedy };
}

/** As the Python runtime looks for it. */
function* candidates({ env, cwd }: PythonOptions): Iterable<string> {
  if (env.NEREID_PYTHON) {
    yield env.NEREID_PYTHON;
    return;
  }
  if (env.VIRTUAL_ENV) yield join(env.VIRTUAL_ENV, 'bin', 'python');
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const python = join(directory, '.venv', 'bin', 'python');
    if (existsSync(python)) yield python;
    if (directory === dirname(directory)) break;
  }
  yield 'python3';
}

type Versions = readonly [python: string, torch: string | null, numpy: string | null];

async function ask(python: string, env: PythonOptions['env']): Promise<Versions | undefined> {
  try {
    const { stdout } = await promisify(execFile)(python, ['-c', ASK], { env: { ...env }, timeout: TIMEOUT_MS });
    return JSON.parse(stdout) as Versions;
  } catch {
    return undefined;
  }
}
