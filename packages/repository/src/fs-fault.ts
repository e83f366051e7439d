/** What went wrong with a file or directory, in words that name the remedy. */
export function fsFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return 'permission denied; give the user that runs the server read access (and execute access on directories)';
    case 'ENOENT':
      return 'it does not exist';
    case 'ENOTDIR':
      return 'a part of the path is not a directory';
    case 'ELOOP':
      return 'its symbolic links form a loop';
    case 'EIO':
      return 'the disk reports an input/output error';
    case 'EMFILE':
    case 'ENFILE':
      return 'too many files are open; raise the limit (ulimit -n)';
    case 'ENAMETOOLONG':
      return 'its path is too long';
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
