/** `Backend.complete` of the PyTorch backend. */
import type { CompletionContext } from '@nereid/core';
import { instanceSpecs, type ModelConfig } from '@nereid/model-config';
import { type LocatedFile, locateFile } from '../locate-file.ts';
import type { Native } from '../native.ts';
import { completeConfig, isOpen } from './complete-config.ts';
import { type MeasuredModel, measureOutputs } from './measure.ts';
import { missingError } from './missing.ts';

export interface CompleteModelOptions {
  readonly defaultMaxBatchSize: number;
  readonly cores: number;
  /** Opens the addon, with the operators that every model may call. */
  readonly openNative: () => Promise<Native>;
  /** Absolute paths of libraries of operators that whoever runs the process allows. */
  readonly customOps: readonly string[];
}

/**
 * @returns the same object when nothing was added
 * @throws {PyTorchBackendError} `file`, `parameter`; `signature` with the lines that are missing
 */
export async function completeModel(
  context: CompletionContext<ModelConfig>,
  options: CompleteModelOptions,
): Promise<ModelConfig> {
  const { config, name: modelName, versionDirectory, isConfigured, states, logger } = context;
  if (config.runtime.endsWith('.py')) return config;
  const { platform, defaultModelFilename: filename } = config;
  const file = await locateFile({ modelName, versionDirectory, platform, filename });
  // A module tells no more than its names, so there is nothing to add to what is whole.
  if (file.engine === 'torchscript' && isWhole(config)) return config;
  const { defaultMaxBatchSize } = options;
  const completed = await completeConfig({
    config,
    states,
    file,
    defaultMaxBatchSize,
    measure: (what) => measureOutputs(measuredModel(file, { context, options }), what),
  });
  const error = missingError({ modelName, isConfigured, file, config, completed });
  if (error !== undefined) throw error;
  for (const sentence of config.output.length === 0 ? completed.proposal.outputs.leftOut : []) {
    logger.warn({ model: modelName }, `model '${modelName}': ${sentence}`);
  }
  if (completed.added.length === 0) return config;
  logger.info(
    { model: modelName, added: completed.added },
    `model '${modelName}': completed from '${file.path}': ${completed.added.join(', ')}`,
  );
  return completed.config;
}

function measuredModel(
  file: LocatedFile,
  from: { readonly context: CompletionContext<ModelConfig>; readonly options: CompleteModelOptions },
): MeasuredModel {
  const { config, name: modelName, version: modelVersion, modelDirectory, logger } = from.context;
  const { cores, openNative, customOps: allowed } = from.options;
  logger.info({ model: modelName }, `model '${modelName}': learning its outputs from two runs with zeros`);
  const [instance = CPU] = instanceSpecs(config);
  const operators = { modelDirectory, names: config.modelOperations?.opLibraryFilename ?? [], allowed };
  return { file, modelName, modelVersion, parameters: config.parameters, instance, cores, openNative, operators };
}

const CPU = { name: 'completion', kind: 'KIND_CPU', deviceId: 0 } as const;

function isWhole({ input, output }: ModelConfig): boolean {
  return input.length > 0 && output.length > 0 && ![...input, ...output].some(isOpen);
}
