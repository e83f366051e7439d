import { basename, join, resolve } from 'node:path';
import { type DirectoryEntry, isVersion, listDirectory } from '@nereid/repository';
import { CliError } from '../errors.ts';

const MODEL_FILES = new Set(['model.pt', 'model.pt2']);

/**
 * Tells a model directory from those around it.
 * @throws {CliError} `not-inspectable`, with what the directory is and what to give instead
 */
export async function assertModelDirectory(path: string): Promise<void> {
  const entries = await listDirectory(path).catch(() => []);
  if (entries.some(({ name, kind }) => name === 'config.pbtxt' || (kind === 'directory' && isVersion(name)))) return;
  const file = entries.find(({ name }) => MODEL_FILES.has(name))?.path;
  if (file !== undefined) {
    const model = isVersion(basename(resolve(path))) ? ` or the model directory '${resolve(path, '..')}'` : '';
    throw new CliError('not-inspectable', `'${path}' is a version directory; inspect '${file}'${model}`);
  }
  const models = await modelsIn(entries);
  throw new CliError(
    'not-inspectable',
    models.length > 0
      ? `'${path}' is a model repository; inspect one of its models: ${models.map((model) => `'${model}'`).join(', ')}`
      : `'${path}' is no model directory: it has neither a config.pbtxt nor a version directory (1, 2 …)`,
  );
}

/** At most a handful, to be named in a sentence. */
async function modelsIn(entries: readonly DirectoryEntry[]): Promise<readonly string[]> {
  const models: string[] = [];
  for (const { path, kind } of entries) {
    if (kind !== 'directory' || models.length === 5) continue;
    const inside = await listDirectory(path).catch(() => []);
    if (inside.some(({ name }) => name === 'config.pbtxt' || isVersion(name))) models.push(join(path));
  }
  return models;
}
