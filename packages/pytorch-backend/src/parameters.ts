/** The `parameters` of a configuration that this backend reads. Values are text; a value that does not parse fails the load. */
import { type Logger, nearestName } from '@nereid/core';
import { PyTorchBackendError } from './errors.ts';

export type Engine = 'torchscript' | 'aoti';

export interface PyTorchParameters {
  /** INFERENCE_MODE, true by default. */
  readonly inferenceMode: boolean;
  /** The opposite of DISABLE_OPTIMIZED_EXECUTION, true by default; TorchScript only. */
  readonly optimizedExecution: boolean;
  /** ENABLE_WEIGHT_SHARING, false by default; TorchScript only, instances of a package always share. */
  readonly weightSharing: boolean;
  /** INTRA_OP_THREAD_COUNT where it is above 0. */
  readonly intraOpThreads: number | undefined;
  /** INTER_OP_THREAD_COUNT where it is above 0: of the whole process, which takes the first. */
  readonly interOpThreads: number | undefined;
  /** ENABLE_CACHE_CLEANING, false by default: give memory that torch keeps back to the GPUs after each run. */
  readonly cacheCleaning: boolean;
  /** The opposite of DISABLE_CUDNN, true by default. */
  readonly cudnn: boolean;
  /** ENABLE_JIT_EXECUTOR, ENABLE_JIT_PROFILING and ENABLE_TENSOR_FUSER; undefined leaves torch's own. TorchScript only. */
  readonly jitExecutor: boolean | undefined;
  readonly jitProfiling: boolean | undefined;
  readonly tensorFuser: boolean | undefined;
  /** AOTI_LOAD_CHECK, true by default: run a batching package once before it is ready. */
  readonly aotiLoadCheck: boolean;
  /** CUSTOM_OPS_LIBRARIES, separated by colons: libraries of operators. */
  readonly customOpsLibraries: readonly string[];
  /** MODEL_INIT_LIBRARY: library that sets the model up. */
  readonly modelInitLibrary: string | undefined;
  /** AOTI_MODEL_NAME: the model inside the package, when it holds several. */
  readonly aotiModelName: string | undefined;
}

type ParameterType = 'boolean' | 'integer' | 'text';

/** Where a key has an effect; elsewhere it is checked and answered with a warning. */
type Scope = 'both' | Engine;

const KNOWN: Readonly<Record<string, { readonly type: ParameterType; readonly scope: Scope }>> = {
  INFERENCE_MODE: { type: 'boolean', scope: 'both' },
  DISABLE_OPTIMIZED_EXECUTION: { type: 'boolean', scope: 'torchscript' },
  ENABLE_WEIGHT_SHARING: { type: 'boolean', scope: 'both' },
  INTRA_OP_THREAD_COUNT: { type: 'integer', scope: 'both' },
  INTER_OP_THREAD_COUNT: { type: 'integer', scope: 'both' },
  ENABLE_CACHE_CLEANING: { type: 'boolean', scope: 'both' },
  CACHE_CLEANING_ENABLED: { type: 'boolean', scope: 'both' },
  DISABLE_CUDNN: { type: 'boolean', scope: 'both' },
  ENABLE_TENSOR_FUSER: { type: 'boolean', scope: 'torchscript' },
  ENABLE_JIT_PROFILING: { type: 'boolean', scope: 'torchscript' },
  ENABLE_JIT_EXECUTOR: { type: 'boolean', scope: 'torchscript' },
  CUSTOM_OPS_LIBRARIES: { type: 'text', scope: 'both' },
  MODEL_INIT_LIBRARY: { type: 'text', scope: 'both' },
  AOTI_LOAD_CHECK: { type: 'boolean', scope: 'aoti' },
  AOTI_MODEL_NAME: { type: 'text', scope: 'aoti' },
  // For the batcher, and for the best known strategy.
  TRITON_BATCH_STRATEGY_PATH: { type: 'text', scope: 'both' },
  MAX_BATCH_VOLUME_BYTES: { type: 'text', scope: 'both' },
};

const TRUE = new Set(['true', 'on', '1']);
const FALSE = new Set(['false', 'off', '0']);
const INT32_MAX = 2 ** 31 - 1;

export interface ParameterSource {
  readonly modelName: string;
  readonly engine: Engine;
  /** Key and text of every entry. */
  readonly entries: readonly (readonly [key: string, text: string])[];
  readonly logger: Logger;
}

/**
 * Reads the parameters, logs the settings in force, and warns about keys that are unknown or have no effect.
 * @throws {PyTorchBackendError} `parameter`, naming every value that does not parse
 */
