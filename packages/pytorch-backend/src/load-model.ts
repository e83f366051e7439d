import { dirname, resolve } from 'node:path';
import { type Datatype, type InstanceSpec, type Logger, silentLogger } from '@nereid/core';
import { type DescribedInput, describeFile } from './describe-file.ts';
import { PyTorchBackendError } from './errors.ts';
import { recogniseFile } from './locate-file.ts';
import { loadNative } from './native.ts';
import { openModel } from './open-model.ts';
import { readParameters } from './parameters.ts';
import { RunnableModel } from './runnable-model.ts';
import { usableCores } from './usable-cores.ts';

export interface LoadModelOptions {
  /** Runs that may go on at once, each on a thread of its own; 1 by default. */
  readonly instances?: number;
  /** Intra-op threads of each run; by default the usable cores divided by `instances`. */
  readonly threads?: number;
  /**
   * Names and datatypes of the inputs, where the file does not tell. A `.pt2` usually does. A TorchScript file tells names only, and its tensors
   * are taken for FP32; one whose forward takes a dictionary tells nothing: the names are its keys.
   */
  readonly inputs?: readonly { readonly name: string; readonly datatype: Datatype }[];
  /** Names of the results to return, `OUTPUT__<position>` or keys of a returned dictionary; by default all, where the file tells how many. */
  readonly outputs?: readonly string[];
  /** Text by key as in a model configuration, e.g. `DISABLE_OPTIMIZED_EXECUTION`. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Libraries of operators that the model calls, opened before it and for good. Opening one runs its code. */
  readonly customOps?: readonly string[];
  /** Silent by default. */
  readonly logger?: Logger;
}

/**
 * Loads a TorchScript or AOTInductor file on the CPU, to be run without a server. Loading runs code of the file: trust where it comes from.
 *
 * @param path  of the model file; which of the two it is is told by its content
 * @throws {PyTorchBackendError} when the addon or the file does not load, or options and file disagree
 */
export async function loadModel(path: string, options: LoadModelOptions = {}): Promise<RunnableModel> {
  const { instances = 1, threads, logger = silentLogger } = options;
  const modelName = path;
  const file = { path: resolve(path), engine: await recogniseFile(modelName, resolve(path)) };
  const told = await describeFile(file);
  const inputs: readonly DescribedInput[] =
    options.inputs?.map((input) => described(input, told.inputs)) ?? told.inputs ?? mustBeGiven(path, 'inputs');
  const outputs = options.outputs ?? told.outputs ?? mustBeGiven(path, 'outputs');
  const customOps = (options.customOps ?? []).map((library) => resolve(library));
  const entries = Object.entries(options.parameters ?? {});
  if (threads !== undefined) entries.push(['INTRA_OP_THREAD_COUNT', String(threads)]);
  const specs = Array.from(
    { length: instances },
    (_, i): InstanceSpec => ({ name: `${modelName}_${i}`, kind: 'KIND_CPU', deviceId: 0 }),
  );
  const model = await openModel({
    native: await loadNative(),
    file,
    modelName,
    modelVersion: '',
    maxBatchSize: 0,
    inputs: inputs.map(({ name, datatype, optional }) => ({
      name,
      datatype,
      optional,
      dims: undefined,
      reshape: undefined,
    })),
    outputs: outputs.map((name) => ({ name, datatype: undefined, dims: undefined, reshape: undefined })),
    parameters: readParameters({ modelName, engine: file.engine, entries, logger }),
    operators: { modelDirectory: dirname(file.path), names: customOps, allowed: customOps },
    instances: specs,
    cores: usableCores(),
    logger,
  });
  return RunnableModel.open({ model, modelName, inputs, outputs, instances: specs });
}

/** What the caller says, with what else the file tells of the same input. */
function described(
  input: { readonly name: string; readonly datatype: Datatype },
  told: readonly DescribedInput[] | undefined,
): DescribedInput {
  const known = told?.find(({ name, aliases }) => name === input.name || aliases.includes(input.name));
  return known === undefined
    ? { ...input, aliases: [] }
    : { ...known, ...input, aliases: [known.name, ...known.aliases] };
}

function mustBeGiven(path: string, side: 'inputs' | 'outputs'): never {
  const message = `'${path}' does not tell its ${side}; list them in options.${side}`;
  throw new PyTorchBackendError({ code: 'INVALID_ARG', reason: 'signature', message });
}
