/**
 * The part of a load that concerns a model as a whole: read the configuration, choose versions, deduce and check. What fails here leaves the
 * model without versions. Source: the load pipeline of Triton core, steps 1 to 6; one difference: the reason is kept for the index.
 */
import type { Backend, Logger } from '@nereid/core';
import {
  type ConfigDiagnostic,
  completeModelConfig,
  type Locate,
  type ModelConfig,
  parseModelConfig,
} from '@nereid/model-config';
import { type CandidateModel, fsFault, listDirectory, type ModelVersion, selectVersions } from '@nereid/repository';
import type { Completion } from './complete-version.ts';
import { ServingError } from './errors.ts';
import type { VersionPlan } from './load-version.ts';
import { ignoredFeatures, refusedFeatures, type UnsupportedFeature } from './unsupported.ts';

export interface PrepareOptions {
  /** By name. */
  readonly backends: ReadonlyMap<string, Backend<ModelConfig>>;
  readonly gpus: readonly number[] | undefined;
  /** Whether a model without a configuration file is refused, and backends complete nothing. */
  readonly requireConfig: boolean;
  readonly logger: Logger;
}

/**
 * Works out what to load of a model.
 * @returns one plan per version that the policy selects, ascending
 * @throws {ServingError} with everything that is wrong with the configuration, each with its place in the file
 */
export async function prepareModel(model: CandidateModel, options: PrepareOptions): Promise<readonly VersionPlan[]> {
  reportProblems(model, options.logger);
  if (options.requireConfig) requireConfigFile(model);
  const parsed = readConfig(model, options.logger);
  const versions = await checkListing(chooseVersions(model, { config: parsed.config, logger: options.logger }));
  refuseUnsupported(model, parsed);
  const { config, completion } = completeConfig(model, { ...options, parsed, versions });
  const { name, directory: modelDirectory } = model;
  return versions.map(({ version }) => ({ name, modelDirectory, version, config, completion }));
}

/** @throws {ServingError} for problems that keep the model from being read; warns of the others */
function reportProblems(model: CandidateModel, logger: Logger): void {
  const errors = model.problems.filter((problem) => problem.severity === 'error');
  for (const problem of model.problems) {
    if (problem.severity === 'warning') logger.warn({ model: model.name }, problem.message);
  }
  if (errors.length > 0) throw new ServingError('bad-model', errors.map((problem) => problem.message).join('; '));
}

/** @throws {ServingError} when there is no file to take the configuration from */
function requireConfigFile(model: CandidateModel): void {
  if (model.config !== undefined) return;
  throw new ServingError(
    'bad-model',
    `model '${model.name}' has no config.pbtxt in '${model.directory}', and completing configurations is turned off; write one`,
  );
}

interface ReadConfig {
  readonly config: ModelConfig;
  readonly locate: Locate;
}

/** A missing file counts as an empty one: the model file may tell the rest. */
function readConfig(model: CandidateModel, logger: Logger): ReadConfig {
  const { config, diagnostics, locate } = parseModelConfig(model.config?.text ?? '');
  judge(model, { diagnostics, logger });
  if (config === undefined) throw new ServingError('bad-model', `the configuration of '${model.name}' cannot be read`);
  return { config, locate };
}

function chooseVersions(
  model: CandidateModel,
  from: { readonly config: ModelConfig; readonly logger: Logger },
): readonly ModelVersion[] {
  const { selected, absent } = selectVersions(model.versions, from.config.versionPolicy);
  for (const version of absent) {
    from.logger.error(
      { model: model.name, version },
      `version ${version} of model '${model.name}' is in its version policy, but '${model.directory}/${version}' does not exist`,
    );
  }
  if (selected.length > 0) return selected;
  throw new ServingError(
    'bad-model',
    `at least one version must be available under the version policy of model '${model.name}'; ` +
      (model.versions.length === 0
        ? `create '${model.directory}/1' and put the model file into it`
        : `its version directories are ${model.versions.map((version) => version.version).join(', ')}`),
  );
}

