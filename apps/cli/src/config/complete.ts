import {
  type CompletedModelConfig,
  type CompleteOptions,
  completeModelConfig,
  hasErrors,
  type Locate,
  type ModelConfig,
} from '@nereid/model-config';
import { completeByFile, PyTorchBackendError } from '@nereid/pytorch-backend';
import { type CandidateModel, listDirectory, type ModelVersion, selectVersions } from '@nereid/repository';

export interface CompletedInPlace extends CompletedModelConfig {
  /** Why the model file does not make up for what the configuration lacks, with the lines to add; absent when it does. */
  readonly problem?: string;
  /** Whether outputs are left that a server learns from a run of the model. */
  readonly needsRun?: boolean;
}

/** Said of outputs that no file tells. */
export const LEFT_TO_A_RUN = 'datatypes or dims of its outputs are learnt from a run when a server loads the model';

/**
 * Completes and checks a configuration as a server does for the model it belongs to, with the file of the latest version that it selects, but
 * runs nothing.
 */
export async function completeInPlace(
  config: ModelConfig,
  { model, locate }: { readonly model: CandidateModel; readonly locate: Locate },
): Promise<CompletedInPlace> {
  const latest = selectVersions(model.versions, config.versionPolicy).selected.at(-1);
  const entries = latest === undefined ? [] : await listDirectory(latest.directory).catch(() => []);
  const files = entries.map(({ name, kind }) => ({ name, isDirectory: kind === 'directory' }));
  const options: CompleteOptions = { directoryName: model.name, files, locate };
  const deduced = completeModelConfig(config, { ...options, incomplete: true });
  const isSource = deduced.config.runtime.endsWith('.py');
  if (latest === undefined || isSource || hasErrors(deduced.diagnostics)) return completeModelConfig(config, options);
  return completeFromFile(deduced.config, { model, version: latest, options });
}

interface Place {
  readonly model: CandidateModel;
  readonly version: ModelVersion;
  readonly options: CompleteOptions & { readonly locate?: Locate | undefined };
}

async function completeFromFile(config: ModelConfig, { model, version, options }: Place): Promise<CompletedInPlace> {
  try {
    const completed = await completeByFile({
      modelName: model.name,
      versionDirectory: version.directory,
      config,
      isConfigured: model.config !== undefined,
      states: (path) => options.locate?.(path) !== undefined,
    });
    const { needsRun } = completed;
    return { ...completeModelConfig(completed.config, { ...options, incomplete: needsRun }), needsRun };
  } catch (thrown) {
    // What is wrong with the file is told by those who look at it.
    const problem = thrown instanceof PyTorchBackendError && thrown.reason === 'signature' ? thrown.message : undefined;
    if (problem === undefined)
      return completeModelConfig(config, { ...options, incomplete: model.config === undefined });
    const { config: plain, diagnostics } = completeModelConfig(config, options);
    return { config: plain, diagnostics: model.config === undefined ? [] : diagnostics, problem };
  }
}

/** The same for a configuration that belongs to no model directory: any name is right, and there are no files to tell a backend from. */
export function completeAlone(config: ModelConfig, locate: Locate): CompletedModelConfig {
  return completeModelConfig(config, { directoryName: config.name || 'model', files: [], locate });
}
