/**
 * Confines files that a configuration names to a directory.
 *
 * A path is inside when, links resolved, it equals the directory or begins with the directory and a separator. The tail of a path that does
 * not exist yet is taken literally, so the check also serves for files to be written.
 */
import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { RepositoryError } from './errors.ts';
import { fsFault } from './fs-fault.ts';

/**
 * Resolves `path` (relative to `directory`, or absolute) to its canonical form.
 *
 * @param directory  must exist
 * @throws {RepositoryError} `escapes-directory` when it lies outside; `unreadable` when the system refuses to resolve one of the two
 */
export async function resolveInside(directory: string, path: string): Promise<string> {
  if (path.includes('\0')) throw new RepositoryError('unreadable', 'a path must not contain a NUL character');
  const parent = await canonical(directory, { mayBeMissing: false });
  const child = await canonical(resolve(parent, path), { mayBeMissing: true });
  const prefix = parent.endsWith(sep) ? parent : parent + sep;
  if (child === parent || child.startsWith(prefix)) return child;
  throw new RepositoryError(
    'escapes-directory',
    `'${path}' escapes the directory '${directory}': it leads to '${child}'. Put the file into the directory and name it relative to it.`,
  );
}

/** `realpath` of the longest part that exists, the rest appended. A link whose target is missing counts as its target. */
async function canonical(path: string, options: { mayBeMissing: boolean }): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!missing || !options.mayBeMissing || dirname(path) === path) {
      throw new RepositoryError('unreadable', `cannot resolve '${path}': ${fsFault(error)}`, { cause: error });
    }
    const parent = await canonical(dirname(path), options);
    const target = await readlink(join(parent, basename(path))).catch(() => undefined);
    return target === undefined ? join(parent, basename(path)) : canonical(resolve(parent, target), options);
  }
}
