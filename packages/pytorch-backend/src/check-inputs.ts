/** Checks of one request's tensors before their bytes reach torch: a compiled model reads past the end of a buffer that is too small. */
import {
  describeTensor,
  elementCount,
  expectedByteSize,
  formatShape,
  type InferenceRequest,
  type Shape,
  shapeMatches,
  type Tensor,
} from '@nereid/core';
import { checkDeclared, type SymbolSizes } from '@nereid/model-archive';
import { PyTorchBackendError } from './errors.ts';
import { type ModelPlan, type PlannedInput, withBatch } from './model-plan.ts';
import { reshaped, roleOf } from './tensor-spec.ts';

/** The request's tensor for an input; `hint` is where it most likely stands. */
export function findInput(request: InferenceRequest, name: string, hint: number): Tensor | undefined {
  const candidate = request.inputs[hint];
  return candidate?.name === name ? candidate : request.inputs.find((input) => input.name === name);
}

/** A control tensor of the request. One that is in no sequence, such as a warmup sample, carries it as an input. */
export function findControl({ turn, inputs }: InferenceRequest, name: string): Tensor | undefined {
  return (turn?.controls ?? inputs).find((control) => control.name === name);
}

/** Rows that a request adds to a batch: dimension 0 of its first input, 1 without batching. */
export function rowsOf(plan: ModelPlan, request: InferenceRequest): number {
  return plan.maxBatchSize > 0 ? (request.inputs[0]?.shape[0] ?? 1) : 1;
}

/**
 * Checks every input of a request against configuration and file.
 * @throws {PyTorchBackendError} INVALID_ARG `request`: an input missing or too many, or one of another datatype, shape or byte size
 */
export function checkInputs(plan: ModelPlan, request: InferenceRequest): void {
  const rows = rowsOf(plan, request);
  let found = 0;
  for (const [i, input] of plan.inputs.entries()) {
    if (!carries(request, input)) continue;
    const tensor = findInput(request, input.spec.name, i);
    if (tensor === undefined) {
      if (input.spec.optional || roleOf(input.spec) === 'state') continue;
      throw refusal(plan, `input '${input.spec.name}' is missing; ${takes(plan)}`);
    }
    checkTensor({ plan, input, tensor, rows });
    found++;
  }
  if (request.inputs.length !== found) throw oddInput(plan, request);
  // Without rows nothing of the request reaches the package, whose smallest batch is 1.
  if (rows > 0) checkRanges(plan, request);
}

/** Whether the tensor comes with the request itself: its own ones, and in no sequence, as for a warmup sample, those of its turn as well. */
function carries({ turn }: InferenceRequest, { spec }: PlannedInput): boolean {
  const role = roleOf(spec);
  return role === 'input' || (turn === undefined && role !== 'batch input');
}

function oddInput(plan: ModelPlan, request: InferenceRequest): PyTorchBackendError {
  const given = request.inputs.map(({ name }) => name);
  const odd = given.find(
    (name, i) =>
      given.indexOf(name) !== i || !plan.inputs.some((input) => input.spec.name === name && carries(request, input)),
  );
  return refusal(plan, `input '${odd ?? ''}' is unknown or given twice; ${takes(plan)}`);
}

/**
 * Checks a request against what a compiled package declares of its inputs. Inputs that are missing are not its business.
 * @throws {PyTorchBackendError} INVALID_ARG `request`: a rank or size that the package was not compiled for
 */
export function checkRanges(plan: ModelPlan, request: InferenceRequest): void {
  const symbols: SymbolSizes = new Map();
  for (const [i, input] of plan.inputs.entries()) {
    // The shape of a ragged input is that of the whole batch.
    if (input.declared === undefined || input.spec.source?.type === 'ragged') continue;
    const tensor = findInput(request, input.spec.name, i);
    if (tensor === undefined) continue;
    const { name, datatype } = tensor;
    const shape = modelShape(plan, input, tensor.shape);
    const problem = checkDeclared(input.declared, { name, datatype, shape }, symbols);
    if (problem !== undefined) throw refusal(plan, `input ${problem}`);
  }
}

/**
 * Checks the shape that the requests of a batch have together against what a compiled package declares.
 * @throws {PyTorchBackendError} INVALID_ARG `request`
 */