interface ListedVersion {
  /** With a fault when its directory cannot be listed. */
  readonly version: ModelVersion;
  readonly files: readonly { readonly name: string; readonly isDirectory: boolean }[];
}

function checkListing(versions: readonly ModelVersion[]): Promise<readonly ListedVersion[]> {
  return Promise.all(versions.map(listVersion));
}

async function listVersion(version: ModelVersion): Promise<ListedVersion> {
  if (version.fault !== undefined) return { version, files: [] };
  try {
    const entries = await listDirectory(version.directory);
    return { version, files: entries.map(({ name, kind }) => ({ name, isDirectory: kind === 'directory' })) };
  } catch (error) {
    const fault = `cannot read the version directory '${version.directory}': ${fsFault(error)}`;
    return { version: { ...version, fault }, files: [] };
  }
}

/** Deduces from the files of the latest version that can be listed. What the backend may complete is not checked before it did. */
function completeConfig(
  model: CandidateModel,
  from: PrepareOptions & { readonly parsed: ReadConfig; readonly versions: readonly ListedVersion[] },
): Pick<VersionPlan, 'config' | 'completion'> {
  const listed = from.versions.findLast(({ version }) => version.fault === undefined);
  if (listed === undefined) {
    throw new ServingError('bad-model', from.versions.map(({ version }) => version.fault).join('; '));
  }
  const { locate } = from.parsed;
  /** Warnings are given once, though every version is checked again when it is complete. */
  const said = new Set<string>();
  const complete = (given: ModelConfig, incomplete: boolean): ModelConfig => {
    const { config, diagnostics } = completeModelConfig(given, {
      directoryName: model.name,
      files: listed.files,
      backends: [...from.backends.keys()],
      gpus: from.gpus,
      locate,
      incomplete,
    });
    const news = diagnostics.filter(({ severity, message }) => severity === 'error' || !said.has(message));
    for (const { message } of news) said.add(message);
    judge(model, { diagnostics: news, logger: from.logger });
    return config;
  };
  const config = complete(from.parsed.config, !from.requireConfig);
  for (const feature of ignoredFeatures(config))
    from.logger.warn({ model: model.name }, placed(model, feature, locate));
  if (from.requireConfig) return { config };
  const completion: Completion = {
    isConfigured: model.config !== undefined,
    states: (path) => locate(path) !== undefined,
    check: (completed) => complete(completed, false),
  };
  return { config, completion };
}

/** @throws {ServingError} UNSUPPORTED `unsupported`, with every feature that cannot be left out */
function refuseUnsupported(model: CandidateModel, { config, locate }: ReadConfig): void {
  const refused = refusedFeatures({ ...config, name: model.name });
  if (refused.length === 0) return;
  throw new ServingError('unsupported', refused.map((feature) => placed(model, feature, locate)).join('; '));
}

/** @throws {ServingError} with every error among the diagnostics; logs the warnings */
function judge(
  model: CandidateModel,
  found: { readonly diagnostics: readonly ConfigDiagnostic[]; readonly logger: Logger },
): void {
  const say = (diagnostic: ConfigDiagnostic): string => inOneLine(diagnostic, model.config?.path);
  const errors = found.diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  for (const diagnostic of found.diagnostics) {
    if (diagnostic.severity === 'warning') found.logger.warn({ model: model.name }, say(diagnostic));
  }
  if (errors.length > 0) throw new ServingError('bad-model', errors.map(say).join('; '));
}

function placed(model: CandidateModel, feature: UnsupportedFeature, locate: Locate): string {
  return inOneLine({ message: feature.message, span: locate(feature.path) }, model.config?.path);
}

/** `…/config.pbtxt:3:5: message`. */
function inOneLine(
  problem: { readonly message: string; readonly span?: ConfigDiagnostic['span'] },
  file: string | undefined,
): string {
  if (file === undefined) return problem.message;
  const place = problem.span?.start;
  return place === undefined
    ? `${file}: ${problem.message}`
    : `${file}:${place.line}:${place.column}: ${problem.message}`;
}
