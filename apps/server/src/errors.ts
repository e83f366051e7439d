import type { StopReport } from '@nereid/serving';

/** The command line is wrong: shown with a hint at the help, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The server cannot start as asked: shown as its sentence, exit code 1. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** The server was told to stop before it had started, and did. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
  readonly report: StopReport;

  constructor(report: StopReport) {
    super('stopped before every model was loaded');
    this.report = report;
  }
}
