/** Joins requests into the one batch that crosses into the addon. Bytes are viewed, never copied, on this side. */
import type { InferenceRequest, RequestSignature, Tensor } from '@nereid/core';
import { InferenceServerError } from '@nereid/core';
import type { Batch } from '@nereid/native';
import { checkInputs, findControl, findInput, rowsOf, sameItemShape } from './check-inputs.ts';
import { checkTurn } from './check-turn.ts';
import { PyTorchBackendError } from './errors.ts';
import { ABSENT, joinInputs } from './join-inputs.ts';
import type { ModelPlan } from './model-plan.ts';
import type { KeptState } from './sequence-states.ts';
import type { InputSource } from './tensor-spec.ts';

/** Requests on their way through the model. */
export interface GatheredBatch {
  /** Those that run: refused and cancelled ones were answered already. */
  readonly requests: readonly InferenceRequest[];
  /** Rows of each request. */
  readonly rows: readonly number[];
  /** Their sum; 0 means that there is nothing to run. */
  readonly total: number;
  readonly crossing: Batch;
  /** Memory of each request's sequence; absent without implicit state. */
  readonly kept?: readonly (KeptState | undefined)[] | undefined;
}

interface RefusedRequest {
  readonly request: InferenceRequest;
  readonly error: InferenceServerError;
}

export interface Gathering {
  /** Undefined when no request is left to run. */
  readonly batch: GatheredBatch | undefined;
  readonly refused: readonly RefusedRequest[];
}

const NONE: readonly RefusedRequest[] = [];

/** What the requests of one signature have in common on their way into a model. */
interface Layout {
  readonly plan: ModelPlan;
  readonly rows: readonly number[];
  readonly total: number;
  readonly shapes: readonly number[];
  /** Whether the request's inputs stand in the order of the model. */
  readonly inOrder: boolean;
}

/** Layouts of signatures whose requests have run alone. */
const LAYOUTS = new WeakMap<RequestSignature, Layout>();

/** Gathers what can run together; a request that cannot is refused alone, a batch that is too large is refused whole. */
export function gather(plan: ModelPlan, requests: readonly InferenceRequest[]): Gathering {
  const { signature, isCancelled } = requests[0] ?? NOBODY;
  if (requests.length > 1 || signature === undefined || isCancelled || !plan.isPlain) return gatherAny(plan, requests);
  const layout = LAYOUTS.get(signature);
  if (layout?.plan === plan && layout.inOrder) return gatherAgain(layout, requests);
  const gathering = gatherAny(plan, requests);
  const { batch } = gathering;
  if (batch !== undefined) LAYOUTS.set(signature, layoutOf(plan, batch));
  return gathering;
}

const NOBODY = { signature: undefined, isCancelled: false };

/** One request of a known signature, alone. */
function gatherAgain({ rows, total, shapes }: Layout, requests: readonly InferenceRequest[]): Gathering {
  const buffers: Uint8Array[] = [];
  const inputs = requests[0]?.inputs ?? [];
  for (let i = 0; i < inputs.length; i++) {
    const input = inputs[i];
    if (input !== undefined) buffers.push(input.data);
  }
  return { batch: { requests, rows, total, crossing: { buffers, rows, shapes } }, refused: NONE };
}

function layoutOf(plan: ModelPlan, { requests, rows, total, crossing }: GatheredBatch): Layout {
  const inputs = requests[0]?.inputs ?? [];
  const inOrder =
    inputs.length === plan.inputs.length && plan.inputs.every(({ spec }, i) => inputs[i]?.name === spec.name);
  return { plan, rows, total, shapes: crossing.shapes, inOrder };
}

