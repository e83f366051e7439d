import type { Datatype, ParameterValue, Shape, SharedMemoryPart } from '@nereid/core';
import { quote } from './byte-text.ts';
import { type EncodedMessage, parameterText } from './response-format.ts';
import { tensorText } from './tensor-text.ts';

/** An input of a request: with its bytes, or with the place in shared memory where they lie. */
export type RequestInput = { readonly name: string; readonly datatype: Datatype; readonly shape: Shape } & (
  | { readonly data: Uint8Array; readonly sharedMemory?: undefined }
  | { readonly sharedMemory: SharedMemoryPart; readonly data?: undefined }
);

/** An output that a request wants. */
export interface RequestOutput {
  readonly name: string;
  /** Whether it comes as binary data; as the message's `binary` when absent. */
  readonly binary?: boolean;
  /** Wanted in its place: so many of the most probable classes. */
  readonly classes?: number;
  /** Where in shared memory it is to be written; it is not sent then. */
  readonly sharedMemory?: SharedMemoryPart;
}

/** A request as a client states it. */
export interface InferRequestMessage {
  /** Left out when empty or absent. */
  readonly id?: string;
  readonly inputs: readonly RequestInput[];
  /** Outputs to return and their form; absent or empty for all of them in the form of `binary`. */
  readonly outputs?: readonly RequestOutput[];
  /** Request parameters: `priority`, `sequence_id`, custom ones … */
  readonly parameters?: ReadonlyMap<string, ParameterValue>;
  /** Whether tensors travel as binary data (default) or as JSON. */
  readonly binary?: boolean;
}

/**
 * Encodes an inference request. Binary inputs are views of the tensors' memory.
 * @throws {ProtocolError} `not-json` when a tensor has no JSON form and `binary` is false
 */
export function encodeInferRequest(message: InferRequestMessage): EncodedMessage {
  const binary = message.binary ?? true;
  const outputs = message.outputs ?? [];
  const parameters = [...(message.parameters ?? [])].map(([key, value]) => `${quote(key)}:${parameterText(value)}`);
  if (binary && outputs.length === 0) parameters.push('"binary_data_output":true');
  const members = [`"inputs":[${message.inputs.map((input) => inputText(input, binary)).join(',')}]`];
  if (message.id !== undefined && message.id !== '') members.unshift(`"id":${quote(message.id)}`);
  if (parameters.length > 0) members.push(`"parameters":{${parameters.join(',')}}`);
  if (outputs.length > 0) members.push(`"outputs":[${outputs.map((output) => outputText(output, binary)).join(',')}]`);
  const header = `{${members.join(',')}}`;
  const blobs = binary ? message.inputs.flatMap(({ data }) => (data && data.byteLength > 0 ? [data] : [])) : [];
  const byteLength = blobs.reduce((bytes, blob) => bytes + blob.byteLength, header.length);
  return { header, blobs, byteLength, headerLength: binary ? header.length : undefined };
}

function inputText(input: RequestInput, binary: boolean): string {
  return `{"name":${quote(input.name)},"datatype":"${input.datatype}","shape":[${input.shape.join(',')}],${contents(input, binary)}}`;
}

function contents(input: RequestInput, binary: boolean): string {
  if (input.data === undefined) return `"parameters":{${memoryText(input.sharedMemory)}}`;
  return binary ? `"parameters":{"binary_data_size":${input.data.byteLength}}` : `"data":${tensorText(input)}`;
}

function outputText({ name, binary, classes, sharedMemory }: RequestOutput, byDefault: boolean): string {
  const parameters = sharedMemory === undefined ? [`"binary_data":${binary ?? byDefault}`] : [memoryText(sharedMemory)];
  if (classes !== undefined) parameters.push(`"classification":${classes}`);
  return `{"name":${quote(name)},"parameters":{${parameters.join(',')}}}`;
}

function memoryText({ region, offset, byteSize }: SharedMemoryPart): string {
  const start = offset === 0 ? '' : `"shared_memory_offset":${offset},`;
  return `"shared_memory_region":${quote(region)},${start}"shared_memory_byte_size":${byteSize}`;
}
