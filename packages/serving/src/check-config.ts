/** What the engine finds wrong with a configuration before a backend sees the model, for those who only check one. */
import { InferenceServerError } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { locateStrategy } from './batch-strategy/locate.ts';
import { readLabels } from './labels.ts';
import { ignoredFeatures, refusedFeatures } from './unsupported.ts';
import { warmupSamples } from './warmup-data.ts';

export interface ServingFinding {
  /** An error keeps the model from being served. */
  readonly severity: 'error' | 'warning';
  /** Where it stands in the configuration, e.g. `sequence_batching`. */
  readonly path: string;
  readonly message: string;
}

export interface CheckServingOptions {
  /** Absolute path of the model directory. */
  readonly modelDirectory: string;
  /** Largest label file, warmup file and warmup tensor; 64 MiB by default, as the engine's. */
  readonly maxFileBytes?: number;
}

/**
 * Features that the engine refuses or leaves out, and the files that the configuration names: labels, warmup data, a batching strategy.
 * @param config  complete, as it would be loaded
 */
export async function checkServing(
  config: ModelConfig,
  { modelDirectory, maxFileBytes: maxBytes = 64 * 1024 * 1024 }: CheckServingOptions,
): Promise<readonly ServingFinding[]> {
  const place = { modelDirectory, maxBytes };
  return [
    ...refusedFeatures(config).map((feature) => ({ severity: 'error', ...feature }) as const),
    ...ignoredFeatures(config).map((feature) => ({ severity: 'warning', ...feature }) as const),
    ...(await failure('output', readLabels(config, place))),
    ...(await failure('parameters', locateStrategy(config, { modelDirectory }))),
    ...(await failure('model_warmup', warmupSamples(config, place))),
  ];
}

async function failure(path: string, reading: Promise<unknown>): Promise<readonly ServingFinding[]> {
  try {
    await reading;
    return [];
  } catch (thrown) {
    return [{ severity: 'error', path, message: InferenceServerError.from(thrown).message }];
  }
}
