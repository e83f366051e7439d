import { CliError } from '../errors.ts';
import { type FileReport, type InspectFileOptions, inspectFile } from './file-report.ts';
import type { ModelReport } from './write-config.ts';

/**
 * The report on a file that is served.
 * @throws {CliError} `not-inspectable`, with what the file is and what to do, for another kind; `usage` for a model of a file that has one
 */
export async function inspectServable(path: string, options: InspectFileOptions): Promise<ModelReport> {
  const report = await inspectFile(path, options);
  refuseModelOption(report, options);
  return servable(report);
}

/** @throws {CliError} `usage` when a model is chosen of a file that is no package */
export function refuseModelOption(report: FileReport, { model }: InspectFileOptions): void {
  if (model === undefined || report.kind === 'aoti') return;
  throw new CliError('usage', `--model chooses a model of an AOTInductor package, but ${report.summary}`);
}

/** @throws {CliError} `not-inspectable`, with what the file is and what to do */
export function servable(report: FileReport): ModelReport {
  if (report.kind === 'aoti' || report.kind === 'torchscript') return report;
  throw new CliError('not-inspectable', `${report.summary} ${report.remedy}`.trim());
}
