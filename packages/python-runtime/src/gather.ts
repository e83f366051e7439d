/** Joins requests into calls of `forward`. Bytes are viewed, never copied: the transport writes them to their place in one go. */
import {
  describeTensor,
  expectedByteSize,
  formatShape,
  type InferenceRequest,
  InferenceServerError,
  type Shape,
  shapeMatches,
  type Tensor,
} from '@nereid/core';
import { PythonRuntimeError } from './errors.ts';
import type { ModelPlan, TensorPlan } from './model-plan.ts';
import { reshaped } from './reshape.ts';
import type { OutgoingTensor } from './transport/index.ts';

/** Requests that one call of `forward` answers. */
export interface Batch {
  readonly requests: readonly InferenceRequest[];
  /** Rows of each request; 1 without batching. */
  readonly rows: readonly number[];
  /** Their sum. */
  readonly total: number;
  /** Arguments of `forward`, but for states: each input and control joined along dimension 0. */
  readonly tensors: readonly OutgoingTensor[];
}

interface RefusedRequest {
  readonly request: InferenceRequest;
  readonly error: InferenceServerError;
}

export interface Gathering {
  /** One with batching, one per request without. */
  readonly batches: readonly Batch[];
  readonly refused: readonly RefusedRequest[];
}

/** A request that cannot run is refused alone; a batch beyond `max_batch_size` is refused whole. */
export function gather(plan: ModelPlan, requests: readonly InferenceRequest[]): Gathering {
  const accepted: Accepted[] = [];
  const refused: RefusedRequest[] = [];
  for (const request of requests) {
    try {
      accepted.push(accept(plan, { request, first: plan.maxBatchSize > 0 ? accepted[0] : undefined }));
    } catch (thrown) {
      refused.push({ request, error: InferenceServerError.from(thrown) });
    }
  }
  if (plan.maxBatchSize === 0) return { batches: accepted.map((one) => join(plan, [one])), refused };
  const total = accepted.reduce((sum, { rows }) => sum + rows, 0);
  if (total <= plan.maxBatchSize) return { batches: accepted.length === 0 ? [] : [join(plan, accepted)], refused };
  const error = tooLarge(plan, total);
  return { batches: [], refused: [...refused, ...accepted.map(({ request }) => ({ request, error }))] };
}

/** A request whose tensors were checked. */
interface Accepted {
  readonly request: InferenceRequest;
  readonly rows: number;
  /** In the order of the plan. */
  readonly tensors: readonly Tensor[];
}

function accept(
  plan: ModelPlan,
  { request, first }: { readonly request: InferenceRequest; readonly first: Accepted | undefined },
): Accepted {
  // A request of a sequence keeps its row, which may be what its model knows the sequence by.
  if (request.isCancelled && plan.sequence === undefined) throw cancelled(plan, request);
  const rows = plan.maxBatchSize > 0 ? (request.inputs[0]?.shape[0] ?? 1) : 1;
  const tensors = plan.inputs.map((input, i) => {
    const tensor = find(request.inputs, input.name, i);
    if (tensor === undefined) throw refusal(plan, `input '${input.name}' is missing; ${takes(plan)}`);
    checkTensor(plan, { input, tensor, rows });
    const reference = first?.tensors[i];
    if (reference !== undefined && !sameRows(reference.shape, tensor.shape)) throw mixedShapes(plan, input.name);
    return tensor;
  });
  if (clientInputs(plan, request).length !== plan.inputs.length)
    throw refusal(plan, `an input is unknown or given twice; ${takes(plan)}`);
  const controls = plan.sequence?.controls ?? [];
  for (const [i, input] of controls.entries()) tensors.push(control(plan, { request, input, rows, hint: i }));
  return { request, rows, tensors };
}

/** Without the controls and states that a warmup sample brings along, as no scheduler adds them. */
function clientInputs({ sequence }: ModelPlan, { inputs, turn }: InferenceRequest): readonly Tensor[] {
  if (sequence === undefined || turn !== undefined) return inputs;
  const added = new Set([...sequence.controls, ...sequence.states.map(({ input }) => input)].map(({ name }) => name));
  return inputs.filter(({ name }) => !added.has(name));
}

interface ControlPlace {
  readonly request: InferenceRequest;
  readonly input: TensorPlan;
  readonly rows: number;
  readonly hint: number;
}

