import { writeFile } from 'node:fs/promises';
import { fsFault } from '@nereid/repository';
import { CliError } from '../errors.ts';

/** @throws {CliError} `unreadable`, with what keeps the file from being written */
export async function writeOrExplain(path: string, content: string | Uint8Array): Promise<void> {
  try {
    await writeFile(path, content);
  } catch (error) {
    throw new CliError('unreadable', `cannot write '${path}': ${writeFault(error)}`, { cause: error });
  }
}

/** What keeps a file or directory from being written, in words. */
export function writeFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'permission denied; choose another place';
  if (code === 'ENOSPC') return 'the disk is full';
  if (code === 'EISDIR') return 'it is a directory';
  if (code === 'EEXIST') return 'a file of that name is in the way';
  return fsFault(error);
}
