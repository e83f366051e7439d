/** Fits a configuration to a compiled package: names to positions, then datatypes and shapes to what the package declares. */
import { nameTensors, parseCallSpec, resolveInputs, resolveOutputs, type TensorNames } from '@nereid/call-spec';
import { datatypeToConfig, formatShape, InferenceServerError, type Logger } from '@nereid/core';
import { type DeclaredDim, type DeclaredTensor, formatDeclaredShape } from '@nereid/model-archive';
import type { AotiPackage } from '@nereid/native';
import { PyTorchBackendError } from './errors.ts';
import type { PlannedInput, PlannedOutput, PlannedState } from './model-plan.ts';
import { type InputSpec, modelDims, type OutputSpec, roleOf, type StateSpec, type TensorSpec } from './tensor-spec.ts';

export interface AotiSignatureRequest {
  readonly modelName: string;
  /** Of every tensor that the package takes and returns. */
  readonly names: Pick<TensorNames, 'inputs' | 'outputs'>;
  /** Every tensor that the package takes, wherever it comes from. */
  readonly inputs: readonly InputSpec[];
  readonly outputs: readonly OutputSpec[];
  readonly states: readonly StateSpec[];
  /** 0 when the tensors have no batch dimension. */
  readonly maxBatchSize: number;
  /** Empty when the package declares nothing. */
  readonly declaredInputs: readonly DeclaredTensor[];
  readonly declaredOutputs: readonly DeclaredTensor[];
}

export interface NamesRequest {
  readonly modelName: string;
  readonly package: Pick<AotiPackage, 'callSpec' | 'inputNames' | 'constantNames' | 'outputCount'>;
  /** Parameters and buffers as the package's sources list them; undefined without sources. */
  readonly parameterCount: number | undefined;
  readonly logger: Logger;
}

/**
 * Names of a loaded package's tensors, by its own account.
 * @throws {PyTorchBackendError} `signature`: a call spec that does not parse or does not fit the compiled tensors
 */
export function packageNames(request: NamesRequest): TensorNames {
  const { callSpec, inputNames, constantNames, outputCount } = request.package;
  // The library also names constants that the compiler made, which were never numbered: the sources tell them apart, their names only in part.
  const constants = request.parameterCount ?? constantNames.filter(isLifted).length;
  return explained(request, () => {
    const names = nameTensors(parseCallSpec({ inputs: callSpec[0], outputs: callSpec[1] }), {
      compiledInputs: { names: inputNames, constants },
    });
    for (const warning of names.warnings) request.logger.warn({ model: request.modelName }, warning);
    if (names.outputs.length === outputCount) return names;
    throw fault(request, `the package returns ${outputCount} tensors, but its call spec names ${names.outputs.length}`);
  });
}

/** Constants that the compiler folded were no arguments of the exported graph. */
function isLifted(constant: string): boolean {
  return !constant.includes('_FOLDED_CONST_');
}

export interface AotiSignature {
  readonly inputs: readonly PlannedInput[];
  readonly outputs: readonly PlannedOutput[];
  /** In the order of the request's. */
  readonly states: readonly PlannedState[];
}

/**
 * Inputs in the order in which the package takes them, outputs and states in that of the configuration.
 * @throws {PyTorchBackendError} `signature`: names, counts, datatypes, shapes, or a batch dimension that the package does not have
 */
export function bindAoti(request: AotiSignatureRequest): AotiSignature {
  refuseStrings(request);
  refuseOptional(request);
  const { inputPositions, outputPositions, statePositions } = resolveNames(request);
  const inputs = request.inputs
    .map((spec, i) => ({ spec, position: inputPositions[i] ?? 0 }))
    .sort((a, b) => a.position - b.position)
    .map(({ spec, position }) => {
      const declared = request.declaredInputs[position];
      checkDeclaredInput(request, spec, declared);
      return { spec, key: '', declared };
    });
  const outputs = request.outputs.map((spec, i) => {
    const index = outputPositions[i] ?? 0;
    checkDeclaredOutput(request, spec, request.declaredOutputs[index]);
    return { spec, index, key: '' };
  });
  const states = request.states.map((spec, i) => {
    const index = statePositions[i] ?? 0;
    checkDeclaredOutput(request, spec.output, request.declaredOutputs[index]);
    return { spec, index, key: '' };
  });
  return { inputs, outputs, states };
}

