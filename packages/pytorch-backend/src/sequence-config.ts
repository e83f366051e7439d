/** Controls and states that a configuration adds to the tensors of a sequence model. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { elementCount, expectedByteSize, type InstanceSpec } from '@nereid/core';
import { controlDataType, type ModelConfig, type ModelSequenceBatchingState } from '@nereid/model-config';
import { datatypeOf } from './check-config.ts';
import { PyTorchBackendError } from './errors.ts';
import { resolveInside } from './inside.ts';
import type { InputSpec, StateSpec } from './tensor-spec.ts';

export interface SequenceRequest {
  readonly modelName: string;
  readonly config: ModelConfig;
  readonly modelDirectory: string;
  readonly instances: readonly InstanceSpec[];
}

export interface SequenceTensors {
  /** The inputs that take controls, then those that take states. */
  readonly inputs: readonly InputSpec[];
  readonly states: readonly StateSpec[];
}

/**
 * Reads initial values from the model's `initial_state` directory.
 * @throws {PyTorchBackendError} `signature`, `file` for an initial value, `unsupported` for memory that grows outside of a GPU
 */
export async function sequenceTensors(request: SequenceRequest): Promise<SequenceTensors> {
  const { config, modelName } = request;
  const { controlInput = [], state: states = [] } = config.sequenceBatching ?? {};
  const controls = controlInput.flatMap(({ name, control }) =>
    control.slice(0, 1).map((kind): InputSpec => {
      const datatype = datatypeOf(modelName, 'control', { name, dataType: controlDataType(kind) });
      return { name, datatype, dims: [1], reshape: undefined, source: { type: 'control' } };
    }),
  );
  const kept = states.map(({ inputName: name, dataType, dims }, i): InputSpec => {
    const datatype = datatypeOf(modelName, 'input state', { name, dataType });
    return { name, datatype, dims, reshape: undefined, source: { type: 'state', state: i } };
  });
  const specs: StateSpec[] = [];
  for (const state of states) specs.push(await stateSpec(request, state));
  return { inputs: [...controls, ...kept], states: specs };
}

async function stateSpec(request: SequenceRequest, state: ModelSequenceBatchingState): Promise<StateSpec> {
  const { modelName } = request;
  const { outputName: name, dataType, dims, useSameBufferForInputOutput: isLent } = state;
  refuseGrowing(request, state);
  const datatype = datatypeOf(modelName, 'state', { name, dataType });
  checkStrings(request, state);
  const initialDims = state.initialState[0]?.dims ?? dims.map((dim) => (dim === -1 ? 1 : dim));
  const initial = await initialValue(request, { state, dims: initialDims });
  return { output: { name, datatype, dims, reshape: undefined }, initialDims, initial, isLent };
}

function refuseGrowing({ modelName, instances }: SequenceRequest, state: ModelSequenceBatchingState): void {
  const onCpu = instances.find(({ kind }) => kind !== 'KIND_GPU');
  if (!state.useGrowableMemory || onCpu === undefined) return;
  throw new PyTorchBackendError({
    code: 'UNSUPPORTED',
    reason: 'unsupported',
    message:
      `model '${modelName}': state '${state.inputName}' has use_growable_memory, which is for instances on GPUs, but '${onCpu.name}' is ` +
      `${onCpu.kind}; remove it: a state with a dimension of -1 may grow without`,
  });
}

/** Strings reach a module as one list: a batch has one per row. */
function checkStrings({ modelName, config }: SequenceRequest, state: ModelSequenceBatchingState): void {
  const { dataType, dims, inputName } = state;
  const fits = config.maxBatchSize > 0 ? dims.every((dim) => dim === 1) && dims.length <= 1 : dims.length <= 1;
  if (dataType !== 'TYPE_STRING' || fits) return;
  throw new PyTorchBackendError({
    code: 'INTERNAL',
    reason: 'signature',
    message:
      `model '${modelName}': state '${inputName}' is TYPE_STRING, but only one-dimensional lists of strings (List[str]) are supported; use dims: ` +
      `[ ${config.maxBatchSize > 0 ? 1 : -1} ]`,
  });
}

async function initialValue(
  { modelName, modelDirectory }: SequenceRequest,
  of: { readonly state: ModelSequenceBatchingState; readonly dims: readonly number[] },
): Promise<Uint8Array> {
  const { state, dims } = of;
  const datatype = datatypeOf(modelName, 'input state', { name: state.inputName, dataType: state.dataType });
  const byteSize = expectedByteSize(datatype, dims);
  const file = state.initialState[0]?.dataFile;
  // Zeros need no bytes; an empty string is its length, a 0 of 4 bytes.
  if (file === undefined) return new Uint8Array(byteSize === undefined ? elementCount(dims) * 4 : 0);
  const directory = join(modelDirectory, 'initial_state');
  const path = resolveInside(directory, file);
  const fault = (what: string, cause?: unknown) =>
    new PyTorchBackendError({
      code: 'INVALID_ARG',
      reason: 'file',
      message: `model '${modelName}': initial value of state '${state.inputName}': ${what}`,
      cause,
    });
  if (path === undefined) throw fault(`'${file}' lies outside of '${directory}'`);
  const bytes = await readStart(path, byteSize).catch((thrown: unknown) => {
    throw fault(`'${path}' cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`, thrown);
  });
  if (byteSize === undefined || bytes.byteLength === byteSize) return bytes;
  throw fault(`'${path}' has ${bytes.byteLength} bytes, the state needs ${byteSize}`);
}

/** The first bytes of a file, as far as it has them; all of them without a size. */
async function readStart(path: string, byteSize: number | undefined): Promise<Uint8Array> {
  await using file = await open(path);
  if (byteSize === undefined) return file.readFile();
  const { bytesRead, buffer } = await file.read(new Uint8Array(byteSize), 0, byteSize, 0);
  return buffer.subarray(0, bytesRead);
}
