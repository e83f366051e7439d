/** Batching strategies as JS modules: the default export makes the strategy of a model version. */
import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { type BatchStrategy, InferenceServerError, type OpenBatchStrategy, type StrategyContext } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { ServingError } from '../errors.ts';

/** @throws {ServingError} `bad-strategy` with the file and what is wrong with it */
export async function openModule(path: string, context: StrategyContext<ModelConfig>): Promise<BatchStrategy> {
  const fault = (what: string, options?: ErrorOptions) =>
    new ServingError(
      'bad-strategy',
      `failed to load model '${context.name}': the batching strategy '${path}' ${what}`,
      options,
    );
  const exported = await importFresh(path).catch((thrown: unknown) => {
    throw fault(`cannot be imported: ${textOf(thrown)}`, { cause: thrown });
  });
  if (!isOpener(exported)) {
    throw fault(
      `has no function as its default export, but ${kindOf(exported)}; export default (context) => ({ startBatch() { … } })`,
    );
  }
  try {
    const strategy: unknown = await exported(context);
    if (isStrategy(strategy)) return strategy;
    throw new TypeError(`expected an object with a function startBatch from it, got ${kindOf(strategy)}`);
  } catch (thrown) {
    throw fault(`cannot be opened: ${textOf(thrown)}`, { cause: thrown });
  }
}

/** The default export. A file that was changed is imported anew, as another module; CommonJS files are kept by Node. */
async function importFresh(path: string): Promise<unknown> {
  const { mtimeMs, size } = await stat(path);
  const url = pathToFileURL(path);
  url.search = `?${mtimeMs}-${size}`;
  const loaded: { readonly default?: unknown } = await import(/* @vite-ignore */ url.href);
  return loaded.default;
}

function isOpener(value: unknown): value is OpenBatchStrategy<ModelConfig> {
  return typeof value === 'function';
}

function isStrategy(value: unknown): value is BatchStrategy {
  return typeof value === 'object' && value !== null && 'startBatch' in value && typeof value.startBatch === 'function';
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  return typeof value === 'object' ? 'an object without one' : `a ${typeof value}`;
}

function textOf(thrown: unknown): string {
  return InferenceServerError.from(thrown).message;
}
