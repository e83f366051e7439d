/** Exchanges the weights of a loaded package: copied to where no run sees them on every device, then swapped on one after the other. */
import { InferenceServerError, type Logger, type WeightsReport, type WeightsSource } from '@nereid/core';
import { readWeights } from '@nereid/model-archive';
import { chooseWeights, type NewWeight } from './choose-weights.ts';
import { PyTorchBackendError } from './errors.ts';
import type { ModuleHandle, ModulePool } from './module-pool.ts';
import { nativeCode, nativeText } from './native-error.ts';

export interface WeightsUpdate {
  readonly modelName: string;
  readonly pool: ModulePool<ModuleHandle>;
  readonly logger: Logger;
}

/** A loaded package. */
type Package = ModuleHandle & Required<Pick<ModuleHandle, 'weights' | 'stageWeights' | 'swapWeights'>>;

/**
 * One call at a time for each model.
 * @throws {PyTorchBackendError} `weights`: they do not fit, cannot be read, or the model is a TorchScript module; then nothing has changed
 */
export async function updateWeights(
  { modelName, pool, logger }: WeightsUpdate,
  source: WeightsSource,
): Promise<WeightsReport> {
  const packages = (await pool.sharedHandles()).filter(isPackage);
  const [first] = packages;
  if (first === undefined) {
    const message = `model '${modelName}' is a TorchScript module, whose weights cannot be exchanged; load a new version, or compile it with AOTInductor`;
    throw new PyTorchBackendError({ code: 'UNSUPPORTED', reason: 'weights', message });
  }
  const given = 'file' in source ? await readFile(modelName, source.file) : source.tensors;
  const { weights, report } = chooseWeights(modelName, { known: first.weights, given });
  try {
    await Promise.all(packages.map((opened) => opened.stageWeights(weights)));
    for (const opened of packages) await opened.swapWeights();
  } catch (thrown) {
    const message = `model '${modelName}': the weights could not be exchanged: ${nativeText(thrown)}`;
    throw new PyTorchBackendError({ code: nativeCode(thrown), reason: 'weights', message, cause: thrown });
  }
  logReport(logger, { modelName, report });
  return report;
}

function isPackage(handle: ModuleHandle): handle is Package {
  return handle.weights !== undefined && handle.stageWeights !== undefined && handle.swapWeights !== undefined;
}

async function readFile(modelName: string, path: string): Promise<readonly NewWeight[]> {
  try {
    return await readWeights(path);
  } catch (thrown) {
    const { code, message } = InferenceServerError.from(thrown);
    throw new PyTorchBackendError({
      code,
      reason: 'weights',
      message: `model '${modelName}': ${message}`,
      cause: thrown,
    });
  }
}

function logReport(
  logger: Logger,
  { modelName, report }: { readonly modelName: string; readonly report: WeightsReport },
): void {
  const { updated, kept, ignored } = report;
  const rest = [
    ...(kept.length === 0 ? [] : [`kept: ${kept.join(', ')}`]),
    ...(ignored.length === 0 ? [] : [`not used by the package: ${ignored.join(', ')}`]),
  ];
  const detail = rest.length === 0 ? '' : ` (${rest.join('; ')})`;
  logger.info({ model: modelName }, `model '${modelName}': ${updated.length} weights were exchanged${detail}`);
}