function refuseStrings(request: AotiSignatureRequest): void {
  const input = request.inputs.find(({ datatype }) => datatype === 'BYTES');
  const output = request.outputs.find(({ datatype }) => datatype === 'BYTES');
  const strings = input === undefined ? output : input;
  if (strings === undefined) return;
  const role = input === undefined ? 'output' : roleOf(input);
  throw fault(
    request,
    `unsupported datatype TYPE_STRING for ${role} '${strings.name}': a compiled package has tensors only`,
  );
}

function refuseOptional(request: AotiSignatureRequest): void {
  const optional = request.inputs.find((input) => input.optional);
  if (optional === undefined) return;
  throw fault(
    request,
    `the backend doesn't support optional input '${optional.name}': a compiled package takes every tensor that it was exported with. ` +
      'Export it without that argument, or let clients send a neutral value.',
  );
}

function resolveNames(request: AotiSignatureRequest) {
  const { names, inputs, outputs, states } = request;
  return explained(request, () => {
    const inputPositions = resolveInputs(
      names.inputs,
      inputs.map((input) => ({ name: input.name, role: roleOf(input) })),
    );
    const results = resolveOutputs(names.outputs, [
      ...outputs.map(({ name }) => ({ name, role: 'output' }) as const),
      ...states.map(({ output: { name } }) => ({ name, role: 'state' }) as const),
    ]);
    return {
      inputPositions,
      outputPositions: results.slice(0, outputs.length),
      statePositions: results.slice(outputs.length),
    };
  });
}

/** What `step` gives; what it throws gets the model's name. */
function explained<T>(request: Pick<AotiSignatureRequest, 'modelName'>, step: () => T): T {
  try {
    return step();
  } catch (thrown) {
    if (thrown instanceof PyTorchBackendError) throw thrown;
    const { code, message } = InferenceServerError.from(thrown);
    throw new PyTorchBackendError({
      code,
      reason: 'signature',
      message: `model '${request.modelName}': ${message}`,
      cause: thrown,
    });
  }
}

function checkDeclaredInput(
  request: AotiSignatureRequest,
  spec: InputSpec,
  declared: DeclaredTensor | undefined,
): void {
  if (declared === undefined) return;
  checkDeclaredDatatype(request, { side: 'input', spec, declared });
  if (declared.contiguous === false) {
    throw fault(
      request,
      `input '${spec.name}' was compiled for a tensor that is not contiguous, and requests carry none. Export the model with ` +
        'sample inputs that are (x.contiguous()).',
    );
  }
  if (declared.shape === undefined) return;
  const rank = rankOfBatch(spec);
  if (rank !== undefined) {
    checkDeclaredRank(request, { spec, rank, shape: declared.shape });
    return;
  }
  checkDeclaredShape(request, { side: 'input', spec, shape: declared.shape });
  if (request.maxBatchSize > 0) checkBatchDimension(request, spec, declared.shape);
}

function checkDeclaredOutput(
  request: AotiSignatureRequest,
  spec: OutputSpec,
  declared: DeclaredTensor | undefined,
): void {
  if (declared === undefined) return;
  if (declared.isNone) {
    throw fault(request, `output '${spec.name}' is None: the package returns no tensor there. Leave it out.`);
  }
  checkDeclaredDatatype(request, { side: 'output', spec, declared });
  // A result that is cut by the shapes of an input may have any shape of its own.
  if (declared.shape === undefined || spec.cutLike !== undefined) return;
  checkDeclaredShape(request, { side: 'output', spec, shape: declared.shape });
}

/** Dimensions of an input that is made for the whole batch; undefined for one whose dimensions are those of the requests. */
function rankOfBatch({ source }: InputSpec): number | undefined {
  if (source?.type === 'batch') return source.kind === 'BATCH_ITEM_SHAPE' ? 2 : 1;
  return source?.type === 'ragged' ? 1 : undefined;
}

