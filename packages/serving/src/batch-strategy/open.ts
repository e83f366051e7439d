import type { BatchStrategy, StrategyContext } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { ServingError } from '../errors.ts';
import { locateStrategy, type StrategyFile, unusedStrategy } from './locate.ts';
import { openModule } from './open-module.ts';

/** Where batching strategies come from, beside the JS modules of the models' own directories. */
export interface BatchStrategyOptions {
  /** Opens a shared library with Triton's C interface (`batchstrategy.so`), by its absolute path. Without it a model that has one is refused. */
  readonly openLibrary?:
    | ((library: string, context: StrategyContext<ModelConfig>) => Promise<BatchStrategy>)
    | undefined;
  /** Absolute path of a directory with a directory per backend, looked into last: `<backendDirectory>/<backend>/batchstrategy.so`. */
  readonly backendDirectory?: string | undefined;
}

/**
 * Opens the strategy of a model version, if it has one. Runs code that whoever runs the server put there.
 * @throws {InferenceServerError} with the model, the file and what is wrong with it
 */
export async function openStrategy(
  context: StrategyContext<ModelConfig>,
  options: BatchStrategyOptions,
): Promise<BatchStrategy | undefined> {
  const { name, config, logger, modelDirectory, versionDirectory } = context;
  const unused = unusedStrategy(config);
  if (unused !== undefined) logger.warn({ model: name }, unused);
  const { backendDirectory } = options;
  const file = await locateStrategy(config, { modelDirectory, versionDirectory, backendDirectory });
  if (file === undefined) return undefined;
  const strategy = await openFile(file, { context, openLibrary: options.openLibrary });
  logger.info({ model: name, strategy: file.path }, `model '${name}' batches by the strategy '${file.path}'`);
  return strategy;
}

async function openFile(
  { kind, path }: StrategyFile,
  {
    context,
    openLibrary,
  }: Pick<BatchStrategyOptions, 'openLibrary'> & { readonly context: StrategyContext<ModelConfig> },
): Promise<BatchStrategy> {
  if (kind === 'module') return openModule(path, context);
  if (openLibrary !== undefined) return openLibrary(path, context);
  throw new ServingError(
    'unsupported',
    `model '${context.name}' has the batching library '${path}', and this server opens none; give the engine an openLibrary, or write the strategy in JavaScript`,
  );
}
