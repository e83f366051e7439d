/** Opens a model file with torch and fits it to what its user says of its inputs and outputs. */
import { dirname } from 'node:path';
import { InferenceServerError, type InstanceSpec, type Logger } from '@nereid/core';
import { type AotiInspection, inspectAoti, readHost } from '@nereid/model-archive';
import { bindAoti, packageNames } from './aoti-signature.ts';
import { checkInstanceKinds } from './check-config.ts';
import { checkTarget } from './check-target.ts';
import { type OperatorLibraries, openOperators, resolveOperators } from './custom-operators.ts';
import { PyTorchBackendError } from './errors.ts';
import { checkBatchDimension } from './load-check.ts';
import type { LocatedFile } from './locate-file.ts';
import { instanceOptions, PyTorchModel } from './model.ts';
import type { ModelPlan, PlannedState } from './model-plan.ts';
import { ModelSetUp } from './model-set-up.ts';
import { type Device, deviceOf, ModulePool } from './module-pool.ts';
import type { Native } from './native.ts';
import { loadError } from './native-error.ts';
import type { PyTorchParameters } from './parameters.ts';
import { processSettings, settingsOwner, warnOfConflicts } from './process-settings.ts';
import type { InputSpec, OutputSpec, StateSpec } from './tensor-spec.ts';
import { bindTorchScriptInputs, bindTorchScriptOutputs } from './torchscript-signature.ts';

export interface OpenModelRequest {
  readonly native: Native;
  readonly file: LocatedFile;
  /** Absolute paths that stand for the file on GPUs of a compute capability (`9.0`). */
  readonly filesByCapability?: ReadonlyMap<string, string> | undefined;
  readonly modelName: string;
  readonly modelVersion: string;
  /** By default that of the file. */
  readonly versionDirectory?: string | undefined;
  /** 0 when the tensors have no batch dimension. */
  readonly maxBatchSize: number;
  /** Every tensor that the model takes: of requests, controls, states and batch inputs. */
  readonly inputs: readonly InputSpec[];
  readonly outputs: readonly OutputSpec[];
  /** None by default. */
  readonly states?: readonly StateSpec[] | undefined;
  readonly parameters: PyTorchParameters;
  readonly instances: readonly InstanceSpec[];
  /** Libraries of operators beside those of the parameter; by default none, and the model directory is that above the version's. */
  readonly operators?: Omit<OperatorLibraries, 'modelName'> | undefined;
  /** Cores that the process may use. */
  readonly cores: number;
  readonly logger: Logger;
}

/**
 * @throws {PyTorchBackendError} `platform`, `load`, `signature` or `output`; nothing stays open then
 */
export async function openModel(request: OpenModelRequest): Promise<PyTorchModel> {
  const { modelName, native, logger } = request;
  checkInstanceKinds(modelName, request.instances, native.buildInfo());
  const paths = resolveOperators(operatorLibraries(request));
  await openOperators(native, { paths, prefix: `failed to load model '${modelName}'`, logger });
  const intraOpThreads = threadsPerInstance(request);
  return request.file.engine === 'torchscript'
    ? openTorchScript(request, intraOpThreads)
    : openAoti(request, intraOpThreads);
}

function operatorLibraries(request: OpenModelRequest): OperatorLibraries {
  const { modelName, parameters } = request;
  const { names = [], allowed = [] } = request.operators ?? {};
  const modelDirectory = modelDirectoryOf(request);
  return { modelName, modelDirectory, names: [...names, ...parameters.customOpsLibraries], allowed };
}

/** The file for instances on a device. */
export function fileFor({ file, filesByCapability, native }: FileChoice, device: Device): string {
  const capability = typeof device === 'number' && device >= 0 ? native.buildInfo().gpus[device] : undefined;
  return (capability === undefined ? undefined : filesByCapability?.get(capability)) ?? file.path;
}

type FileChoice = Pick<OpenModelRequest, 'file' | 'filesByCapability'> & { readonly native: Pick<Native, 'buildInfo'> };

function modelDirectoryOf(request: OpenModelRequest): string {
  return request.operators?.modelDirectory ?? dirname(versionDirectoryOf(request));
}

