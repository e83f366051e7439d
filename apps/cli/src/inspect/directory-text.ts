/** A report on a model directory, for people. */
import { relative } from 'node:path';
import { formatConfigDiagnostic, hasErrors } from '@nereid/model-config';
import { printable, printableLines } from '../output/printable.ts';
import type { Paint } from '../output/style.ts';
import type { ConfigReport, DirectoryReport, VersionReport } from './directory-report.ts';
import { fileText } from './file-text.ts';

/** Ends with a newline. */
export function directoryText(
  report: DirectoryReport,
  { paint, color }: { readonly paint: Paint; readonly color: boolean },
): string {
  return [
    `${paint('bold', printable(report.name))}: model directory, ${countVersions(report.versions.length)}\n`,
    ...(report.config === undefined
      ? [`config: none${report.problems.length > 0 ? '' : COMPLETED}\n`]
      : [configText(report.config, { paint, color })]),
    ...report.problems.map((text) => `${paint('red', 'problem:')} ${printableLines(text)}\n`),
    ...report.warnings.map((text) => `${paint('yellow', 'warning:')} ${printable(text)}\n`),
    ...report.versions.map((version) => `\n${versionText(version, paint)}`),
  ].join('');
}

const COMPLETED = ', a server completes it from the model file; nereid inspect --config prints one';

function countVersions(count: number): string {
  return count === 1 ? '1 version' : `${count} versions`;
}

function configText(
  config: ConfigReport,
  { paint, color }: { readonly paint: Paint; readonly color: boolean },
): string {
  const { path, text, diagnostics } = config;
  const file = relative('', path) || path;
  const verdict = hasErrors(diagnostics) ? paint('red', 'has errors') : paint('green', 'ok');
  const lines = diagnostics.map((diagnostic) => `${formatConfigDiagnostic(diagnostic, { text, file, color })}\n`);
  return `config: ${printable(file)} ${verdict}\n${lines.join('')}`;
}

function versionText({ version, selected, file, problems }: VersionReport, paint: Paint): string {
  const known = new Set(file?.problems);
  const news = problems.filter((problem) => !known.has(problem));
  const verdict = problems.length + known.size === 0 ? paint('green', 'ok') : paint('red', 'has problems');
  return [
    `${paint('bold', `version ${version}`)}: ${verdict}${selected ? '' : ' (not selected by the version policy)'}\n`,
    ...(file === undefined ? [] : [fileText(file, paint)]),
    ...news.map((problem) => `${paint('red', 'problem:')} ${printable(problem)}\n`),
  ].join('');
}