function checkDeclaredRank(
  request: AotiSignatureRequest,
  { spec, rank, shape }: { readonly spec: InputSpec; readonly rank: number; readonly shape: readonly DeclaredDim[] },
): void {
  if (shape.length === rank) return;
  const what = roleOf(spec) === 'input' ? `input '${spec.name}' is ragged` : `batch input '${spec.name}'`;
  throw fault(
    request,
    `${what}: it reaches the package with ${rank === 1 ? 'one dimension' : 'two dimensions'}, but the package was compiled for ` +
      formatDeclaredShape(shape),
  );
}

function checkDeclaredDatatype(
  request: AotiSignatureRequest,
  {
    side,
    spec,
    declared,
  }: { readonly side: string; readonly spec: InputSpec | OutputSpec; readonly declared: DeclaredTensor },
): void {
  if (spec.datatype === undefined || declared.datatype === spec.datatype) return;
  if (declared.datatype === undefined && declared.torchDtype === undefined) return;
  throw fault(
    request,
    `${side} '${spec.name}' is ${datatypeToConfig(spec.datatype)} in the configuration, but the package was compiled for ` +
      describeDatatype(declared),
  );
}

function describeDatatype({ datatype, torchDtype }: DeclaredTensor): string {
  return datatype === undefined ? `torch.${torchDtype}, which no client can send` : datatypeToConfig(datatype);
}

interface DeclaredShape {
  readonly side: string;
  readonly spec: TensorSpec;
  readonly shape: readonly DeclaredDim[];
}

function checkDeclaredShape(request: AotiSignatureRequest, { side, spec, shape }: DeclaredShape): void {
  const dims = modelDims(spec);
  if (dims === undefined) return;
  const batching = request.maxBatchSize > 0;
  const items = batching ? shape.slice(1) : shape;
  const fits =
    items.length === dims.length && (!batching || shape.length > 0) && dims.every((dim, i) => fitsDim(dim, items[i]));
  if (fits) return;
  const configured = formatShape(batching ? [-1, ...dims] : dims);
  throw fault(
    request,
    `${side} '${spec.name}' has shape ${configured} in the configuration${batching ? ' (the first dimension is the batch)' : ''}, but the ` +
      `package was compiled for ${formatDeclaredShape(shape)}`,
  );
}

/** A variable dimension of the configuration always fits: its requests are checked one by one. */
function fitsDim(configured: number, declared: DeclaredDim | undefined): boolean {
  if (declared === undefined) return false;
  const { min, max } = rangeOf(declared);
  return configured === -1 || (configured >= min && configured <= max);
}

function checkBatchDimension(request: AotiSignatureRequest, spec: TensorSpec, shape: readonly DeclaredDim[]): void {
  const { maxBatchSize } = request;
  const [declared] = shape;
  if (declared === undefined) return;
  const { min, max } = rangeOf(declared);
  if (min <= 1 && max >= maxBatchSize) return;
  const compiled = `input '${spec.name}' was compiled for ${formatDeclaredShape(shape)}`;
  if (typeof declared === 'number') {
    throw fault(
      request,
      `max_batch_size is ${maxBatchSize}, but the package does not have a dynamic batch dimension: ${compiled}. Export it with ` +
        'torch.export.Dim on dimension 0 of every input and a sample batch of at least 2, or set max_batch_size to 0.',
    );
  }
  throw fault(
    request,
    min > 1
      ? `a batch may have one row, but ${compiled}. Export it with a smaller lower bound, or set max_batch_size to 0.`
      : `max_batch_size is ${maxBatchSize}, but ${compiled}. Set it to at most ${max}.`,
  );
}

function rangeOf(declared: DeclaredDim): { readonly min: number; readonly max: number } {
  if (typeof declared === 'number') return { min: declared, max: declared };
  return { min: declared.min, max: declared.max ?? Number.POSITIVE_INFINITY };
}

function fault({ modelName }: Pick<AotiSignatureRequest, 'modelName'>, message: string): PyTorchBackendError {
  return new PyTorchBackendError({
    code: 'INVALID_ARG',
    reason: 'signature',
    message: `model '${modelName}': ${message}`,
  });
}