function gatherAny(plan: ModelPlan, requests: readonly InferenceRequest[]): Gathering {
  const accepted: InferenceRequest[] = [];
  const tensors: Tensor[] = [];
  const rows: number[] = [];
  let refused = NONE;
  let total = 0;
  for (const request of requests) {
    const fault = collect(plan, { request, first: accepted[0], tensors });
    if (fault !== undefined) {
      refused = [...refused, { request, error: fault }];
      continue;
    }
    accepted.push(request);
    const own = rowsOf(plan, request);
    rows.push(own);
    total += own;
  }
  if (accepted.length === 0) return { batch: undefined, refused };
  if (total > Math.max(plan.maxBatchSize, 1)) {
    const error = tooLarge(plan, total);
    return { batch: undefined, refused: [...refused, ...accepted.map((request) => ({ request, error }))] };
  }
  try {
    const { buffers, shapes } = joinInputs(plan, tensors);
    return { batch: { requests: accepted, rows, total, crossing: { buffers, rows, shapes } }, refused };
  } catch (thrown) {
    const error = InferenceServerError.from(thrown);
    return { batch: undefined, refused: [...refused, ...accepted.map((request) => ({ request, error }))] };
  }
}

interface Collected {
  readonly request: InferenceRequest;
  /** First request of the batch, which every other must agree with. */
  readonly first: InferenceRequest | undefined;
  /** Tensors of the accepted requests, request by request; gets those of this one. */
  readonly tensors: Tensor[];
}

/** Signatures whose requests passed the checks, and for which model: those depend on nothing that differs between them. */
const CHECKED = new WeakMap<RequestSignature, ModelPlan>();

/** Appends the request's tensors in the order of the model, or says why it cannot run. */
function collect(plan: ModelPlan, { request, first, tensors }: Collected): InferenceServerError | undefined {
  if (request.isCancelled) return cancelled(plan, request);
  const { signature } = request;
  try {
    if (signature === undefined || CHECKED.get(signature) !== plan) {
      checkInputs(plan, request);
      if (signature !== undefined) CHECKED.set(signature, plan);
    }
    if (!plan.isPlain) checkTurn(plan, request);
  } catch (thrown) {
    return InferenceServerError.from(thrown);
  }
  const isLikeFirst = first === undefined || (signature !== undefined && signature === first.signature);
  const start = tensors.length;
  const { inputs } = plan;
  for (let i = 0; i < inputs.length; i++) {
    const input = inputs[i];
    if (input === undefined) continue;
    const { name, source } = input.spec;
    const tensor = (source === undefined ? findInput(request, name, i) : findFrom(source, request, name)) ?? ABSENT;
    if (!isLikeFirst && !goTogether(tensor, tensors[i] ?? ABSENT, source)) {
      tensors.length = start;
      return mixedShapes(plan, name);
    }
    tensors.push(tensor);
  }
  return undefined;
}

/** What a request itself brings for an input that is not simply one of its own tensors. */
function findFrom({ type }: InputSource, request: InferenceRequest, name: string): Tensor | undefined {
  if (type === 'ragged') return findInput(request, name, 0);
  return type === 'control' ? findControl(request, name) : undefined;
}

/** Whether tensors of two requests may stand in one batch. */
function goTogether(a: Tensor, b: Tensor, source: InputSource | undefined): boolean {
  if ((a === ABSENT) !== (b === ABSENT)) return false;
  return source?.type === 'ragged' || sameItemShape(a.shape, b.shape);
}

function cancelled(plan: ModelPlan, request: InferenceRequest): PyTorchBackendError {
  return new PyTorchBackendError({
    code: 'CANCELLED',
    reason: 'cancelled',
    message: `request '${request.id}' for model '${plan.modelName}' was cancelled before it ran`,
  });
}

function tooLarge(plan: ModelPlan, total: number): PyTorchBackendError {
  return new PyTorchBackendError({
    code: 'INTERNAL',
    reason: 'request',
    message: `batch size ${total} for '${plan.modelName}', max allowed is ${Math.max(plan.maxBatchSize, 1)}`,
  });
}

function mixedShapes(plan: ModelPlan, input: string): PyTorchBackendError {
  return new PyTorchBackendError({
    code: 'INTERNAL',
    reason: 'request',
    message: `model '${plan.modelName}': input '${input}' has another shape than in the batch's first request, or only one of them has it; only equal shapes run together`,
  });
}
