import { type CompletedModelConfig, completeModelConfig, type Locate, type ModelConfig } from '@nereid/model-config';
import { type CandidateModel, listDirectory, selectVersions } from '@nereid/repository';

/** Completes and checks a configuration as a server does for the model it belongs to: with the files of the latest version that it selects. */
export async function completeInPlace(
  config: ModelConfig,
  { model, locate }: { readonly model: CandidateModel; readonly locate: Locate },
): Promise<CompletedModelConfig> {
  const latest = selectVersions(model.versions, config.versionPolicy).selected.at(-1);
  const entries = latest === undefined ? [] : await listDirectory(latest.directory).catch(() => []);
  const files = entries.map(({ name, kind }) => ({ name, isDirectory: kind === 'directory' }));
  return completeModelConfig(config, { directoryName: model.name, files, locate });
}

/** The same for a configuration that belongs to no model directory: any name is right, and there are no files to tell a backend from. */
export function completeAlone(config: ModelConfig, locate: Locate): CompletedModelConfig {
  return completeModelConfig(config, { directoryName: config.name || 'model', files: [], locate });
}
