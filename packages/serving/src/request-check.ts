/**
 * Holds a request against the configuration of its model. Order: outputs, input names, then per input datatype and shape, batch,
 * byte size; the first fault is reported. Source: the normalisation that Triton core makes before scheduling.
 */
import { expectedByteSize, type InferenceRequest, shapeMatches, type Tensor } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { bytesFault } from './bytes-check.ts';
import { ServingError } from './errors.ts';
import * as fault from './request-faults.ts';
import { type TensorSpec, tensorSpecs } from './tensor-spec.ts';

export class RequestCheck {
  /**
   * Whether the verdict depends only on names, datatypes, shapes and byte sizes. False with a BYTES input, whose encoding lies in
   * its content.
   */
  readonly isCacheable: boolean;
  readonly #model: fault.ModelSide;
  readonly #inputs: ReadonlyMap<string, TensorSpec>;
  readonly #outputs: ReadonlySet<string>;
  readonly #requiredCount: number;

  /** @param config  completed and validated */
  constructor(config: ModelConfig) {
    const { inputs, outputs } = tensorSpecs(config);
    this.#model = { name: config.name, maxBatchSize: config.maxBatchSize, inputs, outputs };
    this.#inputs = new Map(inputs.map((spec) => [spec.name, spec]));
    this.#outputs = new Set(outputs.map((spec) => spec.name));
    this.#requiredCount = inputs.filter((spec) => !spec.optional).length;
    this.isCacheable = inputs.every((spec) => spec.datatype !== 'BYTES');
  }

  /**
   * @returns the request's batch size: rows of its inputs for a batching model, 1 otherwise
   * @throws {ServingError} INVALID_ARG `bad-request`
   */
  check(request: InferenceRequest): number {
    this.#checkOutputs(request.requestedOutputs);
    this.#checkNames(request.inputs);
    for (const input of request.inputs) this.#checkType(input);
    const batchSize = this.#checkBatch(request.inputs);
    for (const input of request.inputs) this.#checkContent(input);
    return batchSize;
  }

  #checkOutputs(requested: readonly string[]): void {
    for (let i = 0; i < requested.length; i++) {
      const output = requested[i] ?? '';
      if (!this.#outputs.has(output)) throw refusal(fault.unknownOutput(this.#model, output));
      if (requested.indexOf(output) < i) throw refusal(fault.repeatedOutput(this.#model, output));
    }
  }

  #checkNames(inputs: readonly Tensor[]): void {
    // Counting first bounds the work below by the configuration, not by the request.
    const tooMany = inputs.length > this.#inputs.size;
    if (tooMany || inputs.length < this.#requiredCount) throw refusal(fault.inputCount(this.#model, inputs));
    let required = 0;
    for (let i = 0; i < inputs.length; i++) {
      const name = inputs[i]?.name ?? '';
      const spec = this.#inputs.get(name);
      if (spec === undefined) throw refusal(fault.unknownInput(this.#model, name));
      for (let j = 0; j < i; j++) {
        if (inputs[j]?.name === name) throw refusal(fault.repeatedInput(this.#model, name));
      }
      if (!spec.optional) required++;
    }
    if (required < this.#requiredCount) throw refusal(fault.inputCount(this.#model, inputs));
  }

  #checkType(input: Tensor): void {
    const spec = this.#inputs.get(input.name);
    if (spec === undefined) throw refusal(fault.unknownInput(this.#model, input.name));
    if (input.datatype !== spec.datatype) throw refusal(fault.wrongDatatype(this.#model, { input, spec }));
    if (!shapeMatches(spec.shape, input.shape) || !isConcrete(input.shape)) {
      throw refusal(fault.wrongShape(this.#model, { input, spec }));
    }
  }

  #checkBatch(inputs: readonly Tensor[]): number {
    const { maxBatchSize } = this.#model;
    if (maxBatchSize === 0) return 1;
    const batchSize = inputs[0]?.shape[0] ?? 1;
    for (const input of inputs) {
      if (input.shape[0] !== batchSize) throw refusal(fault.batchMismatch(this.#model, { input, batchSize }));
      if (batchSize > maxBatchSize) throw refusal(fault.batchTooLarge(this.#model, input));
    }
    return batchSize;
  }

  #checkContent(input: Tensor): void {
    const expected = expectedByteSize(input.datatype, input.shape);
    if (expected === undefined) {
      const encoding = bytesFault(input);
      if (encoding !== undefined) throw refusal(`${encoding} for model '${this.#model.name}'`);
    } else if (expected !== input.data.byteLength) {
      throw refusal(fault.wrongByteSize(this.#model, { input, expected }));
    }
  }
}

function refusal(message: string): ServingError {
  return new ServingError('bad-request', message);
}

function isConcrete(shape: readonly number[]): boolean {
  return shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0);
}
