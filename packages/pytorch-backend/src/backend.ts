import type { Backend, ModelContext } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { checkStringRanks, inputSpecs, outputSpecs, refuseUnsupported } from './check-config.ts';
import { locateFile } from './locate-file.ts';
import type { PyTorchModel } from './model.ts';
import { loadNative } from './native.ts';
import { openModel } from './open-model.ts';
import { readParameters } from './parameters.ts';
import { usableCores } from './usable-cores.ts';

export interface PyTorchBackendOptions {
  /** Cores to divide among the instances of a model; by default those that affinity mask and control group leave to the process. */
  readonly cores?: number;
}

/** Runs TorchScript modules (`pytorch_libtorch`) and AOTInductor packages (`torch_aoti`) on LibTorch. */
export class PyTorchBackend implements Backend<ModelConfig> {
  readonly name = 'pytorch';
  readonly #cores: number;

  constructor(options: PyTorchBackendOptions = {}) {
    this.#cores = options.cores ?? usableCores();
  }

  /**
   * Opens one version: recognises the file, loads it with torch, and proves every name, position, datatype and shape that configuration and
   * file state about each other.
   *
   * @throws {PyTorchBackendError} with the model's name, what was expected, what came and what to do; nothing stays open then
   */
  async load(context: ModelContext<ModelConfig>): Promise<PyTorchModel> {
    const { name: modelName, version: modelVersion, versionDirectory, config, instances, logger } = context;
    refuseUnsupported(modelName, config);
    checkStringRanks(modelName, config);
    const { platform, defaultModelFilename: filename } = config;
    const file = await locateFile({ modelName, versionDirectory, platform, filename });
    const entries = [...config.parameters].map(([key, { stringValue }]) => [key, stringValue] as const);
    const parameters = readParameters({ modelName, engine: file.engine, entries, logger });
    return openModel({
      native: await loadNative(),
      file,
      modelName,
      modelVersion,
      maxBatchSize: config.maxBatchSize,
      inputs: inputSpecs(config, modelName),
      outputs: outputSpecs(config, modelName),
      parameters,
      instances,
      cores: this.#cores,
      logger,
    });
  }
}
