import { resolve } from 'node:path';
import type { Backend, CompletionContext, Logger, ModelContext } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { checkStringRanks, inputSpecs, outputSpecs, refuseUnsupported } from './check-config.ts';
import { completeModel } from './completion/complete-model.ts';
import { DEFAULT_MAX_BATCH_SIZE } from './completion/plan-batch.ts';
import { openOperators } from './custom-operators.ts';
import { filesByCapability, locateFile } from './locate-file.ts';
import type { PyTorchModel } from './model.ts';
import { loadNative, type Native } from './native.ts';
import { openModel } from './open-model.ts';
import { readParameters } from './parameters.ts';
import { sequenceTensors } from './sequence-config.ts';
import { usableCores } from './usable-cores.ts';

export interface PyTorchBackendOptions {
  /** Cores to divide among the instances of a model; by default those that affinity mask and control group leave to the process. */
  readonly cores?: number;
  /** Libraries of operators outside torch, opened before the first model and for good. Opening one runs its code. */
  readonly customOps?: readonly string[];
  /** Largest batch of a package that batches and states no bound, when its configuration leaves it out; 4 by default. */
  readonly defaultMaxBatchSize?: number;
}

/** Runs TorchScript modules (`pytorch_libtorch`) and AOTInductor packages (`torch_aoti`) on LibTorch. */
export class PyTorchBackend implements Backend<ModelConfig> {
  readonly name = 'pytorch';
  readonly #cores: number;
  readonly #customOps: readonly string[];
  readonly #defaultMaxBatchSize: number;

  constructor(options: PyTorchBackendOptions = {}) {
    this.#cores = options.cores ?? usableCores();
    this.#customOps = (options.customOps ?? []).map((library) => resolve(library));
    this.#defaultMaxBatchSize = options.defaultMaxBatchSize ?? DEFAULT_MAX_BATCH_SIZE;
  }

  /**
   * Adds what the model file tells: of a package names, datatypes, dims and the largest batch, with the dynamic batcher where it batches; of a
   * module the names. What a file does not state of outputs is learnt by loading the model and running it on zeros within its declared ranges.
   *
   * @throws {PyTorchBackendError} `file`, `parameter`; `signature` with the lines that are missing
   */
  complete(context: CompletionContext<ModelConfig>): Promise<ModelConfig> {
    return completeModel(context, {
      cores: this.#cores,
      defaultMaxBatchSize: this.#defaultMaxBatchSize,
      openNative: () => this.#openNative(context.logger),
      customOps: this.#customOps,
    });
  }

  /**
   * Opens one version: recognises the file, loads it with torch, and proves every name, position, datatype and shape that configuration and
   * file state about each other.
   *
   * @throws {PyTorchBackendError} with the model's name, what was expected, what came and what to do; nothing stays open then
   */
  async load(context: ModelContext<ModelConfig>): Promise<PyTorchModel> {
    const {
      name: modelName,
      version: modelVersion,
      modelDirectory,
      versionDirectory,
      config,
      instances,
      logger,
    } = context;
    refuseUnsupported(modelName, config);
    checkStringRanks(modelName, config);
    const sequences = await sequenceTensors({ modelName, config, modelDirectory, instances });
    const { platform, defaultModelFilename: filename } = config;
    const file = await locateFile({ modelName, versionDirectory, platform, filename });
    const entries = [...config.parameters].map(([key, { stringValue }]) => [key, stringValue] as const);
    const parameters = readParameters({ modelName, engine: file.engine, entries, logger });
    const gpuFiles = filesByCapability({ modelName, versionDirectory }, config.ccModelFilenames);
    const names = config.modelOperations?.opLibraryFilename ?? [];
    return openModel({
      native: await this.#openNative(logger),
      file,
      filesByCapability: gpuFiles,
      modelName,
      modelVersion,
      versionDirectory,
      operators: { modelDirectory, names, allowed: this.#customOps },
      maxBatchSize: config.maxBatchSize,
      inputs: [...inputSpecs(config, modelName), ...sequences.inputs],
      outputs: outputSpecs(config, modelName),
      states: sequences.states,
      parameters,
      instances,
      cores: this.#cores,
      logger,
    });
  }

  /** The addon, with the operators that every model may call. */
  async #openNative(logger: Logger): Promise<Native> {
    const native = await loadNative();
    await openOperators(native, { paths: this.#customOps, prefix: '--custom-ops', logger });
    return native;
  }
}
