import type { Backend, ModelContext } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { defaultCacheDirectory, type ExecutionEnvironment, openEnvironment } from './execution-environment.ts';
import { findPython } from './find-python.ts';
import { locateModelFile } from './locate-model-file.ts';
import { PythonModel } from './model.ts';
import { planModel } from './model-plan.ts';
import type { ModelProcessOptions } from './model-process.ts';
import { readParameters } from './parameters.ts';

export interface PythonRuntimeOptions {
  /**
   * Interpreter with torch, as a path or command. By default `NEREID_PYTHON`, else the active virtual environment, else the nearest `.venv` at or above the working
   * directory, else `python3`.
   */
  readonly python?: string;
  /** Environment of models without parameter EXECUTION_ENV_PATH: an archive as conda-pack makes it, or a directory. None by default. */
  readonly executionEnvPath?: string;
  /** Where archives are unpacked, once per content. `$XDG_CACHE_HOME/nereid/python` or `~/.cache/nereid/python` by default. */
  readonly cacheDirectory?: string;
  /**
   * Responses of one request to a decoupled model that its client may not have taken yet (`release`), 1 at least; its generator stands still until one is, so that
   * slow readers do not fill the memory. Default 16.
   */
  readonly maxUnreleasedResponses?: number;
  /** Calls of `forward` of a decoupled model that an instance runs side by side, 1 at least; others wait in the queue. Default 16. */
  readonly maxConcurrentStreams?: number;
  /** Time-outs, restarts and limits of the processes. */
  readonly process?: ModelProcessOptions;
}

/** The `runtime` of the configurations that are for this backend. */
const RUNTIME = 'model.py';

/** Runs PyTorch models written in Python (`backend: "pytorch"`, `runtime: "model.py"`): one Python process per model instance. */
export class PythonRuntimeBackend implements Backend<ModelConfig> {
  readonly name = 'pytorch';
  readonly #options: PythonRuntimeOptions;

  constructor(options: PythonRuntimeOptions = {}) {
    this.#options = options;
  }

  /** Whether a configuration of backend `pytorch` is for this one, rather than for the one that runs model files natively. */
  accepts(config: ModelConfig): boolean {
    return config.runtime === RUNTIME;
  }

  /**
   * Opens one version: checks configuration and parameters, finds the file and the Python. The model's code runs for the first time when an instance is
   * created.
   *
   * @throws {PythonRuntimeError} with the model's name, what was expected, what came and what to do
   */
  async load(context: ModelContext<ModelConfig>): Promise<PythonModel> {
    const { name: modelName, version, modelDirectory, versionDirectory, config, logger } = context;
    const plan = planModel(config, { name: modelName, version });
    const texts = new Map([...config.parameters].map(([key, { stringValue }]) => [key, stringValue]));
    const parameters = readParameters({ modelName, texts, logger });
    const file = await locateModelFile({ modelName, versionDirectory, filename: config.defaultModelFilename });
    const path = parameters.executionEnvPath ?? this.#options.executionEnvPath;
    const environment = await this.#environment(path, context);
    const { maxUnreleasedResponses: maxUnreleased = 16, maxConcurrentStreams: maxStreams = 16 } = this.#options;
    const responses = { maxUnreleased: Math.max(1, maxUnreleased), maxStreams: Math.max(1, maxStreams) };
    const options = this.#options.process ?? {};
    return new PythonModel({
      plan,
      file,
      modelDirectory,
      environment,
      parameters,
      process: options,
      responses,
      logger,
    });
  }

  async #environment(path: string | undefined, context: ModelContext<ModelConfig>): Promise<ExecutionEnvironment> {
    const { python, cacheDirectory = defaultCacheDirectory(process.env) } = this.#options;
    if (path === undefined) return { python: findPython({ python, env: process.env, cwd: process.cwd() }), env: {} };
    const { name: modelName, modelDirectory } = context;
    return openEnvironment({ modelName, modelDirectory, path, cacheDirectory });
  }
}
