/**
 * The part of a load that concerns a model as a whole: read the configuration, choose versions, deduce and check. What fails here leaves the
 * model without versions. Source: the load pipeline of Triton core, steps 1 to 6; one difference: the reason is kept for the index.
 */
import type { Logger } from '@nereid/core';
import {
  type ConfigDiagnostic,
  completeModelConfig,
  type Locate,
  type ModelConfig,
  parseModelConfig,
} from '@nereid/model-config';
import { type CandidateModel, fsFault, listDirectory, type ModelVersion, selectVersions } from '@nereid/repository';
import { ServingError } from './errors.ts';
import type { VersionPlan } from './load-version.ts';
import { ignoredFeatures, refusedFeatures, type UnsupportedFeature } from './unsupported.ts';

export interface PrepareOptions {
  /** Names of the backends there are. */
  readonly backends: readonly string[];
  readonly gpus: readonly number[] | undefined;
  /** Whether a model without a configuration file is refused. */
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
  const config = completeConfig(model, { ...options, parsed, versions });
  const { name, directory: modelDirectory } = model;
  return versions.map(({ version }) => ({ name, modelDirectory, version, config }));
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

/** Deduces from the files of the latest version that can be listed. */
function completeConfig(
  model: CandidateModel,
  from: PrepareOptions & { readonly parsed: ReadConfig; readonly versions: readonly ListedVersion[] },
): ModelConfig {
  const listed = from.versions.findLast(({ version }) => version.fault === undefined);
  if (listed === undefined) {
    throw new ServingError('bad-model', from.versions.map(({ version }) => version.fault).join('; '));
  }
  const { config, diagnostics } = completeModelConfig(from.parsed.config, {
    directoryName: model.name,
    files: listed.files,
    backends: from.backends,
    gpus: from.gpus,
    locate: from.parsed.locate,
  });
  judge(model, { diagnostics, logger: from.logger });
  for (const feature of ignoredFeatures(config)) {
    from.logger.warn({ model: model.name }, placed(model, feature, from.parsed.locate));
  }
  return config;
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
