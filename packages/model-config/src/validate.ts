import { type ConfigDiagnostic, type Locate, toDiagnostic } from './diagnostic.ts';
import type { ModelConfig } from './generated/types.ts';
import { INCOMPLETE_RULES, RULES } from './rules/index.ts';

export interface ValidateOptions {
  /** Name of the model directory; a configuration with another name is refused. Not checked when left out. */
  readonly directoryName?: string | undefined;
  /** Ids of the usable GPUs; left out by a build without GPU support. */
  readonly gpus?: readonly number[] | undefined;
  /** Whether a backend may still complete inputs and outputs: the rules on tensors then wait. Default false. */
  readonly incomplete?: boolean;
  /** Finds a value in the text, as `parseModelConfig` returns it, so that diagnostics carry their place. */
  readonly locate?: Locate | undefined;
}

/**
 * Checks a configuration that was normalised and whose instance groups are resolved against every rule.
 *
 * @returns everything found, rule by rule; empty when the configuration is good. A model with an error must not be loaded; a warning
 * tells of something without effect or likely unintended.
 */
export function validateModelConfig(config: ModelConfig, options: ValidateOptions = {}): ConfigDiagnostic[] {
  const { directoryName, gpus, incomplete = false, locate } = options;
  const context = { config, model: config.name || (directoryName ?? ''), directoryName, gpus };
  const rules = incomplete ? INCOMPLETE_RULES : RULES;
  return [...rules].flatMap(([name, check]) =>
    [...check(context)].map((finding) => toDiagnostic(name, finding, locate)),
  );
}
