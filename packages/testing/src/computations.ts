import { elements, type InferenceRequest, InferenceServerError, type Tensor, tensorFrom } from '@nereid/core';

/**
 * What a fake model computes for one request: its outputs, before the request's own selection of outputs is applied.
 * It may throw an `InferenceServerError`, which then fails the whole batch.
 */
export type Computation = (request: InferenceRequest) => readonly Tensor[];

/** Each input comes back under its own name, as a copy; `rename` gives outputs other names, in the order of the inputs. */
export function identity(rename: readonly string[] = []): Computation {
  return (request) =>
    request.inputs.map((input, index) => ({
      ...input,
      name: rename[index] ?? input.name,
      data: new Uint8Array(input.data),
    }));
}

export interface AddSubNames {
  /** The two inputs, `a` and `b` by default. */
  readonly inputs: readonly [string, string];
  /** Sum and difference, `sum` and `diff` by default. */
  readonly outputs: readonly [string, string];
}

/**
 * Sum and difference of two FP32 tensors of one shape.
 * The computation throws INVALID_ARG for a missing input, another datatype, and different shapes.
 */
export function addSub(names: AddSubNames = { inputs: ['a', 'b'], outputs: ['sum', 'diff'] }): Computation {
  return (request) => {
    const [a, b] = names.inputs.map((name) => fp32(request, name));
    if (a === undefined || b === undefined || a.shape.join() !== b.shape.join()) {
      throw new InferenceServerError(
        'INVALID_ARG',
        `add-sub takes two shapes that agree, got [${a?.shape}] and [${b?.shape}]`,
      );
    }
    const right = elements(b);
    const [sum, diff] = names.outputs;
    return [
      tensorFrom(
        { name: sum, datatype: 'FP32', shape: a.shape },
        elements(a).map((x, i) => x + (right[i] ?? 0)),
      ),
      tensorFrom(
        { name: diff, datatype: 'FP32', shape: a.shape },
        elements(a).map((x, i) => x - (right[i] ?? 0)),
      ),
    ];
  };
}

type Fp32Tensor = Tensor & { readonly datatype: 'FP32' };

function fp32(request: InferenceRequest, name: string): Fp32Tensor {
  const input = request.inputs.find((candidate) => candidate.name === name);
  if (input !== undefined && isFp32(input)) return input;
  throw new InferenceServerError('INVALID_ARG', `add-sub takes FP32 input '${name}', got ${input?.datatype ?? 'none'}`);
}

function isFp32(input: Tensor): input is Fp32Tensor {
  return input.datatype === 'FP32';
}
