/** What is known of a model directory: its configuration, every version's file, and whether they fit each other. */
import { join } from 'node:path';
import { InferenceServerError } from '@nereid/core';
import {
  type ConfigDiagnostic,
  createModelConfig,
  hasErrors,
  type ModelConfig,
  parseModelConfig,
} from '@nereid/model-config';
import { locateModelFile } from '@nereid/python-runtime';
import { checkModelFile } from '@nereid/pytorch-backend';
import {
  type CandidateModel,
  type ModelVersion,
  mapLimited,
  scanModelDirectory,
  selectVersions,
} from '@nereid/repository';
import { type CompletedInPlace, completeInPlace, LEFT_TO_A_RUN } from '../config/complete.ts';
import { type FileReport, inspectFile } from './file-report.ts';

export interface ConfigReport {
  readonly path: string;
  readonly text: string;
  readonly diagnostics: readonly ConfigDiagnostic[];
}

export interface VersionReport {
  readonly version: string;
  readonly directory: string;
  /** Whether the version policy of the configuration selects it. */
  readonly selected: boolean;
  /** Absent when there is no model file, or none that can be recognised as one that is served. */
  readonly file?: FileReport;
  /** Why a server would not load it. */
  readonly problems: readonly string[];
}

export interface DirectoryReport {
  readonly name: string;
  readonly directory: string;
  /** Absent when the model has no configuration file. */
  readonly config?: ConfigReport;
  /** As a server would use it; absent when the text cannot be read. */
  readonly effective?: ModelConfig;
  readonly versions: readonly VersionReport[];
  /** What keeps the model as a whole from being served. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

const VERSIONS_AT_ONCE = 4;

/** Never rejects for a fault of the model: every one is part of the report. */
export async function inspectDirectory(
  directory: string,
  { model }: { readonly model?: string | undefined },
): Promise<DirectoryReport> {
  const found = await scanModelDirectory(directory);
  const { config, effective, problem, needsRun } = await readConfig(found);
  const { selected } = selectVersions(found.versions, effective?.versionPolicy);
  const context = { name: found.name, config: hasErrors(config.diagnostics) ? undefined : effective, model };
  const versions = await mapLimited(found.versions, {
    limit: VERSIONS_AT_ONCE,
    map: async (version) => ({ ...(await inspectVersion(version, context)), selected: selected.includes(version) }),
  });
  return {
    name: found.name,
    directory: found.directory,
    ...(found.config !== undefined && { config }),
    ...(effective !== undefined && { effective }),
    versions,
    problems: [...modelProblems(found, config), ...(problem === undefined ? [] : [problem])],
    warnings: [...messages(found, 'warning'), ...(needsRun ? [LEFT_TO_A_RUN] : [])],
  };
}

function modelProblems(found: CandidateModel, { diagnostics }: ConfigReport): readonly string[] {
  const problems = messages(found, 'error');
  if (found.config === undefined && problems.length === 0 && hasErrors(diagnostics)) {
    const why = diagnostics.map(({ message }) => message).join('; ');
    problems.push(`there is no config.pbtxt, and one is needed: ${why}; nereid inspect --config prints one`);
  }
  if (found.versions.length === 0) {
    problems.push(`it has no version: put the model file into '${join(found.directory, '1')}'`);
  }
  return problems;
}

function messages({ problems }: CandidateModel, severity: 'error' | 'warning'): string[] {
  return problems.filter((problem) => problem.severity === severity).map(({ message }) => message);
}

interface ReadConfig extends Pick<CompletedInPlace, 'problem' | 'needsRun'> {
  readonly config: ConfigReport;
  readonly effective?: ModelConfig;
}

/** A missing file counts as an empty one, as a server takes it. */
async function readConfig(model: CandidateModel): Promise<ReadConfig> {
  const { path = '', text = '' } = model.config ?? {};
  const { config: parsed, diagnostics, locate } = parseModelConfig(text);
  if (parsed === undefined) return { config: { path, text, diagnostics } };
  const { config: effective, diagnostics: found, ...rest } = await completeInPlace(parsed, { model, locate });
  return { ...rest, config: { path, text, diagnostics: [...diagnostics, ...found] }, effective };
}

interface VersionContext {
  readonly name: string;
  /** Absent when it has errors: then nothing is held against it, and the file is looked for under the usual names. */
  readonly config: ModelConfig | undefined;
  readonly model?: string | undefined;
}

async function inspectVersion(
  { version, directory, fault }: ModelVersion,
  { name, config, model }: VersionContext,
): Promise<Omit<VersionReport, 'selected'>> {
  const found = { version, directory };
  if (fault !== undefined) return { ...found, problems: [fault] };
  if (config?.runtime.endsWith('.py')) return { ...found, problems: await sourceProblems(directory, { name, config }) };
  const check = await checkModelFile({
    modelName: name,
    versionDirectory: directory,
    config: config ?? createModelConfig(),
  });
  const problems = config === undefined && check.path !== undefined ? [] : check.problems;
  if (check.path === undefined) return { ...found, problems };
  const chosen = model ?? config?.parameters.get('AOTI_MODEL_NAME')?.stringValue;
  try {
    return { ...found, file: await inspectFile(check.path, { model: chosen }), problems };
  } catch (thrown) {
    return { ...found, problems: [...problems, thrown instanceof Error ? thrown.message : String(thrown)] };
  }
}

/** Python source is not looked into: only whether it is there. */
async function sourceProblems(
  versionDirectory: string,
  { name: modelName, config }: { readonly name: string; readonly config: ModelConfig },
): Promise<readonly string[]> {
  try {
    await locateModelFile({ modelName, versionDirectory, filename: config.defaultModelFilename });
    return [];
  } catch (thrown) {
    return [InferenceServerError.from(thrown).message];
  }
}
