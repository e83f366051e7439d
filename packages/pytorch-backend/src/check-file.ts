/** Holds a configuration against a model file by what the file says of itself: torch is not started and no code of the file runs. */
import { dirname, isAbsolute } from 'node:path';
import type { NamedTensor } from '@nereid/call-spec';
import { InferenceServerError, silentLogger } from '@nereid/core';
import { type DeclaredTensor, inspectAoti, inspectTorchScript } from '@nereid/model-archive';
import { instanceSpecs, type ModelConfig } from '@nereid/model-config';
import { bindAoti } from './aoti-signature.ts';
import { checkStringRanks, inputSpecs, outputSpecs, refuseUnsupported } from './check-config.ts';
import { resolveOperators } from './custom-operators.ts';
import { filesByCapability, type LocatedFile, locateFile } from './locate-file.ts';
import { readParameters } from './parameters.ts';
import { sequenceTensors } from './sequence-config.ts';
import type { OutputSpec } from './tensor-spec.ts';
import { bindTorchScriptInputs, bindTorchScriptOutputs } from './torchscript-signature.ts';

export interface CheckModelFileOptions {
  readonly modelName: string;
  /** Absolute. */
  readonly versionDirectory: string;
  /** Complete, as a server would load it. */
  readonly config: ModelConfig;
}

export interface ModelFileCheck {
  /** Absolute path of the model file; absent when it was not found or is no model. */
  readonly path?: string;
  /** Why a server would not load this version; empty when nothing that the file states speaks against it. */
  readonly problems: readonly string[];
}

/**
 * What `PyTorchBackend.load` would refuse, as far as it can be told without loading: features, parameters, and names, datatypes and shapes that
 * configuration and file state about each other. The machine is not compared (see `compareTarget` of `@nereid/model-archive`), and what only torch
 * knows, such as a missing operator, is not found.
 */
export async function checkModelFile(options: CheckModelFileOptions): Promise<ModelFileCheck> {
  const { modelName, versionDirectory, config } = options;
  const problems: string[] = [];
  const attempt = async <T>(step: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await step();
    } catch (thrown) {
      problems.push(InferenceServerError.from(thrown).message);
      return undefined;
    }
  };
  await attempt(() => refuseUnsupported(modelName, config));
  await attempt(() => checkStringRanks(modelName, config));
  await attempt(() => filesByCapability({ modelName, versionDirectory }, config.ccModelFilenames));
  const file = await attempt(() => {
    const { platform, defaultModelFilename: filename } = config;
    return locateFile({ modelName, versionDirectory, platform, filename });
  });
  if (file === undefined) return { problems };
  const parameters = await attempt(() => {
    const entries = [...config.parameters].map(([key, { stringValue }]) => [key, stringValue] as const);
    return readParameters({ modelName, engine: file.engine, entries, logger: silentLogger });
  });
  await attempt(() => {
    const names = [...(config.modelOperations?.opLibraryFilename ?? []), ...(parameters?.customOpsLibraries ?? [])];
    return resolveOperators({
      modelName,
      modelDirectory: dirname(versionDirectory),
      names,
      allowed: names.filter(isAbsolute),
    });
  });
  await attempt(() => checkSignature(file, { ...options, aotiModelName: parameters?.aotiModelName }));
  return { path: file.path, problems };
}

interface SignatureOptions extends CheckModelFileOptions {
  readonly aotiModelName: string | undefined;
}

async function checkSignature({ engine, path }: LocatedFile, options: SignatureOptions): Promise<void> {
  const { modelName, config, aotiModelName } = options;
  const modelDirectory = dirname(options.versionDirectory);
  const sequences = await sequenceTensors({ modelName, config, modelDirectory, instances: instanceSpecs(config) });
  const specs = {
    modelName,
    inputs: [...inputSpecs(config, modelName), ...sequences.inputs],
    outputs: outputsToCheck(config, modelName),
    states: sequences.states,
  };
  if (engine === 'torchscript') return checkTorchScript(path, specs);
  const { inputs, outputs } = await inspectAoti(path, { model: aotiModelName });
  // Without its sources a package tells its names only once it is loaded.
  if (inputs === undefined || outputs === undefined) return;
  const names = { inputs: inputs.map(toNamed), outputs: outputs.map(toNamed) };
  const declared = { declaredInputs: inputs, declaredOutputs: outputs };
  bindAoti({ ...specs, ...declared, names, maxBatchSize: config.maxBatchSize });
}

/** Of an output whose datatype a run will tell only the name is checked. */
function outputsToCheck({ output, batchOutput }: ModelConfig, modelName: string): readonly OutputSpec[] {
  return output.flatMap((each): readonly OutputSpec[] =>
    each.dataType === 'TYPE_INVALID'
      ? [{ name: each.name, datatype: undefined, dims: undefined, reshape: undefined }]
      : outputSpecs({ output: [each], batchOutput }, modelName),
  );
}

function toNamed({ ordinalName, forwardName }: DeclaredTensor, position: number): NamedTensor {
  return {
    position,
    ordinalName,
    forwardName: forwardName ?? ordinalName,
    forwardNameUsable: forwardName !== undefined,
  };
}

async function checkTorchScript(
  path: string,
  specs: Omit<Parameters<typeof bindTorchScriptInputs>[0], 'schema' | 'logger'>,
): Promise<void> {
  const { arguments: all, returnType, training = false } = await inspectTorchScript(path);
  if (all === undefined) return;
  const schema = {
    arguments: all.map(({ name, type, default: value }) => ({ name, type, hasDefault: value !== undefined })),
    returns: returnType === undefined ? [] : [returnType],
    wasTraining: training,
  };
  bindTorchScriptInputs({ ...specs, schema, logger: silentLogger });
  bindTorchScriptOutputs({ ...specs, schema, logger: silentLogger });
}
