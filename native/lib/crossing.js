/**
 * The JS side of the boundary. Making objects and reading their fields costs several times more through Node-API than in JS, so the addon's functions take
 * and give flat arguments, and what binding.d.ts promises is put together here.
 */

/** `values`: per output datatype, data, offsets or undefined, rank, and that many dimensions. */
function outcomeOf(inputNs, inferNs, outputNs, ...values) {
  const outputs = [];
  for (let i = 0; i < values.length; ) {
    const end = i + 4 + values[i + 3];
    const shape = values.slice(i + 4, end);
    const [datatype, data, offsets] = [values[i], values[i + 1], values[i + 2]];
    outputs.push(offsets === undefined ? { datatype, shape, data } : { datatype, shape, data, offsets });
    i = end;
  }
  return { outputs, inputNs, inferNs, outputNs };
}

class Instance {
  #execute;
  #executeSync;
  #close;
  /** Buffers of the batches under way, oldest first: reachable from `deliver`, which the addon holds, so that no collection frees what is borrowed. */
  #borrowed = [];

  constructor(model, options) {
    const { onComplete } = options;
    const deliver = (error, ...outcome) => {
      this.#borrowed.shift();
      onComplete(error, error === undefined ? outcomeOf(...outcome) : undefined);
    };
    const native = model.createInstance(options, deliver);
    this.#execute = native.execute;
    this.#executeSync = native.executeSync;
    this.#close = native.close;
  }

  execute({ buffers, rows, shapes }) {
    this.#execute(buffers, rows, shapes);
    this.#borrowed.push(buffers.slice());
  }

  executeSync({ buffers, rows, shapes }) {
    return this.#executeSync(buffers, rows, shapes, outcomeOf);
  }

  close() {
    return this.#close();
  }
}

/** The addon's model with instances as binding.d.ts describes them. */
export function wrapModel(model) {
  return { ...model, createInstance: (options) => new Instance(model, options) };
}
