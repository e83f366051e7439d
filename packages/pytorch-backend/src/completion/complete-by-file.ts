/** What can be said of a configuration from the model file alone, for those who have no server and may have no torch. */
import { createModelConfig, type ModelConfig } from '@nereid/model-config';
import { locateFile, recogniseFile } from '../locate-file.ts';
import { usableCores } from '../usable-cores.ts';
import { type CompletedConfig, completeConfig, lacksInputs, lacksOutputs } from './complete-config.ts';
import { measureOutputs } from './measure.ts';
import { missingError } from './missing.ts';
import { DEFAULT_MAX_BATCH_SIZE } from './plan-batch.ts';
import type { ConfigProposal } from './propose.ts';

export interface CompleteByFileOptions {
  readonly modelName: string;
  /** Absolute. */
  readonly versionDirectory: string;
  /** With backend and platform deduced. */
  readonly config: ModelConfig;
  /** Whether the model has a configuration file. */
  readonly isConfigured: boolean;
  /** Whether that file states a field. */
  readonly states: (path: string) => boolean;
}

export interface CompletedByFile {
  readonly config: ModelConfig;
  /** What was added, for people: `max_batch_size 8`, `input 'x'`. */
  readonly added: readonly string[];
  /** Whether a server completes the rest from a run of the model. */
  readonly needsRun: boolean;
}

/**
 * What `PyTorchBackend.complete` does as far as it needs no run of the model: torch is not started.
 * @throws {PyTorchBackendError} as `complete`
 */
export async function completeByFile(options: CompleteByFileOptions): Promise<CompletedByFile> {
  const { config, states, modelName, versionDirectory, isConfigured } = options;
  const { platform, defaultModelFilename: filename } = config;
  const file = await locateFile({ modelName, versionDirectory, platform, filename });
  const completed = await completeConfig({ config, states, file, defaultMaxBatchSize: DEFAULT_MAX_BATCH_SIZE });
  const needsRun = isLeftToARun(completed);
  const error = missingError({ modelName, isConfigured, file, config, completed });
  if (error !== undefined && !needsRun) throw error;
  return { config: completed.config, added: completed.added, needsRun };
}

/** Inputs that are stated and outputs that have names: the rest shows when it runs. */
function isLeftToARun(completed: CompletedConfig): boolean {
  return !lacksInputs(completed) && lacksOutputs(completed) && completed.config.output.length > 0;
}

/**
 * The `platform` that a model file is for, by its content.
 * @throws {PyTorchBackendError} `file`, with what the file is and what to do
 */
export async function platformOfFile(path: string): Promise<'pytorch_libtorch' | 'torch_aoti'> {
  return (await recogniseFile(path, path)) === 'aoti' ? 'torch_aoti' : 'pytorch_libtorch';
}

export interface ProposeOptions {
  /** Which model of a package; its own choice by default. */
  readonly model?: string | undefined;
  /** Whether to load and run the model for what the file does not state; false by default, which starts no torch. Trust the file where it is true. */
  readonly run?: boolean | undefined;
}

/**
 * What the configuration of a model file has to say, and what is left to fill in.
 * @throws {PyTorchBackendError} `file`, with what else it is; {ModelArchiveError} when it cannot be read
 */
export async function proposeByFile(
  path: string,
  { model, run = false }: ProposeOptions = {},
): Promise<ConfigProposal> {
  const file = { path, engine: await recogniseFile(path, path) };
  const parameters = new Map(model === undefined ? [] : [['AOTI_MODEL_NAME', { stringValue: model }]]);
  const instance = { name: path, kind: 'KIND_CPU', deviceId: 0 } as const;
  const { proposal } = await completeConfig({
    config: createModelConfig({ parameters }),
    states: () => false,
    file,
    defaultMaxBatchSize: DEFAULT_MAX_BATCH_SIZE,
    measure: run
      ? (what) =>
          measureOutputs({ file, parameters, modelName: path, modelVersion: '', instance, cores: usableCores() }, what)
      : undefined,
  });
  return proposal;
}
