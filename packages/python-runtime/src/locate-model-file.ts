import { readdir, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { PythonRuntimeError } from './errors.ts';

const DEFAULT_NAMES = ['model.py', 'model.pt'];

export interface ModelFileRequest {
  readonly modelName: string;
  readonly versionDirectory: string;
  /** `default_model_filename` of the configuration; '' when it has none. */
  readonly filename: string;
}

/**
 * The first of `default_model_filename`, `model.py` and `model.pt` that is a file of the version directory.
 * @returns its absolute path
 * @throws {PythonRuntimeError} `file`: none is there, or the name leads out of the directory
 */
export async function locateModelFile(request: ModelFileRequest): Promise<string> {
  const { modelName, versionDirectory, filename } = request;
  const names = filename === '' ? DEFAULT_NAMES : [filename, ...DEFAULT_NAMES.filter((name) => name !== filename)];
  for (const name of names) {
    const path = insidePath(request, name);
    if (await isFile(path)) return path;
  }
  throw new PythonRuntimeError({
    code: 'UNAVAILABLE',
    reason: 'file',
    message:
      `model '${modelName}': '${versionDirectory}' has none of ${names.map((name) => `'${name}'`).join(', ')}; ` +
      `it holds ${await listing(versionDirectory)}`,
  });
}

function insidePath({ modelName, versionDirectory }: ModelFileRequest, name: string): string {
  const path = resolve(versionDirectory, name);
  const inside = relative(versionDirectory, path);
  if (!isAbsolute(inside) && inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`)) return path;
  throw new PythonRuntimeError({
    code: 'INVALID_ARG',
    reason: 'file',
    message: `model '${modelName}': default_model_filename is '${name}', which is not inside the version directory '${versionDirectory}'`,
  });
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true;
}

async function listing(directory: string): Promise<string> {
  const names = await readdir(directory).catch(() => undefined);
  if (names === undefined) return 'nothing that can be read';
  return names.length === 0 ? 'nothing' : `${names.slice(0, 10).join(', ')}${names.length > 10 ? ' …' : ''}`;
}
