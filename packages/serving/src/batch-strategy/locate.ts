/**
 * Where a model's batching strategy is. The parameter TRITON_BATCH_STRATEGY_PATH names it; else the first file of a known name counts, in the version directory,
 * then the model directory, then what the backend directory has for the model's backend.
 */
import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { InferenceServerError } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { resolveInside } from '@nereid/repository';
import { ServingError } from '../errors.ts';

const PARAMETER = 'TRITON_BATCH_STRATEGY_PATH';

/** In the order in which they count within one directory. */
const FILENAMES = ['batchstrategy.so', 'batchstrategy.mjs', 'batchstrategy.js'];

const KINDS: Readonly<Record<string, StrategyFile['kind']>> = {
  '.so': 'library',
  '.mjs': 'module',
  '.js': 'module',
  '.cjs': 'module',
};

/** A file with a strategy: a shared library with the C interface, or a JS module. */
export interface StrategyFile {
  readonly kind: 'library' | 'module';
  /** Absolute. */
  readonly path: string;
}

export interface StrategyPlace {
  readonly modelDirectory: string;
  /** Absent where no version is at hand. */
  readonly versionDirectory?: string | undefined;
  /** Holds a directory per backend. */
  readonly backendDirectory?: string | undefined;
}

/**
 * Finds the strategy of a model, if it has one; only with `dynamic_batching` one has an effect.
 * @throws {ServingError} `bad-strategy`: a path outside of the model directory, of an unknown kind, or beside sequence_batching; `no-strategy`: one without a file
 */
export async function locateStrategy(config: ModelConfig, place: StrategyPlace): Promise<StrategyFile | undefined> {
  const named = config.parameters.get(PARAMETER)?.stringValue;
  if (named !== undefined && config.sequenceBatching !== undefined) {
    throw new ServingError(
      'bad-strategy',
      `model '${config.name}' has sequence_batching, beside which the parameter ${PARAMETER} has no meaning; remove one of them`,
    );
  }
  if (config.dynamicBatching === undefined) return undefined;
  if (named !== undefined) return namedFile(named, { name: config.name, directory: place.modelDirectory });
  const backend = place.backendDirectory && join(place.backendDirectory, config.backend);
  return firstFile([place.versionDirectory, place.modelDirectory, backend].filter((path) => path !== undefined));
}

/** What to say of a parameter that has no effect; undefined where there is nothing to say. */
export function unusedStrategy({ name, parameters, dynamicBatching }: ModelConfig): string | undefined {
  if (dynamicBatching !== undefined || !parameters.has(PARAMETER)) return undefined;
  return `model '${name}': the parameter ${PARAMETER} has no effect without dynamic_batching; add it, or remove the parameter`;
}

async function namedFile(
  named: string,
  model: { readonly name: string; readonly directory: string },
): Promise<StrategyFile> {
  const path = await insidePath(named, model);
  if (!(await isFile(path))) {
    throw new ServingError(
      'no-strategy',
      `Batching library path not found: ${path}, which the parameter ${PARAMETER} of model '${model.name}' names`,
    );
  }
  const kind = KINDS[extname(path)];
  if (kind !== undefined) return { kind, path };
  throw new ServingError(
    'bad-strategy',
    `the parameter ${PARAMETER} of model '${model.name}' names '${path}', expected a file whose name ends in ${Object.keys(KINDS).join(', ')}`,
  );
}

async function insidePath(
  named: string,
  { name, directory }: { readonly name: string; readonly directory: string },
): Promise<string> {
  try {
    return await resolveInside(directory, named);
  } catch (thrown) {
    const { message } = InferenceServerError.from(thrown);
    throw new ServingError(
      'bad-strategy',
      `Batching library path escapes model repository: parameter ${PARAMETER} of model '${name}': ${message}`,
      { cause: thrown },
    );
  }
}

async function firstFile(directories: readonly string[]): Promise<StrategyFile | undefined> {
  for (const path of directories.flatMap((directory) => FILENAMES.map((name) => join(directory, name)))) {
    const kind = KINDS[extname(path)];
    if (kind !== undefined && (await isFile(path))) return { kind, path };
  }
  return undefined;
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ?? false;
}
