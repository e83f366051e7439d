import { nearestName } from '@nereid/core';
import { entryPath } from '../fields.ts';
import type { Check } from './rule.ts';

const PLATFORMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['tensorflow', ['tensorflow_graphdef', 'tensorflow_savedmodel']],
  ['tensorrt', ['tensorrt_plan']],
  ['onnxruntime', ['onnxruntime_onnx']],
  ['pytorch', ['pytorch_libtorch', 'torch_aoti']],
]);

const nameMissing: Check = function* ({ config }) {
  if (config.name === '')
    yield { path: 'name', message: `model configuration must specify 'name'; add name: "<model directory>"` };
};

const backendMissing: Check = function* ({ config, model }) {
  if (config.backend !== '' || config.platform === 'ensemble') return;
  const message = `unexpected platform type '${config.platform}' for ${model}: no backend is set and none follows from it; add backend: "pytorch"`;
  yield { path: 'platform', message };
};

const ensembleBackend: Check = function* ({ config, model }) {
  if (config.platform !== 'ensemble' || config.backend === '') return;
  const message = `ensemble '${model}' must have platform type 'ensemble' and empty backend type, got backend '${config.backend}'; remove 'backend'`;
  yield { path: 'backend', message };
};

const platformPair: Check = function* ({ config, model }) {
  const known = PLATFORMS.get(config.backend);
  if (known === undefined || config.platform === 'ensemble' || known.includes(config.platform)) return;
  const message = `unexpected 'platform' and 'backend' pair, got:${config.platform}, ${config.backend} for ${model}; backend '${config.backend}' takes platform ${quoteChoice(known)}`;
  yield { path: 'platform', message };
};

function quoteChoice(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(' or ');
}

const negativeBatchSize: Check = function* ({ config, model }) {
  if (config.maxBatchSize >= 0) return;
  const message = `'max_batch_size' must be non-negative for ${model}, got ${config.maxBatchSize}; 0 means that tensors have no batch dimension`;
  yield { path: 'max_batch_size', message };
};

const versionPolicyMissing: Check = function* ({ config, model }) {
  const { latest, all, specific } = config.versionPolicy ?? {};
  if (latest || all || specific) return;
  const message = `must specify 'version policy' for ${model}; e.g. version_policy { latest { num_versions: 1 } }`;
  yield { path: 'version_policy', message };
};

/** Triton accepts a policy that selects nothing, and then the model never loads. */
const versionPolicyEmpty: Check = function* ({ config, model }) {
  const { latest, specific } = config.versionPolicy ?? {};
  if (latest?.numVersions === 0) {
    const message = `version policy 'latest' of ${model} selects no version: 'num_versions' is 0 or missing; set it to 1 or more`;
    yield { path: 'version_policy.latest', message };
  }
  if (specific?.versions.length === 0) {
    const message = `version policy 'specific' of ${model} lists no version; add versions: [ 1 ], or use 'latest' or 'all'`;
    yield { path: 'version_policy.specific', message };
  }
};

const directoryName: Check = function* ({ config, directoryName: directory }) {
  if (directory === undefined || config.name === '' || config.name === directory) return;
  const message = `unexpected directory name '${directory}' for model '${config.name}': they must be equal; rename one of them or remove 'name'`;
  yield { path: 'name', message };
};

/** Parameters that the server or the PyTorch backend reads; every other key is for another backend. */
const PYTORCH_PARAMETERS = [
  'AOTI_LOAD_CHECK',
  'AOTI_MODEL_NAME',
  'AOTI_NUM_RUNNERS',
  'CACHE_CLEANING_ENABLED',
  'CUSTOM_OPS_LIBRARIES',
  'DISABLE_CUDNN',
  'DISABLE_OPTIMIZED_EXECUTION',
  'ENABLE_CACHE_CLEANING',
  'ENABLE_JIT_EXECUTOR',
  'ENABLE_JIT_PROFILING',
  'ENABLE_TENSOR_FUSER',
  'ENABLE_WEIGHT_SHARING',
  'EXECUTION_ENV_PATH',
  'INFERENCE_MODE',
  'INTER_OP_THREAD_COUNT',
  'INTRA_OP_THREAD_COUNT',
  'MAX_BATCH_VOLUME_BYTES',
  'MODEL_CLASS',
  'MODEL_INIT_LIBRARY',
  'NUM_INTEROP_THREADS',
  'NUM_THREADS',
  'TORCH_COMPILE_OPTIONAL_PARAMETERS',
  'TRITON_BATCH_STRATEGY_PATH',
];

const unknownParameter: Check = function* ({ config, model }) {
  if (config.backend !== 'pytorch') return;
  for (const key of config.parameters.keys()) {
    if (PYTORCH_PARAMETERS.includes(key)) continue;
    const nearest = nearestName(key, PYTORCH_PARAMETERS);
    const hint =
      nearest === undefined ? 'remove it, or leave it if another program reads it' : `did you mean '${nearest}'?`;
    const message = `parameter '${key}' of ${model} has no effect: the PyTorch backend knows no such key; ${hint}`;
    yield { severity: 'warning', path: entryPath('parameters', key), message };
  }
};

/** Rules on the configuration as a whole. */
export const TOP_LEVEL_RULES = {
  'name-missing': nameMissing,
  'backend-missing': backendMissing,
  'ensemble-backend': ensembleBackend,
  'platform-backend-pair': platformPair,
  'negative-max-batch-size': negativeBatchSize,
  'version-policy-missing': versionPolicyMissing,
  'version-policy-empty': versionPolicyEmpty,
  'directory-name': directoryName,
  'unknown-parameter': unknownParameter,
} satisfies Record<string, Check>;
