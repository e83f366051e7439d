/** The command line is wrong: shown with a hint at the help, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The server cannot start as asked: shown as its sentence, exit code 1. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
