import { type Datatype, datatypeFromConfig, type InstanceSpec } from '@nereid/core';
import type { DataType, ModelConfig, ModelInput, ModelOutput } from '@nereid/model-config';
import type { BuildInfo } from '@nereid/native';
import { PyTorchBackendError } from './errors.ts';
import type { InputSpec, OutputSpec } from './tensor-spec.ts';

/**
 * Refuses what a configuration asks for and this backend does not do.
 * @throws {PyTorchBackendError} `unsupported`, with every such thing in one message
 */
export function refuseUnsupported(modelName: string, config: ModelConfig): void {
  const found = RULES.flatMap((rule) => rule(config));
  if (found.length === 0) return;
  throw new PyTorchBackendError({
    code: 'UNSUPPORTED',
    reason: 'unsupported',
    message: `model '${modelName}': not supported for PyTorch models: ${found.join('; ')}`,
  });
}

/** Sentences about what is not supported. */
type Rule = (config: ModelConfig) => readonly string[];

const RULES: readonly Rule[] = [pythonRuntime, optionalSource, cutStrings, cutTwice];

function pythonRuntime({ runtime }: ModelConfig): string[] {
  return runtime.endsWith('.py') ? ['a Python runtime; leave runtime empty to serve model.pt or model.pt2'] : [];
}

function optionalSource({ batchInput, batchOutput, input }: ModelConfig): string[] {
  const sources = new Set([...batchInput, ...batchOutput].flatMap(({ sourceInput }) => sourceInput));
  return input
    .filter(({ name, optional }) => optional && sources.has(name))
    .map(
      ({ name }) =>
        `'${name}' is the source_input of a batch_input or batch_output and optional; it must always be sent`,
    );
}

function cutStrings({ batchOutput, output }: ModelConfig): string[] {
  const targets = new Set(batchOutput.flatMap(({ targetName }) => targetName));
  return output
    .filter(({ name, dataType }) => dataType === 'TYPE_STRING' && targets.has(name))
    .map(
      ({ name }) => `batch_output of '${name}', which is TYPE_STRING; only numbers are cut by the shapes of an input`,
    );
}

function cutTwice({ batchOutput }: ModelConfig): string[] {
  const targets = batchOutput.flatMap(({ targetName }) => targetName);
  const twice = targets.filter((name, i) => targets.indexOf(name) !== i);
  return twice.map((name) => `two batch_output for '${name}'; keep one`);
}

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

/** The inputs that requests carry, then the targets of batch inputs. */
export function inputSpecs(config: ModelConfig, modelName: string): readonly InputSpec[] {
  const own = config.input.map((input) => ({
    ...tensorSpec(input),
    datatype: datatypeOf(modelName, 'input', input),
    optional: input.optional,
    ...(input.allowRaggedBatch && { source: { type: 'ragged' } as const }),
  }));
  const targets = config.batchInput.flatMap(({ kind, targetName, dataType, sourceInput: [of = ''] }) =>
    targetName.map((name) => ({
      name,
      datatype: datatypeOf(modelName, 'batch input', { name, dataType }),
      dims: undefined,
      reshape: undefined,
      source: { type: 'batch', kind, of } as const,
    })),
  );
  return [...own, ...targets];
}

export function outputSpecs(
  config: Pick<ModelConfig, 'output' | 'batchOutput'>,
  modelName: string,
): readonly OutputSpec[] {
  return config.output.map((output) => {
    const cut = config.batchOutput.find(({ targetName }) => targetName.includes(output.name));
    return {
      ...tensorSpec(output),
      datatype: datatypeOf(modelName, 'output', output),
      ...(cut !== undefined && { cutLike: cut.sourceInput[0] }),
    };
  });
}

function tensorSpec({ name, dims, reshape }: ModelInput | ModelOutput) {
  return { name, dims, reshape: reshape?.shape };
}

/** @throws {PyTorchBackendError} `signature` */
export function datatypeOf(
  modelName: string,
  side: 'input' | 'output' | 'batch input' | 'control' | 'input state' | 'state',
  { name, dataType }: { readonly name: string; readonly dataType: DataType },
): Datatype {
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
  // A ragged input loses its dimensions on the way.
  for (const tensor of [...config.input.filter(({ allowRaggedBatch }) => !allowRaggedBatch), ...config.output]) {
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
