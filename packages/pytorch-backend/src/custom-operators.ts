/**
 * Libraries with operators outside torch, opened before the model that calls them. They stay open until the process ends, and serve every model.
 *
 * A configuration names them relative to the model directory. An absolute path is taken only if it lies there or was given by who runs the server: to
 * open a library is to run its code.
 */
import { isAbsolute, resolve } from 'node:path';
import type { Logger } from '@nereid/core';
import { PyTorchBackendError } from './errors.ts';
import { resolveInside } from './inside.ts';
import type { Native } from './native.ts';
import { nativeCode, nativeText } from './native-error.ts';

export interface OperatorLibraries {
  readonly modelName: string;
  /** Absolute; relative names start here. */
  readonly modelDirectory: string;
  /** As the configuration spells them. */
  readonly names: readonly string[];
  /** Absolute paths that whoever runs the process allows. */
  readonly allowed: readonly string[];
}

/**
 * Absolute paths of the libraries.
 * @throws {PyTorchBackendError} INVALID_ARG `parameter`: one that leads out of the model directory and is not allowed
 */
export function resolveOperators({ modelName, modelDirectory, names, allowed }: OperatorLibraries): readonly string[] {
  return names.map((name) => {
    const path = resolveInside(modelDirectory, name);
    if (path !== undefined) return path;
    if (isAbsolute(name) && allowed.includes(resolve(name))) return resolve(name);
    throw new PyTorchBackendError({
      code: 'INVALID_ARG',
      reason: 'parameter',
      message:
        `model '${modelName}': the operator library '${name}' is not inside the model directory '${modelDirectory}'; put it there, or start the ` +
        `server with --custom-ops ${isAbsolute(name) ? name : '/absolute/path'}`,
    });
  });
}

/**
 * Opens libraries, one after the other.
 * @throws {PyTorchBackendError} `load`, naming the library
 */
export async function openOperators(
  native: Native,
  { paths, prefix, logger }: { readonly paths: readonly string[]; readonly prefix: string; readonly logger: Logger },
): Promise<void> {
  for (const path of paths) {
    try {
      await native.loadOperators(path);
      logger.debug({ library: path }, `${prefix}: operator library '${path}' is open`);
    } catch (thrown) {
      const message = `${prefix}: the operator library '${path}' cannot be used: ${nativeText(thrown)}`;
      throw new PyTorchBackendError({ code: nativeCode(thrown), reason: 'load', message, cause: thrown });
    }
  }
}
