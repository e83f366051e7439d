/** Makes the control tensors of sequences: START, END, READY and the correlation ID, as a model's configuration wants them encoded. */
import { type Datatype, datatypeFromConfig, encodeBytes, type Tensor, tensorFrom } from '@nereid/core';
import type { SequenceControl, SequenceControlInput } from './sequence-batching.ts';

export type CorrelationId = number | bigint | string;

/** What the flags of one row say. */
interface RowFlags {
  readonly isStart: boolean;
  readonly isEnd: boolean;
  readonly isReady: boolean;
  readonly correlationId: Tensor | undefined;
}

type ControlMaker = (row: RowFlags) => Tensor | undefined;

/** The control tensors of a model. Tensors are shared by all rows that say the same, and must not be written to. */
export class ControlTensors {
  /** Those of a row that stands for no request: nothing is true, the correlation ID is 0 or ''. */
  readonly padding: readonly Tensor[];
  /** Name and datatype of the tensor for the correlation ID; undefined when the model takes none. */
  readonly correlationId: { readonly name: string; readonly datatype: Datatype } | undefined;
  readonly #makers: readonly ControlMaker[];
  readonly #shape: readonly number[];

  /**
   * @param hasBatchDimension  whether a row has the shape [1, 1] instead of [1]
   * @throws {RangeError} for a control without values, or an ID of a datatype that it cannot have
   */
  constructor(inputs: readonly SequenceControlInput[], hasBatchDimension: boolean) {
    this.#shape = hasBatchDimension ? [1, 1] : [1];
    const single = inputs.flatMap(({ name, control: [control] }) => (control === undefined ? [] : [{ name, control }]));
    const id = single.find(({ control }) => control.kind === 'CONTROL_SEQUENCE_CORRID');
    this.correlationId = id && { name: id.name, datatype: correlationIdType(id) };
    this.#makers = single.map((input) => this.#maker(input));
    this.padding = this.#row({ isStart: false, isEnd: false, isReady: false, correlationId: this.#idTensor(0) });
  }

  /** Those of the requests of one sequence. */
  of(correlationId: CorrelationId): SequenceControls {
    const id = this.#idTensor(correlationId);
    return new SequenceControls((isStart, isEnd) => this.#row({ isStart, isEnd, isReady: true, correlationId: id }));
  }

  #row(flags: RowFlags): readonly Tensor[] {
    return this.#makers.map((make) => make(flags)).filter((tensor) => tensor !== undefined);
  }

  #maker({ name, control }: { readonly name: string; readonly control: SequenceControl }): ControlMaker {
    if (control.kind === 'CONTROL_SEQUENCE_CORRID') return ({ correlationId }) => correlationId;
    const [no, yes] = falseAndTrue({ name, shape: this.#shape, control });
    switch (control.kind) {
      case 'CONTROL_SEQUENCE_START':
        return ({ isStart }) => (isStart ? yes : no);
      case 'CONTROL_SEQUENCE_END':
        return ({ isEnd }) => (isEnd ? yes : no);
      case 'CONTROL_SEQUENCE_READY':
        return ({ isReady }) => (isReady ? yes : no);
      default:
        return control.kind satisfies never;
    }
  }

  #idTensor(value: CorrelationId): Tensor | undefined {
    if (this.correlationId === undefined) return undefined;
    const { name, datatype } = this.correlationId;
    return { name, datatype, shape: this.#shape, data: encodeId(value, datatype) };
  }
}

/** The control tensors of one sequence, made when they are first asked for. */
export class SequenceControls {
  readonly #make: (isStart: boolean, isEnd: boolean) => readonly Tensor[];
  readonly #made: (readonly Tensor[] | undefined)[] = [undefined, undefined, undefined, undefined];

  constructor(make: (isStart: boolean, isEnd: boolean) => readonly Tensor[]) {
    this.#make = make;
  }

  get(isStart: boolean, isEnd: boolean): readonly Tensor[] {
    const index = (isStart ? 1 : 0) + (isEnd ? 2 : 0);
    const made = this.#made[index] ?? this.#make(isStart, isEnd);
    this.#made[index] = made;
    return made;
  }
}

const ID_DATATYPES: readonly (Datatype | undefined)[] = ['UINT64', 'INT64', 'UINT32', 'INT32', 'BYTES'];

function correlationIdType({ name, control }: { readonly name: string; readonly control: SequenceControl }): Datatype {
  const datatype = datatypeFromConfig(control.dataType ?? '');
  if (datatype !== undefined && ID_DATATYPES.includes(datatype)) return datatype;
  throw new RangeError(
    `the correlation ID '${name}' must be TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 or TYPE_STRING, got ${control.dataType ?? 'none'}`,
  );
}

/** Numbers by their low bytes, so that a 32-bit tensor truncates. */
function encodeId(value: CorrelationId, datatype: Datatype): Uint8Array {
  if (datatype === 'BYTES') return encodeBytes([value === 0 ? '' : String(value)]);
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, BigInt(value)), true);
  return datatype === 'UINT64' || datatype === 'INT64' ? bytes : bytes.slice(0, 4);
}

function falseAndTrue(place: {
  readonly name: string;
  readonly shape: readonly number[];
  readonly control: SequenceControl;
}): readonly [no: Tensor, yes: Tensor] {
  const { name, shape, control } = place;
  const { int32FalseTrue: ints = [], fp32FalseTrue: floats = [], boolFalseTrue: flags = [] } = control;
  if (ints.length === 2) {
    const make = (value: number) => tensorFrom({ name, shape, datatype: 'INT32' }, Int32Array.of(value));
    return [make(ints[0] ?? 0), make(ints[1] ?? 0)];
  }
  if (floats.length === 2) {
    const make = (value: number) => tensorFrom({ name, shape, datatype: 'FP32' }, Float32Array.of(value));
    return [make(floats[0] ?? 0), make(floats[1] ?? 0)];
  }
  if (flags.length === 2) {
    const make = (value: boolean) => tensorFrom({ name, shape, datatype: 'BOOL' }, Uint8Array.of(value ? 1 : 0));
    return [make(flags[0] ?? false), make(flags[1] ?? false)];
  }
  throw new RangeError(
    `control tensor '${name}' needs int32FalseTrue, fp32FalseTrue or boolFalseTrue: the value for false, then that for true`,
  );
}