function versionDirectoryOf({ versionDirectory, file }: OpenModelRequest): string {
  return versionDirectory ?? dirname(file.path);
}

/** As configured, or an equal share of the cores. */
function threadsPerInstance({ parameters, cores, instances, modelName, logger }: OpenModelRequest): number {
  const count = Math.max(instances.length, 1);
  const threads = parameters.intraOpThreads ?? Math.max(1, Math.floor(cores / count));
  const fields = { model: modelName, intraOpThreads: threads, cores, instances: count };
  logger.info(
    fields,
    `model '${modelName}': intra-op threads per run ${threads} (usable cores ${cores}, instances ${count})`,
  );
  if (parameters.intraOpThreads !== undefined && threads * count > cores) {
    logger.warn(
      fields,
      `model '${modelName}': INTRA_OP_THREAD_COUNT is ${threads} for each instance, ${threads * count} threads in all, but only ${cores} cores ` +
        'are usable; more threads than cores slow each other down',
    );
  }
  return threads;
}

async function openTorchScript(request: OpenModelRequest, intraOpThreads: number): Promise<PyTorchModel> {
  const { native, modelName, parameters, logger } = request;
  const owner = settingsOwner(request);
  const process = processSettings(parameters, owner);
  const pool = new ModulePool({
    shared: parameters.weightSharing,
    open: (device) =>
      torchLoad(modelName, () =>
        native.loadTorchScript({
          path: fileFor(request, device),
          inferenceMode: parameters.inferenceMode,
          device,
          process,
        }),
      ),
  });
  return built({ request, pool, device: ordinalOf(firstDevice(request)) }, async (setUp) => {
    const { schema, conflicts } = await pool.prepare(firstDevice(request));
    warnOfConflicts(logger, { owner, conflicts });
    if (schema.wasTraining) {
      logger.warn(
        { model: modelName },
        `model '${modelName}' was saved in training mode; it is switched to evaluation (model.eval())`,
      );
    }
    const signature = { ...request, states: request.states ?? [], schema };
    const plan = planOf(request, { inputs: bindTorchScriptInputs(signature), ...bindTorchScriptOutputs(signature) });
    return modelOf(request, { plan, pool, setUp, intraOpThreads });
  });
}

async function openAoti(request: OpenModelRequest, intraOpThreads: number): Promise<PyTorchModel> {
  const { native, modelName, parameters, instances } = request;
  const owner = settingsOwner(request);
  const process = processSettings({ ...parameters, ...NO_JIT }, owner);
  const inspection = await inspectPackage(request);
  if (inspection.inputs === undefined) {
    request.logger.warn(
      { model: modelName },
      `model '${modelName}': requests are not checked against the package: ${inspection.notes.join(' ')}`,
    );
  }
  checkTarget({ modelName, target: inspection.target, instances, build: native.buildInfo(), host: await readHost() });
  const pool = new ModulePool({
    shared: true,
    open: (device) =>
      torchLoad(modelName, () =>
        native.loadAoti({
          path: fileFor(request, device),
          modelName: inspection.model,
          numRunners: Math.max(1, instances.filter((spec) => deviceOf(spec) === device).length),
          device: compiledDevice(device, inspection),
          process,
        }),
      ),
  });
  return built({ request, pool, device: compiledDevice(firstDevice(request), inspection) }, async (setUp) => {
    const opened = await pool.prepare(firstDevice(request));
    warnOfConflicts(request.logger, { owner, conflicts: opened.conflicts });
    const { parameterCount } = inspection;
    const declared = { declaredInputs: inspection.inputs ?? [], declaredOutputs: inspection.outputs ?? [] };
    const plan = planOf(
      request,
      bindAoti({
        ...request,
        ...declared,
        states: request.states ?? [],
        names: packageNames({ ...request, parameterCount, package: opened }),
      }),
    );
    if (plan.maxBatchSize > 0 && parameters.aotiLoadCheck) {
      const checked = { plan, parameters, intraOpThreads };
      const open = (onComplete: Parameters<typeof instanceOptions>[1]['onComplete']) =>
        opened.createInstance(instanceOptions(checked, { name: `${modelName}_load_check`, onComplete }));
      await checkBatchDimension({ plan, open, logger: request.logger });
    }
    return modelOf(request, { plan, pool, setUp, intraOpThreads });
  });
}

