import {
  DATATYPES,
  type Datatype,
  decodeBytes,
  elements,
  encodeBytes,
  InferenceRequest,
  type InferenceRequestInit,
  type Responder,
  type Shape,
  type Tensor,
} from '@nereid/core';
import { RecordingResponder } from './recording-responder.ts';

export interface TensorInit {
  readonly name: string;
  /**
   * Elements in row-major order: strings for BYTES, bit patterns for FP16 and BF16, bigints or safe integers for 64-bit integers, numbers
   * or booleans for the rest.
   */
  readonly values: readonly (number | bigint | boolean | string)[];
  /** FP32 by default. */
  readonly datatype?: Datatype;
  /** One dimension that holds every value by default. */
  readonly shape?: Shape;
}

/** Builds a tensor from plain values; its bytes are its own. */
export function tensor(init: TensorInit): Tensor {
  const { name, values, datatype = 'FP32', shape = [values.length] } = init;
  return { name, datatype, shape, data: bytesOf(datatype, values) };
}

function bytesOf(datatype: Datatype, values: TensorInit['values']): Uint8Array {
  if (datatype === 'BYTES') return encodeBytes(values.map(String));
  if (datatype === 'INT64' || datatype === 'UINT64') {
    return new Uint8Array(new DATATYPES[datatype].array(values.map((value) => BigInt(value))).buffer);
  }
  return new Uint8Array(new DATATYPES[datatype].array(values.map(Number)).buffer);
}

/** The elements of a tensor as plain values, the reverse of `tensor`: strings for BYTES, bigints for 64-bit integers, else numbers. */
export function valuesOf(source: Tensor): (number | bigint | string)[] {
  if (source.datatype === 'BYTES') return decodeBytes(source.data).map((item) => Buffer.from(item).toString('utf8'));
  return [...elements(source)];
}

export interface RequestForInit extends Partial<InferenceRequestInit> {
  /** Rows the request adds to a batch; 1 by default. */
  readonly batchSize?: number;
  /** Who gets the answers; a `RecordingResponder` of its own by default. */
  readonly responder?: Responder;
}

/** Builds a request with defaults: latest version of `model`, no inputs, every output. */
export function requestFor(init: RequestForInit = {}): InferenceRequest {
  const { batchSize = 1, responder = new RecordingResponder(), ...rest } = init;
  const defaults = { modelName: 'model', modelVersion: '', id: '', inputs: [], requestedOutputs: [] };
  const request = new InferenceRequest({ ...defaults, ...rest }, responder);
  request.batchSize = batchSize;
  return request;
}
