/**
 * Model files that are served without a repository: a temporary one is made for them, with a link to each file in the place where a model
 * directory has it. Nothing is copied.
 */
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { InferenceServerError } from '@nereid/core';
import { platformOfFile } from '@nereid/pytorch-backend';
import { fsFault } from '@nereid/repository';
import { StartError, UsageError } from './errors.ts';

export interface ServedFile {
  readonly path: string;
  /** Of the model. */
  readonly name: string;
}

/**
 * Gives each file the name of its model: those of `names` in turn, then that of the file.
 * @throws {UsageError} for more names than files, one that no directory can have, and a name that two files have
 */
export function namedFiles(files: readonly string[], names: readonly string[]): readonly ServedFile[] {
  if (names.length > files.length) {
    throw new UsageError(
      `--model-name names the model of a FILE: there are ${names.length} names and ${files.length} files`,
    );
  }
  const bad = names.find((name) => !/^[^/\\\0]+$/.test(name) || /^\.+$/.test(name));
  if (bad !== undefined) throw new UsageError(`--model-name '${bad}' cannot name a model: it names a directory`);
  const named = files.map((path, i) => ({ path, name: names[i] ?? nameAfterFile(path) }));
  const twice = named.find(({ name }, i) => named.findIndex((other) => other.name === name) !== i);
  if (twice === undefined) return named;
  throw new UsageError(`two files would be served as model '${twice.name}': give a --model-name for each FILE`);
}

/** Name of the model that a file is served as, without what a directory's name had better not have: `models/My Net.pt2` → `My_Net`. */
export function nameAfterFile(path: string): string {
  const stem = basename(path).replace(/\.pt2?$/i, '');
  return stem.replace(/[^\w.-]+/g, '_').replace(/^[.-]+/, '') || 'model';
}

/** A repository that is gone with the process. */
export interface FileRepository {
  readonly path: string;
  /** Idempotent. The files themselves stay. */
  remove(): void;
}

const FILENAMES = { pytorch_libtorch: 'model.pt', torch_aoti: 'model.pt2' } as const;

/** @throws {StartError} for a file that is missing or no model, with what it is and what to do */
export async function openFileRepository(files: readonly ServedFile[]): Promise<FileRepository> {
  const filenames = await Promise.all(files.map(({ path }) => usualName(path)));
  const repository = await mkdtemp(join(tmpdir(), 'nereid-files-'));
  const remove = () => {
    process.off('exit', remove);
    rmSync(repository, { recursive: true, force: true });
  };
  // A second signal ends the process at once.
  process.on('exit', remove);
  try {
    for (const [i, { path, name }] of files.entries()) {
      const version = join(repository, name, '1');
      await mkdir(version, { recursive: true });
      await symlink(resolve(path), join(version, filenames[i] ?? ''));
    }
  } catch (thrown) {
    remove();
    throw thrown;
  }
  return { path: repository, remove };
}

/** What the file is called where a model directory has it; told by its content. */
async function usualName(path: string): Promise<string> {
  const info = await stat(path).catch((error: unknown) => {
    throw new StartError(`cannot serve '${path}': ${fsFault(error)}`);
  });
  if (info.isDirectory()) {
    throw new StartError(`'${path}' is a directory: give a model file, or a repository with --model-repository`);
  }
  try {
    return FILENAMES[await platformOfFile(resolve(path))];
  } catch (thrown) {
    throw new StartError(InferenceServerError.from(thrown).message);
  }
}
