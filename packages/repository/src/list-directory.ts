import { readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fsFault } from './fs-fault.ts';

/**
 * One entry of a directory, symbolic links followed.
 *
 * `kind` is `unreadable` when the system does not tell (a broken link, for one); `fault` then says why.
 */
export type DirectoryEntry =
  | { readonly name: string; readonly path: string; readonly kind: 'directory' | 'file' | 'other' }
  | { readonly name: string; readonly path: string; readonly kind: 'unreadable'; readonly fault: string };

/**
 * Lists a directory, ascending by name.
 *
 * @throws the file system's own error when the directory cannot be listed; a bad entry is data
 */
export async function listDirectory(directory: string): Promise<readonly DirectoryEntry[]> {
  const found = await readdir(directory, { withFileTypes: true });
  const entries = await Promise.all(
    found.map((entry) => {
      const path = join(directory, entry.name);
      return entry.isSymbolicLink() ? followLink(entry.name, path) : { name: entry.name, path, kind: kindOf(entry) };
    }),
  );
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function kindOf(entry: { isDirectory(): boolean; isFile(): boolean }): 'directory' | 'file' | 'other' {
  if (entry.isDirectory()) return 'directory';
  return entry.isFile() ? 'file' : 'other';
}

async function followLink(name: string, path: string): Promise<DirectoryEntry> {
  try {
    return { name, path, kind: kindOf(await stat(path)) };
  } catch (error) {
    const target = await readlink(path).catch(() => '?');
    return { name, path, kind: 'unreadable', fault: `it is a broken link to '${target}': ${fsFault(error)}` };
  }
}
