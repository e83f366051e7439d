import type { Datatype, ParameterValue, Shape, SharedMemoryPart, Tensor } from '@nereid/core';
import { usageError } from './errors.ts';
import { assertByteSize, type OutputValues, valuesOf } from './values.ts';

/** An input that lies in shared memory, which the server reads before it answers: leave it unchanged until then. */
export interface SharedInput {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: Shape;
  readonly sharedMemory: SharedMemoryPart;
  readonly data?: undefined;
}

/** An output that is wanted in another form than as it is. */
export interface WantedOutput {
  readonly name: string;
  /** In its place so many classes, the most probable first: BYTES of `value:index` or `value:index:label`. */
  readonly classes?: number;
  /** Written there instead of being sent; the answer then names it without its bytes. */
  readonly sharedMemory?: SharedMemoryPart;
}

/** The place of a request in a sequence; `Sequence` keeps it for you. */
export interface SequenceMark {
  /** Correlation ID. */
  readonly id: number | bigint | string;
  readonly start?: boolean;
  readonly end?: boolean;
}

export interface InferRequest {
  readonly model: string;
  /** The latest when absent. */
  readonly version?: string | undefined;
  /** Comes back with the answer. */
  readonly id?: string;
  /** Bytes are viewed, not copied: leave them unchanged until the request is answered. */
  readonly inputs: readonly (Tensor | SharedInput)[];
  /** Names of outputs, or outputs in another form. Default: all that the model has. */
  readonly outputs?: readonly (string | WantedOutput)[];
  /** Given to the model. */
  readonly parameters?: Readonly<Record<string, ParameterValue>>;
  /** 1 is the most urgent, 0 (default) that of the model. */
  readonly priority?: number;
  /**
   * Microseconds that the request may wait in the server's queue. The model's configuration says whether that is allowed, and what happens then. It is no deadline of the
   * call, which `timeoutMs` is.
   */
  readonly queueTimeoutMicroseconds?: number;
  readonly sequence?: SequenceMark;
}

/** The parameters of a request as the protocol has them. */
export function parametersOf(request: InferRequest): ReadonlyMap<string, ParameterValue> {
  const { parameters = {}, priority = 0, queueTimeoutMicroseconds = 0, sequence } = request;
  const all = new Map<string, ParameterValue>(Object.entries(parameters));
  if (priority !== 0) all.set('priority', priority);
  if (queueTimeoutMicroseconds !== 0) all.set('timeout', queueTimeoutMicroseconds);
  if (sequence !== undefined) {
    all.set('sequence_id', sequence.id);
    all.set('sequence_start', sequence.start ?? false);
    all.set('sequence_end', sequence.end ?? false);
  }
  return all;
}

/** @throws {ClientError} `usage` for what would be refused or misread */
export function assertSendable({ model, inputs }: InferRequest): void {
  if (model === '') throw usageError('the request names no model');
  for (const input of inputs) if (input.data !== undefined) assertByteSize(input);
}

export function wantedOf(output: string | WantedOutput): WantedOutput {
  return typeof output === 'string' ? { name: output } : output;
}

export interface InferResultInit {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly id: string;
  readonly outputs: readonly Tensor[];
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  readonly isFinal?: boolean | undefined;
}

/** What a model answered. Outputs are views of the message they came in. */
export class InferResult {
  readonly modelName: string;
  readonly modelVersion: string;
  /** As the request gave it; '' for none. */
  readonly id: string;
  readonly outputs: readonly Tensor[];
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  /** Whether no further answer to this request follows. */
  readonly isFinal: boolean;

  constructor(init: InferResultInit) {
    this.modelName = init.modelName;
    this.modelVersion = init.modelVersion;
    this.id = init.id;
    this.outputs = init.outputs;
    this.parameters = init.parameters;
    this.isFinal = init.isFinal ?? true;
  }

  /** @throws {ClientError} `usage` when there is no output of that name */
  output(name: string): Tensor {
    const found = this.outputs.find((output) => output.name === name);
    if (found !== undefined) return found;
    const names = this.outputs.map((output) => output.name).join(', ');
    throw usageError(`the answer of '${this.modelName}' has no output '${name}'; it has ${names || 'none'}`);
  }

  /**
   * The values of an output, see `valuesOf`.
   * @throws {ClientError} `usage` when there is no such output, or it is of another datatype
   */
  values<D extends Datatype>(name: string, datatype: D): OutputValues[D] {
    const output = this.output(name);
    if (output.datatype !== datatype) throw usageError(`output '${name}' is ${output.datatype}, not ${datatype}`);
    return valuesOf({ ...output, datatype });
  }
}
