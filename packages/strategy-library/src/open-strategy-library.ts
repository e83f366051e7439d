import type { BatchStrategy, StrategyContext } from '@nereid/core';
import { type ModelConfig, modelConfigToJson } from '@nereid/model-config';
import type { BatchStrategyLibrary } from '@nereid/native';
import { StrategyLibraryError } from './errors.ts';

/**
 * Opens a shared library with a custom batching strategy that was built against Triton's public headers, and lets it initialise. What it logs goes to the log of the
 * context. Opening it runs its code. It is closed with the strategy.
 *
 * @param library  absolute path
 * @throws {StrategyLibraryError} `addon`; `library`: it is no library (NOT_FOUND, INVALID_ARG), it lacks one of the five functions (INVALID_ARG), or what it says itself
 * Source: Triton core, "Custom Batching" of the batcher's documentation; `TRITONBACKEND_ModelBatch*` of `tritonbackend.h`.
 */
export async function openStrategyLibrary(
  library: string,
  context: StrategyContext<ModelConfig>,
): Promise<BatchStrategy> {
  const { openBatchStrategy } = await loadNative();
  const { name, version, modelDirectory, config, logger } = context;
  const fields = { model: name, strategy: library };
  try {
    return strategyOf(
      openBatchStrategy({
        library,
        modelName: name,
        modelVersion: version,
        modelDirectory,
        config: modelConfigToJson(config),
        inputNames: config.input.map((input) => input.name),
        outputNames: config.output.map((output) => output.name),
        onLog: (level, message) => logger[level](fields, message),
      }),
    );
  } catch (cause) {
    const message = `failed to load model '${name}': the batching library '${library}' cannot be used: ${textOf(cause)}`;
    throw new StrategyLibraryError({ reason: 'library', message, cause });
  }
}

function strategyOf(library: BatchStrategyLibrary): BatchStrategy {
  return {
    startBatch() {
      const batch = library.startBatch();
      return {
        include: (request) => library.include(batch, request),
        end: () => library.endBatch(batch),
      };
    },
    close: () => library.close(),
  };
}

/** On first use, so that importing this package never fails for want of the addon. */
async function loadNative(): Promise<Pick<typeof import('@nereid/native'), 'openBatchStrategy'>> {
  try {
    return await import('@nereid/native');
  } catch (cause) {
    throw new StrategyLibraryError({ reason: 'addon', message: textOf(cause), cause });
  }
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
