/**
 * `MODEL_INIT_LIBRARY`: native set-up of a model before it is opened, e.g. weights for its operators that lie outside of its file.
 *
 * Init runs once per loaded version, whatever the number of instances, and again when the version is loaded again. Fini runs once after everything of
 * the model was freed: on unload, when a later step of the load fails, and when the server stops.
 */
import { isAbsolute, join } from 'node:path';
import type { Logger } from '@nereid/core';
import type { ModelInit } from '@nereid/native';
import { PyTorchBackendError } from './errors.ts';
import type { Native } from './native.ts';
import { loadError, nativeText } from './native-error.ts';

export interface SetUpRequest {
  readonly native: Native;
  readonly modelName: string;
  /** Value of the parameter: an absolute path, or one that begins with `$$TRITON_MODEL_DIRECTORY`. */
  readonly library: string;
  /** Absolute. */
  readonly modelDirectory: string;
  readonly versionDirectory: string;
  /** Of the first instance: −1 for the CPU, else the GPU's ordinal. */
  readonly device: number;
  readonly logger: Logger;
}

const MODEL_DIRECTORY = '$$TRITON_MODEL_DIRECTORY/';

/** What was set up, to be taken down after everything that uses it. */
export class ModelSetUp {
  readonly #init: ModelInit;
  readonly #request: SetUpRequest;

  private constructor(init: ModelInit, request: SetUpRequest) {
    this.#init = init;
    this.#request = request;
  }

  /** @throws {PyTorchBackendError} `parameter` for a relative path; `load` when the library cannot be opened, lacks init, or init throws */
  static async run(request: SetUpRequest): Promise<ModelSetUp> {
    const { native, modelName, versionDirectory, device, logger } = request;
    const library = libraryPath(request);
    try {
      const init = await native.initModel({ library, modelDirectory: versionDirectory, device });
      logger.info(
        { model: modelName, library, device },
        `model init hook of '${library}' ran for model '${modelName}' with device_index=${device}`,
      );
      return new ModelSetUp(init, { ...request, library });
    } catch (thrown) {
      throw loadError(modelName, thrown);
    }
  }

  /** Never rejects: a finaliser that throws is logged. Idempotent. */
  async takeDown(): Promise<void> {
    try {
      await this.#init.close();
    } catch (thrown) {
      const { modelName, library, logger } = this.#request;
      logger.error(
        { model: modelName, library, err: thrown },
        `model '${modelName}', '${library}': ${nativeText(thrown)}`,
      );
    }
  }
}

function libraryPath({ modelName, modelDirectory, library }: SetUpRequest): string {
  if (library.startsWith(MODEL_DIRECTORY)) return join(modelDirectory, library.slice(MODEL_DIRECTORY.length));
  if (isAbsolute(library)) return library;
  throw new PyTorchBackendError({
    code: 'INVALID_ARG',
    reason: 'parameter',
    message:
      `model '${modelName}': parameter 'MODEL_INIT_LIBRARY' is '${library}', expected an absolute path or one that begins with ` +
      MODEL_DIRECTORY,
  });
}
