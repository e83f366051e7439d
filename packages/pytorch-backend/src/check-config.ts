import { datatypeFromConfig, type InstanceSpec } from '@nereid/core';
import type { ModelConfig, ModelInput, ModelOutput } from '@nereid/model-config';
import type { BuildInfo } from '@nereid/native';
import { PyTorchBackendError } from './errors.ts';
import type { InputSpec, OutputSpec } from './tensor-spec.ts';

/**
 * Refuses what a configuration asks for and this backend does not do.
 * @throws {PyTorchBackendError} `unsupported`, with every such thing in one message
 */
export function refuseUnsupported(modelName: string, config: ModelConfig): void {
  const found = [
    ...RULES.filter(({ applies }) => applies(config)).map(({ sentence }) => sentence),
    ...config.input
      .filter(({ allowRaggedBatch }) => allowRaggedBatch)
      .map(({ name }) => `input '${name}' has allow_ragged_batch`),
  ];
  if (found.length === 0) return;
  throw new PyTorchBackendError({
    code: 'UNSUPPORTED',
    reason: 'unsupported',
    message: `model '${modelName}': not supported for PyTorch models: ${found.join('; ')}`,
  });
}

interface Rule {
  readonly applies: (config: ModelConfig) => boolean;
  readonly sentence: string;
}

const RULES: readonly Rule[] = [
  {
    applies: ({ sequenceBatching }) => sequenceBatching !== undefined,
    sentence: 'sequence_batching (controls and implicit state); every request must stand alone',
  },
  {
    applies: ({ batchInput }) => batchInput.length > 0,
    sentence: 'batch_input; let clients send the lengths as ordinary inputs',
  },
  {
    applies: ({ batchOutput }) => batchOutput.length > 0,
    sentence: 'batch_output; outputs are split along dimension 0',
  },
  {
    applies: ({ runtime }) => runtime.endsWith('.py'),
    sentence: 'a Python runtime; leave runtime empty to serve model.pt or model.pt2',
  },
];

/**
 * Refuses instances on devices that the addon cannot use.
 * @throws {PyTorchBackendError} UNSUPPORTED `platform`
 */
export function checkInstanceKinds(modelName: string, instances: readonly InstanceSpec[], build: BuildInfo): void {
  const onGpu = instances.find(({ kind }) => kind === 'KIND_GPU');
  if (onGpu === undefined || build.cuda) return;
  throw new PyTorchBackendError({
    code: 'UNSUPPORTED',
    reason: 'platform',
    message:
      `model '${modelName}': instance '${onGpu.name}' is KIND_GPU, but GPU instances are not supported by this build: the addon was built ` +
      `against LibTorch ${build.torchVersion} for CPU. Use KIND_CPU, or build the addon against a LibTorch for CUDA.`,
  });
}

export function inputSpecs(config: ModelConfig, modelName: string): readonly InputSpec[] {
  return config.input.map((input) => ({
    ...tensorSpec(input),
    datatype: datatypeOf(modelName, 'input', input),
    optional: input.optional,
  }));
}

export function outputSpecs(config: Pick<ModelConfig, 'output'>, modelName: string): readonly OutputSpec[] {
  return config.output.map((output) => ({ ...tensorSpec(output), datatype: datatypeOf(modelName, 'output', output) }));
}

function tensorSpec({ name, dims, reshape }: ModelInput | ModelOutput) {
  return { name, dims, reshape: reshape?.shape };
}

function datatypeOf(modelName: string, side: 'input' | 'output', { name, dataType }: ModelInput | ModelOutput) {
  const datatype = datatypeFromConfig(dataType);
  if (datatype !== undefined) return datatype;
  throw new PyTorchBackendError({
    code: 'INTERNAL',
    reason: 'signature',
    message: `unsupported datatype ${dataType} for ${side} '${name}' for model '${modelName}'`,
  });
}

/**
 * Holds strings to one dimension, that of the list.
 * @throws {PyTorchBackendError} `signature`
 */
export function checkStringRanks(modelName: string, config: ModelConfig): void {
  const batchRank = config.maxBatchSize > 0 ? 1 : 0;
  for (const tensor of [...config.input, ...config.output]) {
    const dims = tensor.reshape?.shape ?? tensor.dims;
    if (tensor.dataType !== 'TYPE_STRING' || dims.length + batchRank <= 1) continue;
    const remedy = batchRank === 1 ? 'use dims: [ 1 ] with reshape { shape: [ ] }' : 'use dims: [ -1 ]';
    throw new PyTorchBackendError({
      code: 'INTERNAL',
      reason: 'signature',
      message:
        `model '${modelName}': '${tensor.name}' is TYPE_STRING with ${dims.length + batchRank} dimensions, batch included, but ` +
        `only one-dimensional lists of strings (List[str]) are supported; ${remedy}`,
    });
  }
}
