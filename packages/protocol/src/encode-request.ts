import type { ParameterValue, Tensor } from '@nereid/core';
import { quote } from './byte-text.ts';
import { type EncodedMessage, parameterText } from './response-format.ts';
import { tensorText } from './tensor-text.ts';

/** A request as a client states it. */
export interface InferRequestMessage {
  /** Left out when empty or absent. */
  readonly id?: string;
  readonly inputs: readonly Tensor[];
  /** Outputs to return and their form; absent or empty for all of them in the form of `binary`. */
  readonly outputs?: readonly { readonly name: string; readonly binary: boolean }[];
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
  if (outputs.length > 0) members.push(`"outputs":[${outputs.map(requestedOutputText).join(',')}]`);
  const header = `{${members.join(',')}}`;
  const blobs = binary ? message.inputs.map((input) => input.data).filter((data) => data.byteLength > 0) : [];
  const byteLength = blobs.reduce((bytes, blob) => bytes + blob.byteLength, header.length);
  return { header, blobs, byteLength, headerLength: binary ? header.length : undefined };
}

function inputText(input: Tensor, binary: boolean): string {
  const contents = binary
    ? `"parameters":{"binary_data_size":${input.data.byteLength}}`
    : `"data":${tensorText(input)}`;
  return `{"name":${quote(input.name)},"datatype":"${input.datatype}","shape":[${input.shape.join(',')}],${contents}}`;
}

function requestedOutputText(output: { readonly name: string; readonly binary: boolean }): string {
  return `{"name":${quote(output.name)},"parameters":{"binary_data":${output.binary}}}`;
}
