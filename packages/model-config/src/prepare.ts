import { deduceBackend, type VersionFile } from './deduce-backend.ts';
import { type ConfigDiagnostic, hasErrors, type Locate, toDiagnostic } from './diagnostic.ts';
import type { ModelConfig } from './generated/types.ts';
import { type InstanceGroupOptions, resolveInstanceGroups } from './instance-groups.ts';
import { normalizeModelConfig } from './normalize.ts';
import { type ParseOptions, parseModelConfig } from './parse.ts';
import { type ValidateOptions, validateModelConfig } from './validate.ts';

export interface PrepareOptions extends ParseOptions, Omit<CompleteOptions, 'locate'> {}

export interface PreparedModelConfig {
  /** Complete and checked. Absent when any diagnostic is an error. */
  readonly config?: ModelConfig;
  readonly diagnostics: readonly ConfigDiagnostic[];
  readonly locate: Locate;
}

/**
 * Turns the text of a configuration into the one a model is loaded with: read, deduce the backend, normalise, resolve instance groups, check.
 *
 * @param text content of config.pbtxt or of a load override; undefined when the model has no configuration file, which equals an empty one
 */
export function prepareModelConfig(text: string | undefined, options: PrepareOptions): PreparedModelConfig {
  const parsed = text === undefined ? parseModelConfig('') : parseModelConfig(text, options);
  if (parsed.config === undefined) return parsed;
  const { locate } = parsed;
  const { config, diagnostics } = completeModelConfig(parsed.config, { ...options, locate });
  const all = [...parsed.diagnostics, ...diagnostics];
  return { ...(!hasErrors(all) && { config }), diagnostics: all, locate };
}

export interface CompleteOptions extends InstanceGroupOptions, Pick<ValidateOptions, 'incomplete' | 'locate'> {
  /** Name of the model directory. */
  readonly directoryName: string;
  /** Content of the version directory that will be loaded; empty when there is none. */
  readonly files: readonly VersionFile[];
  /** Backends that the server can run; default `['pytorch']`. */
  readonly backends?: readonly string[] | undefined;
}

export interface CompletedModelConfig {
  /** Complete; to be used only when no diagnostic is an error. */
  readonly config: ModelConfig;
  readonly diagnostics: readonly ConfigDiagnostic[];
}

/**
 * The steps of `prepareModelConfig` after reading: for a configuration that comes from elsewhere, or that a backend has completed since.
 */
export function completeModelConfig(config: ModelConfig, options: CompleteOptions): CompletedModelConfig {
  const { directoryName, locate } = options;
  const { config: deduced, findings } = deduceBackend(config, { ...options, modelName: config.name || directoryName });
  const named = { ...deduced, name: deduced.name || directoryName };
  const complete = resolveInstanceGroups(normalizeModelConfig(named), options);
  const unknown = findings.map((finding) => toDiagnostic('backend-unknown', finding, locate));
  const broken = validateModelConfig(complete, options);
  // Why there is no backend was said already, with the remedy.
  const news = unknown.length === 0 ? broken : broken.filter(({ reason }) => reason !== 'backend-missing');
  return { config: complete, diagnostics: [...unknown, ...news] };
}
