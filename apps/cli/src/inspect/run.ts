import { stat } from 'node:fs/promises';
import { modelConfigToJson } from '@nereid/model-config';
import { proposeByFile } from '@nereid/pytorch-backend';
import { fsFault } from '@nereid/repository';
import type { InspectOptions } from '../commands/inspect.ts';
import { CliError } from '../errors.ts';
import { type Io, printLine } from '../io.ts';
import { hasColor, paintFor } from '../output/style.ts';
import { assertModelDirectory } from './assert-model-directory.ts';
import { type DirectoryReport, inspectDirectory } from './directory-report.ts';
import { directoryText } from './directory-text.ts';
import { type FileReport, inspectFile } from './file-report.ts';
import { fileText } from './file-text.ts';
import { refuseModelOption, servable } from './servable.ts';
import { writeConfig } from './write-config.ts';

/** `nereid inspect`. @returns 1 when the model cannot be served as it is, or --config left something open */
export async function runInspect(path: string, options: InspectOptions, io: Io): Promise<number> {
  const info = await stat(path).catch((error: unknown) => {
    throw new CliError('unreadable', `cannot read '${path}': ${fsFault(error)}`, { cause: error });
  });
  return info.isDirectory() ? runDirectory(path, options, io) : runFile(path, options, io);
}

async function runFile(path: string, options: InspectOptions, io: Io): Promise<number> {
  const report = await inspectFile(path, { model: options.model });
  refuseModelOption(report, options);
  if (options.config) return printConfig(report, io);
  printLine(io.stdout, options.json ? JSON.stringify(report, null, 2) : fileText(report, paintFor(io.stdout, io)));
  return report.problems.length > 0 ? 1 : 0;
}

async function runDirectory(path: string, options: InspectOptions, io: Io): Promise<number> {
  await assertModelDirectory(path);
  const report = await inspectDirectory(path, { model: options.model });
  if (options.config) return printConfig(latestFile(report), io);
  const style = { paint: paintFor(io.stdout, io), color: hasColor(io.stdout, io) };
  printLine(io.stdout, options.json ? directoryJson(report) : directoryText(report, style));
  return isServable(report) ? 0 : 1;
}

/** @throws {CliError} when no version has a file */
function latestFile({ directory, versions }: DirectoryReport): FileReport {
  const file = versions.findLast((version) => version.file !== undefined)?.file;
  if (file !== undefined) return file;
  const why = versions.flatMap(({ problems }) => problems).at(-1);
  throw new CliError(
    'not-inspectable',
    `'${directory}' has no model file to write a configuration for${why ? `: ${why}` : ''}`,
  );
}

function isServable({ problems, config, versions }: DirectoryReport): boolean {
  const isFine = ({ problems, file }: DirectoryReport['versions'][number]) =>
    problems.length === 0 && (file?.problems.length ?? 0) === 0;
  const hasErrors = config?.diagnostics.some(({ severity }) => severity === 'error') ?? false;
  return problems.length === 0 && !hasErrors && versions.every(isFine);
}

/** The configuration in the form of the config endpoint; its text is left out. */
function directoryJson({ config, effective, ...report }: DirectoryReport): string {
  return JSON.stringify(
    {
      ...report,
      ...(config && { config: { path: config.path, diagnostics: config.diagnostics } }),
      ...(effective && { effective: JSON.parse(modelConfigToJson(effective)) as unknown }),
    },
    null,
    2,
  );
}

async function printConfig(found: FileReport, io: Io): Promise<number> {
  const report = servable(found);
  const model = report.kind === 'aoti' ? report.model : undefined;
  const { text, open } = writeConfig(report, await proposeByFile(report.path, { model }));
  io.stdout.write(text);
  return printOpen(open, io) ? 1 : 0;
}

/** What is left to fill in. @returns whether there is something */
export function printOpen(open: readonly string[], io: Io): boolean {
  const paint = paintFor(io.stderr, io);
  for (const sentence of open) printLine(io.stderr, `${paint('yellow', 'fill in:')} ${sentence}`);
  return open.length > 0;
}