/** A compiled package has no use for the settings of TorchScript's executor. */
const NO_JIT = { jitExecutor: undefined, jitProfiling: undefined, tensorFuser: undefined } as const;

async function inspectPackage(request: OpenModelRequest): Promise<AotiInspection> {
  const { modelName, parameters } = request;
  const wanted = parameters.aotiModelName;
  try {
    const inspection = await inspectAoti(fileFor(request, firstDevice(request)), { model: wanted });
    if (wanted !== undefined || inspection.models.length === 1 || inspection.model === 'model') return inspection;
    throw new PyTorchBackendError({
      code: 'INVALID_ARG',
      reason: 'parameter',
      message: `the package holds the models ${inspection.models.join(', ')}; choose one with parameter AOTI_MODEL_NAME`,
    });
  } catch (thrown) {
    const { code, message } = InferenceServerError.from(thrown);
    const text = `failed to load model '${modelName}': ${message}`;
    throw new PyTorchBackendError({ code, reason: 'file', message: text, cause: thrown });
  }
}

/** Where instances that leave the placement to the model run: a package knows its device, and has its first GPU for it. */
function compiledDevice(device: Device, { target }: AotiInspection): number {
  if (device !== 'saved') return device;
  return target.device === 'cuda' ? 0 : -1;
}

/** Where the tensors were saved is not known before they are read: the CPU stands for it. */
function ordinalOf(device: Device): number {
  return device === 'saved' ? -1 : device;
}

function firstDevice({ instances: [first] }: OpenModelRequest): Device {
  return first === undefined ? -1 : deviceOf(first);
}

interface Signature extends Pick<ModelPlan, 'inputs' | 'outputs'> {
  /** In the order of the configuration. */
  readonly states: readonly PlannedState[];
}

/** States of a plan stand in the order of the inputs that take them. */
function planOf(request: OpenModelRequest, { inputs, outputs, states }: Signature): ModelPlan {
  const { modelName, modelVersion, maxBatchSize, file } = request;
  const ordered: PlannedState[] = [];
  const placed = inputs.map((input) => {
    const { source } = input.spec;
    const state = source?.type === 'state' ? states[source.state] : undefined;
    if (state === undefined) return input;
    ordered.push(state);
    return { ...input, spec: { ...input.spec, source: { type: 'state', state: ordered.length - 1 } as const } };
  });
  return {
    modelName,
    modelVersion,
    maxBatchSize,
    engine: file.engine,
    inputs: placed,
    outputs,
    states: ordered.length === 0 ? undefined : ordered,
    isPlain: inputs.every(({ spec }) => spec.source === undefined),
  };
}

function modelOf(
  { native, parameters, logger }: OpenModelRequest,
  parts: Pick<ConstructorParameters<typeof PyTorchModel>[0], 'plan' | 'pool' | 'setUp' | 'intraOpThreads'>,
): PyTorchModel {
  return new PyTorchModel({
    ...parts,
    parameters,
    logger,
    releaseBuffers: (buffers) => native.releaseBuffers(buffers),
    memory: native,
  });
}

async function torchLoad<T>(modelName: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (thrown) {
    throw loadError(modelName, thrown);
  }
}

/** Sets the model up, then builds it. When that fails, what was opened is freed: modules, then what they were set up with. */
async function built(
  on: { readonly request: OpenModelRequest; readonly pool: { close(): Promise<void> }; readonly device: number },
  build: (setUp: ModelSetUp | undefined) => Promise<PyTorchModel>,
): Promise<PyTorchModel> {
  const setUp = await runSetUp(on.request, on.device);
  try {
    return await build(setUp);
  } catch (thrown) {
    await on.pool.close();
    await setUp?.takeDown();
    throw thrown;
  }
}

async function runSetUp(request: OpenModelRequest, device: number): Promise<ModelSetUp | undefined> {
  const { modelInitLibrary: library } = request.parameters;
  if (library === undefined) return undefined;
  return ModelSetUp.run({
    ...request,
    library,
    modelDirectory: modelDirectoryOf(request),
    versionDirectory: versionDirectoryOf(request),
    device,
  });
}