export function readParameters(source: ParameterSource): PyTorchParameters {
  const texts = new Map(source.entries);
  const faults = source.entries.map(([key, text]) => faultOf(key, text)).filter((fault) => fault !== undefined);
  if (faults.length > 0) {
    throw new PyTorchBackendError({
      code: 'INVALID_ARG',
      reason: 'parameter',
      message: `model '${source.modelName}': ${faults.join('; ')}`,
    });
  }
  for (const key of texts.keys()) warnAboutKey(source, key);
  logSettings(source, texts);
  return {
    inferenceMode: flag(texts, 'INFERENCE_MODE', true),
    optimizedExecution: !flag(texts, 'DISABLE_OPTIMIZED_EXECUTION', false),
    weightSharing: flag(texts, 'ENABLE_WEIGHT_SHARING', false),
    intraOpThreads: count(texts, 'INTRA_OP_THREAD_COUNT'),
    interOpThreads: count(texts, 'INTER_OP_THREAD_COUNT'),
    cacheCleaning: cacheCleaning(texts),
    cudnn: !flag(texts, 'DISABLE_CUDNN', false),
    jitExecutor: optionalFlag(texts, 'ENABLE_JIT_EXECUTOR'),
    jitProfiling: optionalFlag(texts, 'ENABLE_JIT_PROFILING'),
    tensorFuser: optionalFlag(texts, 'ENABLE_TENSOR_FUSER'),
    customOpsLibraries: (texts.get('CUSTOM_OPS_LIBRARIES') ?? '').split(':').filter((name) => name !== ''),
    // As unset when empty, so that a variant of a configuration can take the library away.
    modelInitLibrary: texts.get('MODEL_INIT_LIBRARY') || undefined,
    aotiLoadCheck: flag(texts, 'AOTI_LOAD_CHECK', true),
    aotiModelName: texts.get('AOTI_MODEL_NAME'),
  };
}

function faultOf(key: string, text: string): string | undefined {
  switch (KNOWN[key]?.type) {
    case 'boolean':
      if (TRUE.has(text.toLowerCase()) || FALSE.has(text.toLowerCase())) return undefined;
      return `parameter '${key}' is '${text}', expected true, on, 1, false, off or 0`;
    case 'integer':
      if (/^[+-]?\d+$/.test(text) && Math.abs(Number(text)) <= INT32_MAX) return undefined;
      return `parameter '${key}' is '${text}', expected a whole number of at most ${INT32_MAX}`;
    default:
      return undefined;
  }
}

function warnAboutKey({ modelName, engine, logger }: ParameterSource, key: string): void {
  const known = KNOWN[key];
  const fields = { model: modelName, parameter: key };
  if (known === undefined) {
    const guess = nearestName(key, Object.keys(KNOWN));
    const hint = guess === undefined ? '' : `; did you mean '${guess}'?`;
    logger.warn(fields, `model '${modelName}': unknown parameter '${key}' is ignored${hint}`);
  } else if (known.scope !== 'both' && known.scope !== engine) {
    const platform = engine === 'aoti' ? 'torch_aoti' : 'pytorch_libtorch';
    logger.warn(fields, `model '${modelName}': parameter '${key}' has no effect for ${platform}`);
  }
}

/** TorchScript settings that are logged only when they are set. */
const ASKED = [
  ['ENABLE_WEIGHT_SHARING', 'Weight sharing'],
  ['ENABLE_TENSOR_FUSER', 'Tensor fuser'],
  ['ENABLE_JIT_PROFILING', 'JIT profiling'],
  ['ENABLE_JIT_EXECUTOR', 'JIT executor'],
] as const;

/** Wording and number of these lines, one each per loaded version, are relied upon by users of the original. */
function logSettings({ modelName, engine, logger }: ParameterSource, texts: ReadonlyMap<string, string>): void {
  const settings: readonly (readonly [name: string, enabled: boolean])[] = [
    ['Optimized execution', !flag(texts, 'DISABLE_OPTIMIZED_EXECUTION', false)],
    ['Cache Cleaning', cacheCleaning(texts)],
    ['Inference Mode', flag(texts, 'INFERENCE_MODE', true)],
    ['cuDNN', !flag(texts, 'DISABLE_CUDNN', false)],
  ];
  const asked = ASKED.filter(([key]) => texts.has(key)).map(([key, name]) => [name, flag(texts, key, false)] as const);
  for (const [name, enabled] of engine === 'aoti' ? settings.slice(1) : [...settings, ...asked]) {
    const state = enabled ? 'enabled' : 'disabled';
    logger.info({ model: modelName }, `${name} is ${state} for model instance '${modelName}'`);
  }
}

function flag(texts: ReadonlyMap<string, string>, key: string, fallback: boolean): boolean {
  const text = texts.get(key);
  return text === undefined ? fallback : TRUE.has(text.toLowerCase());
}

function optionalFlag(texts: ReadonlyMap<string, string>, key: string): boolean | undefined {
  return texts.has(key) ? flag(texts, key, false) : undefined;
}

function cacheCleaning(texts: ReadonlyMap<string, string>): boolean {
  return flag(texts, 'ENABLE_CACHE_CLEANING', flag(texts, 'CACHE_CLEANING_ENABLED', false));
}

/** Zero and negative counts are ignored, as in the original. */
function count(texts: ReadonlyMap<string, string>, key: string): number | undefined {
  const value = Number(texts.get(key) ?? 0);
  return value > 0 ? value : undefined;
}
