/** Everything that can be wrong with one model directory, as far as it shows without loading it. */

import { listCustomOperators } from '@nereid/model-archive';
import { parseModelConfig } from '@nereid/model-config';
import { selectVersions } from '@nereid/repository';
import { checkServing } from '@nereid/serving';
import { type DirectoryReport, inspectDirectory, type VersionReport } from '../inspect/directory-report.ts';
import type { FileReport } from '../inspect/file-report.ts';
import type { CheckProblem } from './problem.ts';

export interface CheckModelOptions {
  /** Whether operators outside torch are brought by a library that is known to be there. */
  readonly hasCustomOps: boolean;
}

export interface CheckedModel {
  readonly name: string;
  readonly directory: string;
  /** Versions that its policy selects, ascending. */
  readonly versions: readonly string[];
  readonly problems: readonly CheckProblem[];
}

type Finding = Omit<CheckProblem, 'model'>;

/** Never rejects for a fault of the model. */
export async function checkModel(directory: string, options: CheckModelOptions): Promise<CheckedModel> {
  const report = await inspectDirectory(directory, {});
  const selected = report.versions.filter((version) => version.selected);
  const versions = await Promise.all(
    report.versions.map((version) => versionFindings(version, { report, ...options })),
  );
  const findings: readonly Finding[] = [
    ...configFindings(report),
    ...report.problems.map((message): Finding => ({ severity: 'error', message })),
    ...report.warnings.map((message): Finding => ({ severity: 'warning', message })),
    ...policyFindings(report),
    ...(await servingFindings(report)),
    ...versions.flat(),
  ];
  return {
    name: report.name,
    directory: report.directory,
    versions: selected.map(({ version }) => version),
    problems: findings.map((finding) => ({ model: report.name, ...finding })),
  };
}

function configFindings({ config }: DirectoryReport): readonly Finding[] {
  if (config === undefined) return [];
  const { path: file, diagnostics } = config;
  return diagnostics.map(({ severity, message, span }) => ({ severity, file, ...placeOf(span), message }));
}

function placeOf(span: { readonly start: { readonly line: number; readonly column: number } } | undefined) {
  return span === undefined ? {} : { line: span.start.line, column: span.start.column };
}

function policyFindings({ effective, versions }: DirectoryReport): readonly Finding[] {
  if (effective === undefined || versions.length === 0) return [];
  const { selected, absent } = selectVersions(versions, effective.versionPolicy);
  const findings = absent.map((version): Finding => {
    return {
      severity: 'error',
      message: `version ${version} is in the version policy, but there is no such directory`,
    };
  });
  if (selected.length > 0) return findings;
  const there = versions.map(({ version }) => version).join(', ');
  return [...findings, { severity: 'error', message: `the version policy selects no version; there are ${there}` }];
}

async function servingFindings({ effective, directory, config }: DirectoryReport): Promise<readonly Finding[]> {
  if (effective === undefined) return [];
  const { locate } = parseModelConfig(config?.text ?? '');
  const found = await checkServing(effective, { modelDirectory: directory });
  return found.map(({ severity, path, message }) => ({
    severity,
    ...(config !== undefined && { file: config.path, ...placeOf(locate(path)) }),
    message,
  }));
}

interface VersionContext extends CheckModelOptions {
  readonly report: DirectoryReport;
}

async function versionFindings(
  { version, selected, problems, file }: VersionReport,
  context: VersionContext,
): Promise<readonly Finding[]> {
  const messages = new Set([
    ...problems,
    ...(file?.problems ?? []),
    ...(file === undefined ? [] : [...deviceProblems(file, context), ...(await operatorProblems(file, context))]),
  ]);
  // What is not loaded harms nobody yet.
  const severity = selected ? 'error' : 'warning';
  return [...messages].map((message) => ({ severity, version, message }));
}

function deviceProblems(file: FileReport, { report: { effective } }: VersionContext): readonly string[] {
  if (file.kind !== 'aoti' || file.target.device === undefined) return [];
  const { device } = file.target;
  return (effective?.instanceGroup ?? [])
    .filter(({ kind }) => kind !== 'KIND_MODEL' && (kind === 'KIND_GPU' ? 'cuda' : 'cpu') !== device)
    .map(
      ({ name, kind }) => `The package was compiled for device '${device}', but instance group '${name}' is ${kind}.`,
    );
}

/** Best effort: read from the archive's code, not asked of torch. */
async function operatorProblems(
  file: FileReport,
  { report: { effective }, hasCustomOps }: VersionContext,
): Promise<readonly string[]> {
  const configured =
    (effective?.modelOperations?.opLibraryFilename.length ?? 0) > 0 ||
    effective?.parameters.has('CUSTOM_OPS_LIBRARIES');
  if (file.kind !== 'torchscript' || hasCustomOps || configured) return [];
  const operators = await listCustomOperators(file.path);
  if (operators.length === 0) return [];
  return [
    `the code of the model calls operators that are not PyTorch's: ${operators.join(', ')} (as its text tells; torch was not asked). Name their ` +
      'library with model_operations { op_library_filename: "…" }, or check with --custom-ops LIB if the server is started with it.',
  ];
}
