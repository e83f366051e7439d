/** The `parameters` of a configuration that this runtime reads. Values are text; a value that does not parse fails the load. */
import type { Logger } from '@nereid/core';
import { PythonRuntimeError } from './errors.ts';

export interface PythonParameters {
  /** NUM_THREADS: intra-op threads of the process, 1 by default. */
  readonly numThreads: number;
  /** NUM_INTEROP_THREADS: inter-op threads of the process, 1 by default. */
  readonly numInteropThreads: number;
  /** TORCH_COMPILE_OPTIONAL_PARAMETERS: keywords of `torch.compile`, none by default. */
  readonly compileOptions: Readonly<Record<string, unknown>>;
  /** EXECUTION_ENV_PATH: an archive or directory with the Python to use. */
  readonly executionEnvPath: string | undefined;
  /** MODEL_CLASS: which class of the file is the model. */
  readonly modelClass: string | undefined;
}

const KNOWN = [
  'NUM_THREADS',
  'NUM_INTEROP_THREADS',
  'TORCH_COMPILE_OPTIONAL_PARAMETERS',
  'EXECUTION_ENV_PATH',
  'MODEL_CLASS',
];
/** For the batcher, and for the best known batching strategy. */
const FOR_OTHERS = ['TRITON_BATCH_STRATEGY_PATH', 'MAX_BATCH_VOLUME_BYTES'];
const MAX_THREADS = 1024;

export interface ParameterSource {
  readonly modelName: string;
  /** Key to text. */
  readonly texts: ReadonlyMap<string, string>;
  readonly logger: Logger;
}

/**
 * Reads the parameters and warns about keys that mean nothing to this runtime.
 * @throws {PythonRuntimeError} `parameter`, naming every value that does not parse
 */
export function readParameters({ modelName, texts, logger }: ParameterSource): PythonParameters {
  const faults: string[] = [];
  const read = <T>(key: string, parse: (text: string) => T | Fault, fallback: T): T => {
    const text = texts.get(key);
    const value = text === undefined ? fallback : parse(text);
    if (!(value instanceof Fault)) return value;
    faults.push(`parameter '${key}' ${value.sentence}`);
    return fallback;
  };
  const parameters = {
    numThreads: read('NUM_THREADS', threadCount, 1),
    numInteropThreads: read('NUM_INTEROP_THREADS', threadCount, 1),
    compileOptions: read('TORCH_COMPILE_OPTIONAL_PARAMETERS', compileOptions, {}),
    executionEnvPath: read('EXECUTION_ENV_PATH', textOrNone, undefined),
    modelClass: read('MODEL_CLASS', textOrNone, undefined),
  };
  if (faults.length > 0) {
    const message = `model '${modelName}': ${faults.join('; ')}`;
    throw new PythonRuntimeError({ code: 'INVALID_ARG', reason: 'parameter', message });
  }
  for (const key of texts.keys()) {
    if (KNOWN.includes(key) || FOR_OTHERS.includes(key)) continue;
    const sentence = `model '${modelName}': parameter '${key}' has no effect for a model.py, which knows ${KNOWN.join(', ')}`;
    logger.warn({ model: modelName, parameter: key }, sentence);
  }
  if (!texts.has('NUM_THREADS')) {
    const sentence = `model '${modelName}': runs on one thread unless parameter NUM_THREADS says otherwise`;
    logger.info({ model: modelName }, sentence);
  }
  return parameters;
}

/** A value that does not parse; the sentence follows the parameter's name. */
class Fault {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

function threadCount(text: string): number | Fault {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MAX_THREADS) return count;
  return new Fault(`is '${text}', expected a whole number from 1 to ${MAX_THREADS}`);
}

function compileOptions(text: string): Readonly<Record<string, unknown>> | Fault {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return new Fault(`is '${text}', expected a JSON object such as {"dynamic": true}`);
  }
  if (Object.hasOwn(value, 'model'))
    return new Fault("is refused: 'model' is not an optional parameter for 'torch.compile'");
  return { ...value };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An empty value is none. */
function textOrNone(text: string): string | undefined {
  return text === '' ? undefined : text;
}
