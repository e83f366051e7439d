/**
 * The JS side of the boundary. Making objects and reading their fields costs several times more through Node-API than in JS, so the addon's functions take
 * and give flat arguments, and what binding.d.ts promises is put together here.
 */

/** Turns flat outcomes into objects. A shape that is that of the outcome before is the same array. */
class OutcomeReader {
  #shapes = [];

  /** `values`: per output datatype, data, offsets or undefined, rank, and that many dimensions. */
  read(inputNs, inferNs, outputNs, values) {
    const outputs = [];
    for (let i = 0; i < values.length; ) {
      const [datatype, data, offsets, rank] = [values[i], values[i + 1], values[i + 2], values[i + 3]];
      const shape = this.#shape(outputs.length, values, i + 4, rank);
      outputs.push(offsets === undefined ? { datatype, shape, data } : { datatype, shape, data, offsets });
      i += 4 + rank;
    }
    return { outputs, inputNs, inferNs, outputNs };
  }

  #shape(output, values, start, rank) {
    const known = this.#shapes[output];
    if (known !== undefined && isAt(known, values, start, rank)) return known;
    const shape = values.slice(start, start + rank);
    this.#shapes[output] = shape;
    return shape;
  }
}

function isAt(shape, values, start, rank) {
  if (shape.length !== rank) return false;
  for (let i = 0; i < rank; i++) if (shape[i] !== values[start + i]) return false;
  return true;
}

class Instance {
  #execute;
  #executeSync;
  #wakeUp;
  #close;
  /** Buffers of the batches under way, oldest first: reachable from `deliver`, which the addon holds, so that no collection frees what is borrowed. */
  #borrowed = [];
  /** Of the batch before: arrays that come again need not cross again. */
  #rows;
  #shapes;
  #isWakeUpAsked = false;
  #reader = new OutcomeReader();
  #take = (inputNs, inferNs, outputNs, ...values) => this.#reader.read(inputNs, inferNs, outputNs, values);

  constructor(model, options) {
    const { onComplete } = options;
    const deliver = (error, inputNs, inferNs, outputNs, ...values) => {
      this.#borrowed.shift();
      onComplete(error, error === undefined ? this.#reader.read(inputNs, inferNs, outputNs, values) : undefined);
    };
    const native = model.createInstance(options, deliver);
    this.#execute = native.execute;
    this.#executeSync = native.executeSync;
    this.#close = native.close;
    this.#wakeUp = () => {
      this.#isWakeUpAsked = false;
      native.wakeUp();
    };
  }

  execute({ buffers, rows, shapes, sequences, sides }) {
    // What else this turn of the event loop brings shares one wake-up of the thread; the first batch has its own, and so begins at once.
    const moreMayFollow = this.#borrowed.length > 0;
    const owesWakeUp = this.#isNew(rows, shapes)
      ? this.#execute(buffers, rows, shapes, moreMayFollow, sequences, sides)
      : this.#execute(buffers, undefined, undefined, moreMayFollow, sequences, sides);
    this.#rows = rows;
    this.#shapes = shapes;
    this.#borrowed.push(buffers);
    if (!owesWakeUp || this.#isWakeUpAsked) return;
    this.#isWakeUpAsked = true;
    setImmediate(this.#wakeUp);
  }

  executeSync({ buffers, rows, shapes, sequences, sides }) {
    const outcome = this.#isNew(rows, shapes)
      ? this.#executeSync(buffers, rows, shapes, this.#take, sequences, sides)
      : this.#executeSync(buffers, undefined, undefined, this.#take, sequences, sides);
    this.#rows = rows;
    this.#shapes = shapes;
    return outcome;
  }

  close() {
    return this.#close();
  }

  /** Whether these are not the arrays of the batch before. New ones become the known ones when the addon has taken them. */
  #isNew(rows, shapes) {
    if (rows !== undefined && rows === this.#rows && shapes === this.#shapes) return false;
    this.#rows = undefined;
    return true;
  }
}

/** The addon's model with instances as binding.d.ts describes them. */
export function wrapModel(model) {
  return { ...model, createInstance: (options) => new Instance(model, options) };
}