export function checkJoined(plan: ModelPlan, { spec: { name, datatype }, declared }: PlannedInput, shape: Shape): void {
  const problem = declared && checkDeclared(declared, { name, datatype, shape });
  if (problem !== undefined) throw refusal(plan, `of the whole batch, input ${problem}`);
}

/**
 * The shape in which a tensor reaches the model, batch dimension included.
 * The tensor passed `checkInputs`.
 */
export function modelShape(plan: ModelPlan, input: PlannedInput, shape: Shape): Shape {
  const { dims, reshape } = input.spec;
  if (dims === undefined || reshape === undefined) return shape;
  if (plan.maxBatchSize === 0) return reshaped(shape, { from: dims, to: reshape }) ?? shape;
  return withBatch(plan, shape[0] ?? 0, reshaped(shape.slice(1), { from: dims, to: reshape }) ?? []);
}

export interface TensorCheck {
  readonly plan: ModelPlan;
  readonly input: PlannedInput;
  readonly tensor: Tensor;
  readonly rows: number;
}

/**
 * Checks one tensor against the input that takes it.
 * @throws {PyTorchBackendError} INVALID_ARG `request`
 */
export function checkTensor(check: TensorCheck): void {
  const { plan, input, tensor } = check;
  if (tensor.datatype !== input.spec.datatype) {
    throw refusal(plan, `input ${describeTensor(tensor)}: the model takes ${input.spec.datatype}`);
  }
  checkShape(check);
  checkByteSize(check);
}

function checkShape({ plan, input, tensor, rows }: TensorCheck): void {
  const { dims } = input.spec;
  if (dims !== undefined && !shapeMatches(withBatch(plan, -1, dims), tensor.shape)) {
    throw refusal(
      plan,
      `unexpected shape for input '${tensor.name}': expected ${formatShape(withBatch(plan, -1, dims))}, got ${formatShape(tensor.shape)}`,
    );
  }
  if (plan.maxBatchSize === 0 || tensor.shape[0] === rows) return;
  throw refusal(
    plan,
    `input '${tensor.name}' has batch size ${tensor.shape[0]}, but the request's first input has ${rows}; all inputs of a request ` +
      'share one batch size',
  );
}

function checkByteSize({ plan, tensor }: TensorCheck): void {
  const expected = expectedByteSize(tensor.datatype, tensor.shape);
  if (expected === undefined) checkStrings(plan, tensor);
  else if (expected !== tensor.data.byteLength) {
    throw refusal(plan, `input ${describeTensor(tensor)} needs ${expected} bytes, got ${tensor.data.byteLength}`);
  }
}

/** Walks the length prefixes; the elements themselves are not touched. */
function checkStrings(plan: ModelPlan, { name, shape, data }: Tensor): void {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const expected = elementCount(shape);
  let offset = 0;
  let count = 0;
  while (offset + 4 <= data.byteLength && count <= expected) {
    offset += 4 + view.getUint32(offset, true);
    count++;
  }
  if (offset === data.byteLength && count === expected) return;
  const found = offset === data.byteLength || count > expected ? `${count} elements` : `element ${count} cut off`;
  throw refusal(
    plan,
    `expected ${expected} string elements for input '${name}', got ${count > expected ? 'more' : found}`,
  );
}

/** Whether the two tensors may stand in one batch: same shape beyond the batch dimension. Both passed `checkInputs`. */
export function sameItemShape(a: Shape, b: Shape): boolean {
  if (a.length !== b.length) return false;
  for (let i = 1; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** What the model takes, as messages list it. */
function takes(plan: ModelPlan): string {
  const own = plan.inputs.filter(({ spec }) => roleOf(spec) === 'input');
  const inputs = own.map(({ spec }) => {
    const shape = spec.dims === undefined ? '' : ` ${formatShape(withBatch(plan, -1, spec.dims))}`;
    return `${spec.optional ? 'optionally ' : ''}'${spec.name}' ${spec.datatype}${shape}`;
  });
  return `the model takes ${inputs.length === 0 ? 'no inputs' : inputs.join(', ')}`;
}

function refusal(plan: ModelPlan, message: string): PyTorchBackendError {
  return new PyTorchBackendError({
    code: 'INVALID_ARG',
    reason: 'request',
    message: `model '${plan.modelName}': ${message}`,
  });
}