function control(plan: ModelPlan, { request, input, rows, hint }: ControlPlace): Tensor {
  const tensor = find(request.turn?.controls ?? request.inputs, input.name, hint);
  if (tensor === undefined) {
    throw refusal(plan, `control tensor '${input.name}' did not come with the request; its scheduler makes it`);
  }
  checkTensor(plan, { input, tensor, rows });
  return tensor;
}

function find(tensors: readonly Tensor[], name: string, hint: number): Tensor | undefined {
  const candidate = tensors[hint];
  return candidate?.name === name ? candidate : tensors.find((tensor) => tensor.name === name);
}

function checkTensor(
  plan: ModelPlan,
  { input, tensor, rows }: { readonly input: TensorPlan; readonly tensor: Tensor; readonly rows: number },
): void {
  const declared = plan.maxBatchSize > 0 ? [-1, ...input.dims] : input.dims;
  if (tensor.datatype !== input.datatype) {
    throw refusal(plan, `input ${describeTensor(tensor)}: the model takes ${input.datatype}`);
  }
  if (!shapeMatches(declared, tensor.shape)) {
    throw refusal(
      plan,
      `unexpected shape for input '${tensor.name}': expected ${formatShape(declared)}, got ${formatShape(tensor.shape)}`,
    );
  }
  if (plan.maxBatchSize > 0 && tensor.shape[0] !== rows) {
    throw refusal(
      plan,
      `input '${tensor.name}' has batch size ${tensor.shape[0]}, but the request's first input has ${rows}`,
    );
  }
  const expected = expectedByteSize(tensor.datatype, tensor.shape);
  if (expected !== tensor.data.byteLength) {
    throw refusal(plan, `input ${describeTensor(tensor)} needs ${expected} bytes, got ${tensor.data.byteLength}`);
  }
}

function sameRows(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((dim, i) => i === 0 || dim === b[i]);
}

function join(plan: ModelPlan, accepted: readonly Accepted[]): Batch {
  const total = accepted.reduce((sum, { rows }) => sum + rows, 0);
  const tensors = [...plan.inputs, ...(plan.sequence?.controls ?? [])].map((input, i): OutgoingTensor => {
    const own = accepted.map(({ tensors: all }) => all[i]).filter((tensor) => tensor !== undefined);
    const shape = modelShape(plan, { input, shape: own[0]?.shape ?? [], total });
    return { datatype: input.datatype, shape, parts: own.map(({ data }) => data) };
  });
  return { requests: accepted.map(({ request }) => request), rows: accepted.map(({ rows }) => rows), total, tensors };
}

function modelShape(
  plan: ModelPlan,
  { input, shape, total }: { readonly input: TensorPlan; readonly shape: Shape; readonly total: number },
): Shape {
  const item = plan.maxBatchSize > 0 ? shape.slice(1) : shape;
  const seen = input.reshape === undefined ? item : (reshaped(item, { from: input.dims, to: input.reshape }) ?? item);
  return plan.maxBatchSize > 0 ? [total, ...seen] : seen;
}

function takes(plan: ModelPlan): string {
  const inputs = plan.inputs.map(({ name, datatype, dims }) => `'${name}' ${datatype} ${formatShape(dims)}`);
  return `the model takes ${inputs.length === 0 ? 'no inputs' : inputs.join(', ')}`;
}

function refusal(plan: ModelPlan, message: string): PythonRuntimeError {
  return new PythonRuntimeError({
    code: 'INVALID_ARG',
    reason: 'request',
    message: `model '${plan.modelName}': ${message}`,
  });
}

function cancelled(plan: ModelPlan, request: InferenceRequest): PythonRuntimeError {
  const message = `request '${request.id}' for model '${plan.modelName}' was cancelled before it ran`;
  return new PythonRuntimeError({ code: 'CANCELLED', reason: 'cancelled', message });
}

function tooLarge(plan: ModelPlan, total: number): PythonRuntimeError {
  const message = `batch size ${total} for '${plan.modelName}', max allowed is ${plan.maxBatchSize}`;
  return new PythonRuntimeError({ code: 'INTERNAL', reason: 'request', message });
}

function mixedShapes(plan: ModelPlan, input: string): PythonRuntimeError {
  return new PythonRuntimeError({
    code: 'INTERNAL',
    reason: 'request',
    message: `model '${plan.modelName}': input '${input}' has another shape than in the batch's first request; only equal shapes run together`,
  });
}
