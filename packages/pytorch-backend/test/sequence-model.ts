/** A served model with sequences that are stepped by hand, as a scheduler would. */
import { type InferenceRequest, SequenceState, type Tensor } from '@nereid/core';
import type { Init, ModelConfig, ModelSequenceBatchingState } from '@nereid/model-config';
import { tensor, valuesOf } from '@nereid/testing';
import { ServedModel, type ServeOptions } from './served-model.ts';

/** A state that is FP32 with one element per row unless told otherwise. */
export function stateConfig(init: Init<ModelSequenceBatchingState>): Init<ModelSequenceBatchingState> {
  return { dataType: 'TYPE_FP32', dims: [1], ...init };
}

export interface StepInit {
  readonly inputs: readonly Tensor[];
  readonly controls?: readonly Tensor[];
  readonly outputs?: readonly string[];
}

export class TestSequence {
  readonly state = new SequenceState();
  readonly #served: ServedModel;
  readonly #isPadding: boolean;

  constructor(served: ServedModel, options: { readonly isPadding?: boolean } = {}) {
    this.#served = served;
    this.#isPadding = options.isPadding ?? false;
  }

  /** The next request of the sequence. */
  step({ inputs, controls = [], outputs = [] }: StepInit): InferenceRequest {
    const request = this.#served.request(inputs, outputs);
    request.turn = { correlationId: 0, controls, state: this.state, isPadding: this.#isPadding };
    return request;
  }
}

/** One FP32 element in a row. */
export const cell = (name: string, value: number) => tensor({ name, shape: [1, 1], values: [value] });

export const intCell = (name: string, value: number) =>
  tensor({ name, datatype: 'INT32', shape: [1, 1], values: [value] });

/** Values of one output of each request, which run together. */
export async function runStep(
  served: ServedModel,
  output: string,
  requests: readonly InferenceRequest[],
): Promise<(number | bigint | string)[][]> {
  const answers = await served.run(...requests);
  return answers.map((outputs) => {
    const found = outputs.get(output);
    return found === undefined ? [] : valuesOf(found);
  });
}

export function loadSequences(
  file: string,
  config: Init<ModelConfig>,
  options: Partial<ServeOptions> = {},
): Promise<ServedModel> {
  const platform = file.endsWith('.pt2') ? 'torch_aoti' : 'pytorch_libtorch';
  return ServedModel.load({ file, config: { platform, maxBatchSize: 8, ...config }, ...options });
}
