/** Puts the tensors of a batch's requests into the form in which they cross into the addon. */
import { elementCount, type Shape, type Tensor } from '@nereid/core';
import type { Batch } from '@nereid/native';
import { makeBatchInput } from './batch-inputs.ts';
import { checkJoined, modelShape } from './check-inputs.ts';
import type { ModelPlan, PlannedInput } from './model-plan.ts';
import type { BatchInputSource } from './tensor-spec.ts';

export type Joined = Pick<Batch, 'buffers' | 'shapes'>;

/** Stands for the tensor of an optional input that a request leaves out, and where none of the request's own goes. */
export const ABSENT: Tensor = { name: '', datatype: 'BOOL', shape: [], data: new Uint8Array(0) };

/** What the addon takes for the rank of an input that all requests of a batch leave out. */
const ABSENT_RANK = -1;

/**
 * @param tensors  one per input of the plan for each request, request by request
 * @throws {PyTorchBackendError} `request`: more together than a package was compiled for
 */
export function joinInputs(plan: ModelPlan, tensors: readonly Tensor[]): Joined {
  if (plan.isPlain) return { buffers: buffersOf(plan, tensors), shapes: shapesOf(plan, tensors) };
  const buffers: Uint8Array[] = [];
  const shapes: number[] = [];
  for (const [i, input] of plan.inputs.entries())
    joinInput(plan, { input, tensors: column(plan, tensors, i), all: tensors, buffers, shapes });
  return { buffers, shapes };
}

/** From request-major to the addon's input-major order. */
function buffersOf(plan: ModelPlan, tensors: readonly Tensor[]): Uint8Array[] {
  const inputs = plan.inputs.length;
  const buffers: Uint8Array[] = [];
  for (let input = 0; input < inputs; input++) {
    for (let i = input; i < tensors.length; i += inputs) {
      const tensor = tensors[i];
      if (tensor !== undefined) buffers.push(tensor.data);
    }
  }
  return buffers;
}

function shapesOf(plan: ModelPlan, tensors: readonly Tensor[]): number[] {
  const shapes: number[] = [];
  const { inputs } = plan;
  for (let i = 0; i < inputs.length; i++) {
    const [input, tensor] = [inputs[i], tensors[i]];
    if (input === undefined || tensor === undefined || tensor === ABSENT) shapes.push(ABSENT_RANK);
    else appendShape(shapes, modelShape(plan, input, tensor.shape));
  }
  return shapes;
}

interface Joining {
  readonly input: PlannedInput;
  /** Of each request. */
  readonly tensors: readonly Tensor[];
  /** Of all inputs, request by request. */
  readonly all: readonly Tensor[];
  readonly buffers: Uint8Array[];
  readonly shapes: number[];
}

function joinInput(plan: ModelPlan, { input, tensors, all, buffers, shapes }: Joining): void {
  const { source, datatype } = input.spec;
  if (source?.type === 'state') return;
  if (source?.type === 'batch') {
    const made = makeBatchInput({
      kind: source.kind,
      datatype,
      shapes: sourceShapes(plan, source, all),
      isBatching: plan.maxBatchSize > 0,
    });
    checkJoined(plan, input, made.shape);
    buffers.push(made.data);
    appendShape(shapes, made.shape);
    return;
  }
  for (const { data } of tensors) buffers.push(data);
  const [first] = tensors;
  if (first === undefined || first === ABSENT) {
    shapes.push(ABSENT_RANK);
  } else if (source?.type === 'ragged') {
    const shape = [tensors.reduce((total, tensor) => total + elementCount(tensor.shape), 0)];
    checkJoined(plan, input, shape);
    appendShape(shapes, shape);
  } else {
    appendShape(shapes, modelShape(plan, input, first.shape));
  }
}

function sourceShapes(plan: ModelPlan, { of }: BatchInputSource, tensors: readonly Tensor[]): Shape[] {
  const source = plan.inputs.findIndex(({ spec }) => spec.name === of);
  return column(plan, tensors, source).map(({ shape }) => shape);
}

/** The tensors of one input, request by request. */
function column(plan: ModelPlan, tensors: readonly Tensor[], input: number): Tensor[] {
  const found: Tensor[] = [];
  for (let i = input; i < tensors.length; i += plan.inputs.length) found.push(tensors[i] ?? ABSENT);
  return found;
}

function appendShape(shapes: number[], shape: Shape): void {
  shapes.push(shape.length);
  for (let i = 0; i < shape.length; i++) shapes.push(shape[i] ?? 0);
}
