/** Answers of the generate extension: `{"<output>":…,"id"?,"model_name","model_version","<parameter>":…}`, keys sorted. */
import { elementCount, type InferenceResponse, type Tensor } from '@nereid/core';
import { quote } from './byte-text.ts';
import { parameterText } from './response-format.ts';
import { tensorText } from './tensor-text.ts';

/**
 * Encodes one response of a model. A tensor of one element is that value, any other a flat array; an output stands before a parameter of the same name, and a
 * parameter before the names of the model.
 *
 * @param id  left out when empty
 * @returns JSON as a byte string: one character per byte, to be written as `latin1`
 * @throws {ProtocolError} `not-json` for an output that has no JSON form
 */
export function encodeGenerateResponse(response: InferenceResponse, id: string): string {
  const members = new Map<string, string>();
  members.set('model_name', quote(response.modelName));
  members.set('model_version', quote(response.modelVersion));
  if (id !== '') members.set('id', quote(id));
  for (const [key, value] of response.parameters ?? []) members.set(key, parameterText(value));
  for (const output of response.outputs) members.set(output.name, valueText(output));
  const sorted = [...members].sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${sorted.map(([key, text]) => `${quote(key)}:${text}`).join(',')}}`;
}

function valueText(output: Tensor): string {
  const text = tensorText(output);
  return elementCount(output.shape) === 1 ? text.slice(1, -1) : text;
}
