/** `--backend-config`: settings of backends, each `backend,key=value`, or `key=value` for all. */
import { UsageError } from './errors.ts';

export interface BackendConfig {
  readonly defaultMaxBatchSize: number;
  /** One sentence for each setting that nobody reads. */
  readonly warnings: readonly string[];
}

const DEFAULT_MAX_BATCH_SIZE = 4;
const LARGEST = 2 ** 31 - 1;

/**
 * The last of a repeated setting wins, and one for `pytorch` over one for all.
 * @throws {UsageError} for a setting that is none, or a bad value
 */
export function readBackendConfig(settings: readonly string[]): BackendConfig {
  const warnings: string[] = [];
  const sizes = new Map<string, number>();
  for (const setting of settings) {
    const { backend, key, value } = parse(setting);
    if (key === 'default-max-batch-size' && (backend === '' || backend === 'pytorch')) sizes.set(backend, size(value));
    else
      warnings.push(
        `--backend-config=${setting} has no effect: only default-max-batch-size is read, for pytorch or for all`,
      );
  }
  return { defaultMaxBatchSize: sizes.get('pytorch') ?? sizes.get('') ?? DEFAULT_MAX_BATCH_SIZE, warnings };
}

function parse(setting: string): { readonly backend: string; readonly key: string; readonly value: string } {
  const [, backend = '', key, value] = /^(?:([^,=]+),)?([^,=]+)=(.+)$/.exec(setting) ?? [];
  if (key !== undefined && value !== undefined) return { backend, key, value };
  throw new UsageError(`option '--backend-config' takes backend,key=value or key=value, got '${setting}'`);
}

function size(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value <= LARGEST) return value;
  throw new UsageError(
    `default-max-batch-size of '--backend-config' is a whole number from 0 to ${LARGEST}, got '${text}'`,
  );
}
