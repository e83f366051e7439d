/**
 * The classification extension: an output is sent as its largest values, each as `value:index` or `value:index:label`, in a BYTES tensor. Both protocols ask
 * for it per requested output. Source: Triton `src/classification.cc`.
 */
import {
  DATATYPES,
  type Datatype,
  elementCount,
  elements,
  encodeBytes,
  type InferenceResponse,
  type Tensor,
} from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { realText } from './class-value.ts';
import { ServingError } from './errors.ts';
import type { Labels } from './labels.ts';
import { largest } from './largest.ts';
import { tensorSpecs } from './tensor-spec.ts';

/** How many classes are wanted of an output, by its name. */
export type WantedClasses = ReadonlyMap<string, number>;

/** Results of all rows together. */
const MAX_RESULTS = 1_000_000;

/** Turns outputs of one model version into their classes. */
export class Classification {
  readonly #config: ModelConfig;
  readonly #labels: Labels;
  readonly #wanted: WantedClasses;

  /**
   * @param wanted  classes per output, from 1 on; outputs that the model does not have are left to the request's own check
   * @throws {ServingError} `bad-request` for an output whose datatype has no order: BOOL, BYTES, FP16, BF16
   */
  constructor(model: { readonly config: ModelConfig; readonly labels: Labels }, wanted: WantedClasses) {
    this.#config = model.config;
    this.#labels = model.labels;
    this.#wanted = wanted;
    for (const { name, datatype } of tensorSpecs(model.config).outputs) {
      if (wanted.has(name) && !isRanked(datatype)) throw unranked(name, datatype);
    }
  }

  /**
   * The response with classes in place of the outputs that were asked for: shape [rows, classes] for a model that batches, [classes] otherwise, as many as there
   * are at most. They are copies; the memory of `response` still goes back with its own `release`.
   * @throws {ServingError} `bad-request` for more than 1 000 000 results
   */
  apply(response: InferenceResponse): InferenceResponse {
    const { modelName, modelVersion, outputs, parameters } = response;
    const told = outputs.map((output) => {
      const count = this.#wanted.get(output.name);
      return count === undefined ? output : this.#classify(output, count);
    });
    return { modelName, modelVersion, outputs: told, ...(parameters && { parameters }) };
  }

  #classify(output: Tensor, wanted: number): Tensor {
    const isBatching = this.#config.maxBatchSize > 0;
    const [first = 1] = output.shape;
    const rows = isBatching ? first : 1;
    const length = elementCount(isBatching ? output.shape.slice(1) : output.shape);
    const count = Math.min(wanted, length);
    if (rows * count > MAX_RESULTS) throw tooMany(output.name, rows * count);
    const print = printer(output);
    const labels = this.#labels.get(output.name) ?? [];
    const results: string[] = [];
    for (let row = 0; row < rows; row++) {
      const start = row * length;
      for (const index of largest(print.values, { start, length, count })) {
        const label = labels[index];
        results.push(`${print.text(start + index)}:${index}${label === undefined || label === '' ? '' : `:${label}`}`);
      }
    }
    const shape = isBatching ? [rows, count] : [count];
    return { name: output.name, datatype: 'BYTES', shape, data: encodeBytes(results) };
  }
}

function printer(output: Tensor) {
  const values = elements(output);
  const isReal = output.datatype === 'FP32' || output.datatype === 'FP64';
  const text = (at: number) => (isReal ? realText(Number(values[at])) : String(values[at]));
  return { values, text };
}

/** Whether the elements are numbers that have an order and can be read as they lie in memory. */
function isRanked(datatype: Datatype): boolean {
  return datatype !== 'BOOL' && datatype !== 'FP16' && datatype !== 'BF16' && DATATYPES[datatype].byteSize > 0;
}

function unranked(output: string, datatype: Datatype): ServingError {
  return new ServingError(
    'bad-request',
    `class result not available for output '${output}' due to unsupported type '${datatype}'; integers, FP32 and FP64 have one`,
  );
}

function tooMany(output: string, count: number): ServingError {
  const message = `classification of output '${output}' has ${count} results, at most ${MAX_RESULTS} are sent; ask for fewer classes`;
  return new ServingError('bad-request', message);
}
