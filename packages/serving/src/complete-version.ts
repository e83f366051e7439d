/** Steps 8 and 9 of a load, as far as they concern the configuration: the backend completes it, and it is checked for good. */
import type { ModelConfig } from '@nereid/model-config';
import { ServingError } from './errors.ts';
import type { LoadContext, VersionPlan } from './load-version.ts';

/** What a backend's addition to a configuration is held against. */
export interface Completion {
  /** Whether the model has a configuration file. */
  readonly isConfigured: boolean;
  /** Whether the file states a field. */
  readonly states: (path: string) => boolean;
  /**
   * Normalises and checks a configuration to which nothing will be added any more.
   * @throws {ServingError} with every error, each with its place in the file
   */
  readonly check: (config: ModelConfig) => ModelConfig;
}

/**
 * The plan with its final configuration.
 * @throws {InferenceServerError} from the backend; {ServingError} `no-config`, or what is wrong with the configuration
 */
export async function completeVersion(plan: VersionPlan, context: LoadContext): Promise<VersionPlan> {
  const { completion, config, name, version, modelDirectory } = plan;
  const backend = context.backends.get(config.backend);
  if (completion === undefined || version.fault !== undefined || backend === undefined) return plan;
  const { isConfigured, states } = completion;
  const proposed = await backend.complete?.({
    name,
    version: version.version,
    modelDirectory,
    versionDirectory: version.directory,
    config,
    isConfigured,
    states,
    logger: context.logger,
  });
  if (!isConfigured && (proposed === undefined || proposed === config)) {
    throw new ServingError('no-config', `model configuration is not provided for model '${name}'`);
  }
  return { ...plan, config: completion.check(withAdditions(config, proposed ?? config)) };
}

/** Only what a backend may complete; a scheduler only where none was configured. */
function withAdditions(config: ModelConfig, proposed: ModelConfig): ModelConfig {
  const { maxBatchSize, input, output, dynamicBatching } = proposed;
  const mayBatch = config.dynamicBatching ?? config.sequenceBatching ?? config.ensembleScheduling;
  return {
    ...config,
    maxBatchSize,
    input,
    output,
    ...(mayBatch === undefined && dynamicBatching !== undefined && { dynamicBatching }),
  };
}
