/** The JS side of batching libraries. What they ask of every request crosses as numbers; the rest only when one asks. */

/** TRITONSERVER_DataType. */
const DATATYPES = new Map(
  'BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FP16 FP32 FP64 BYTES BF16'
    .split(' ')
    .map((name, i) => [name, i + 1]),
);

const [IS_START, IS_END, IS_CANCELLED] = [1, 2, 4];
const LOG_LEVELS = ['info', 'warn', 'error', 'debug'];

/** As binding.d.ts describes it. */
export class BatchStrategyLibrary {
  #native;
  /** Index by name. */
  #inputNames;
  #outputNames;
  #numbers = new Float64Array(64);
  /** That of the call under way. */
  #request;

  constructor(addon, options) {
    const { library, modelName, modelVersion, modelDirectory, config, inputNames, outputNames, onLog } = options;
    this.#inputNames = new Map(inputNames.map((name, i) => [name, i]));
    this.#outputNames = outputNames;
    const describe = () => this.#describe(this.#request);
    const log = (level, message) => onLog(LOG_LEVELS[level] ?? 'info', message);
    this.#native = addon.openBatchStrategy(
      ...[library, modelName, modelVersion, modelDirectory, config, inputNames, describe, log],
    );
  }

  startBatch() {
    return this.#native.startBatch();
  }

  include(batch, request) {
    this.#pack(request);
    this.#request = request;
    try {
      return this.#native.include(batch, this.#numbers);
    } finally {
      this.#request = undefined;
    }
  }

  endBatch(batch) {
    this.#native.endBatch(batch);
  }

  close() {
    this.#native.close();
  }

  #pack({ inputs, sequenceStart, sequenceEnd, isCancelled }) {
    const numbers = this.#room(inputs);
    numbers[0] = (sequenceStart ? IS_START : 0) | (sequenceEnd ? IS_END : 0) | (isCancelled ? IS_CANCELLED : 0);
    numbers[1] = inputs.length;
    let at = 2;
    for (const { name, datatype, data, shape } of inputs) {
      const index = this.#inputNames.get(name);
      if (index === undefined)
        throw new TypeError(`'${name}' is not among the inputs that the strategy was opened with`);
      numbers[at++] = index;
      numbers[at++] = DATATYPES.get(datatype) ?? 0;
      numbers[at++] = data.byteLength;
      numbers[at++] = shape.length;
      for (const dim of shape) numbers[at++] = dim;
    }
  }

  #room(inputs) {
    let length = 2;
    for (const { shape } of inputs) length += 4 + shape.length;
    if (length > this.#numbers.length) this.#numbers = new Float64Array(2 * length);
    return this.#numbers;
  }

  #describe({ id, correlationId, requestedOutputs, parameters, inputs }) {
    const outputs = requestedOutputs.length > 0 ? requestedOutputs : this.#outputNames;
    return [id, correlationId, outputs, [...parameters].flat(), inputs.map(({ data }) => data)];
  }
}
