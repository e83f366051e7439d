import { join } from 'node:path';
import { RepositoryError } from './errors.ts';
import { fsFault } from './fs-fault.ts';
import { type DirectoryEntry, listDirectory } from './list-directory.ts';
import type { CandidateModel, ConfigFile, ModelVersion, RepositoryProblem } from './model.ts';
import { readLimited } from './read-limited.ts';
import { compareVersions, isVersion, versionFault } from './version.ts';

export interface ScanModelOptions {
  readonly configName: string | undefined;
  readonly maxConfigBytes: number;
}

/** Sub-directories of a model that have a job of their own, or that reading the configuration complains of. */
const OTHER_DIRECTORIES: ReadonlySet<string> = new Set(['warmup', 'initial_state', 'configs', 'config.pbtxt']);

/** Reads one model directory: its configuration text and its versions. Never rejects. */
export async function scanModel(
  place: { readonly repository: string; readonly entry: DirectoryEntry },
  options: ScanModelOptions,
): Promise<CandidateModel> {
  const { entry, repository } = place;
  const model = { kind: 'model', name: entry.name, directory: entry.path, repository } as const;
  if (entry.kind === 'unreadable') return { ...model, versions: [], problems: [unreadableModel(entry, entry.fault)] };

  let entries: readonly DirectoryEntry[];
  try {
    entries = await listDirectory(entry.path);
  } catch (error) {
    return { ...model, versions: [], problems: [unreadableModel(entry, fsFault(error))] };
  }
  const { versions, warnings } = findVersions(entries);
  const { config, problem } = await readConfig(entries, options);
  return {
    ...model,
    ...(config === undefined ? {} : { config }),
    versions,
    problems: problem === undefined ? warnings : [problem, ...warnings],
  };
}

function unreadableModel(entry: DirectoryEntry, fault: string): RepositoryProblem {
  return {
    severity: 'error',
    reason: 'unreadable-model',
    path: entry.path,
    message: `cannot read the model directory '${entry.path}': ${fault}`,
  };
}

function findVersions(entries: readonly DirectoryEntry[]): {
  versions: readonly ModelVersion[];
  warnings: readonly RepositoryProblem[];
} {
  const versions: ModelVersion[] = [];
  const warnings: RepositoryProblem[] = [];
  for (const entry of entries) {
    const fault = ignoredBecause(entry);
    if (fault !== undefined) warnings.push(ignored(entry, fault));
    else if (isVersion(entry.name)) versions.push(toVersion(entry));
  }
  versions.sort((a, b) => compareVersions(a.version, b.version));
  return { versions, warnings };
}

function toVersion(entry: DirectoryEntry): ModelVersion {
  const version = { version: entry.name, directory: entry.path };
  return entry.kind === 'unreadable'
    ? { ...version, fault: `cannot read the version directory '${entry.path}': ${entry.fault}` }
    : version;
}

/** `undefined` for versions and for everything that nobody would take for one. */
function ignoredBecause(entry: DirectoryEntry): string | undefined {
  switch (entry.kind) {
    case 'file':
    case 'other':
      return isVersion(entry.name) ? 'it is a file; a version is a directory with the model file inside' : undefined;
    case 'directory':
      return OTHER_DIRECTORIES.has(entry.name) ? undefined : versionFault(entry.name);
    case 'unreadable':
      return undefined;
  }
}

function ignored(entry: DirectoryEntry, fault: string): RepositoryProblem {
  return {
    severity: 'warning',
    reason: 'ignored-version',
    path: entry.path,
    message: `'${entry.path}' is ignored: ${fault}`,
  };
}

async function readConfig(
  entries: readonly DirectoryEntry[],
  options: ScanModelOptions,
): Promise<{ config?: ConfigFile; problem?: RepositoryProblem }> {
  const file = await chooseConfig(entries, options.configName);
  if (file === undefined) return {};
  try {
    const bytes = await readLimited(file, options.maxConfigBytes);
    return { config: { path: file, text: bytes.toString('utf8') } };
  } catch (error) {
    const { message } = RepositoryError.from(error);
    return { problem: { severity: 'error', reason: 'unreadable-config', path: file, message } };
  }
}

/** `configs/<name>.pbtxt` when asked for and present, else `config.pbtxt`, else none. */
async function chooseConfig(
  entries: readonly DirectoryEntry[],
  configName: string | undefined,
): Promise<string | undefined> {
  const configs = entries.find((entry) => entry.name === 'configs');
  if (configName !== undefined && configs !== undefined) {
    const variants = await listDirectory(configs.path).catch(() => []);
    const variant = variants.find((entry) => entry.name === `${configName}.pbtxt`);
    if (variant !== undefined) return variant.path;
    if (configs.kind === 'unreadable') return join(configs.path, `${configName}.pbtxt`);
  }
  return entries.find((entry) => entry.name === 'config.pbtxt')?.path;
}
