import type { InferenceResponse, ParameterValue, Tensor } from '@nereid/core';
import { isDatatype } from '@nereid/core';
import { ProtocolError } from './errors.ts';
import { assertHeaderLength } from './header-length.ts';
import { type JsonObject, JsonReader, JsonSpan } from './json-reader.ts';
import { decodeJsonTensor } from './json-tensor.ts';
import { DEFAULT_LIMITS, type ProtocolLimits } from './limits.ts';
import { customParameter, isObject, shapeMember, stringMember, unparsable } from './members.ts';
import { asEntries, binaryDataSize, entryParameters, readRoot } from './tensor-entries.ts';

/** A server's answer as a client sees it. */
export interface DecodedResponse extends InferenceResponse {
  /** As the request gave it; '' for none. */
  readonly id: string;
}

export interface ResponseMessage {
  /** The whole body. Binary outputs are views of it. */
  readonly body: Uint8Array;
  /** Value of `Inference-Header-Content-Length`; undefined when the body is JSON only. */
  readonly headerLength: number | undefined;
  readonly limits?: Partial<ProtocolLimits>;
}

const ROOT_MEMBERS: ReadonlySet<string> = new Set(['id', 'model_name', 'model_version', 'parameters', 'outputs']);

/**
 * Decodes the answer to an inference request.
 * @throws {ProtocolError} when the body is no such answer
 */
export function decodeInferResponse(message: ResponseMessage): DecodedResponse {
  const { body } = message;
  const limits = { ...DEFAULT_LIMITS, ...message.limits };
  const headerLength = message.headerLength ?? body.length;
  assertHeaderLength(headerLength, body.length);
  const header = body.subarray(0, headerLength);
  const reader = new JsonReader(header, { maxDepth: limits.maxJsonDepth + 3, maxValues: limits.maxJsonValues });
  const root = readRoot(reader, ROOT_MEMBERS);
  return {
    id: root.has('id') ? stringMember(root, 'id', 'the response') : '',
    modelName: stringMember(root, 'model_name', 'the response'),
    modelVersion: root.has('model_version') ? stringMember(root, 'model_version', 'the response') : '',
    outputs: readOutputs({ root, header, blobs: body.subarray(headerLength), limits }),
    parameters: readParameters(root),
  };
}

function readParameters(root: JsonObject): ReadonlyMap<string, ParameterValue> {
  const parameters = root.get('parameters');
  if (parameters === undefined) return new Map();
  if (!isObject(parameters)) throw unparsable('parameters', 'the response', 'an object', parameters);
  return new Map(
    [...parameters].map(([key, value]) => [key, customParameter(value, { key, owner: 'the response' })] as const),
  );
}

function readOutputs(job: {
  root: JsonObject;
  header: Uint8Array;
  blobs: Uint8Array;
  limits: ProtocolLimits;
}): Tensor[] {
  const { header, blobs, limits } = job;
  let offset = 0;
  const outputs = asEntries(job.root.get('outputs'), 'outputs', limits).map((entry, index) => {
    const name = stringMember(entry, 'name', `output ${index}`);
    const owner = `output '${name}'`;
    const datatype = stringMember(entry, 'datatype', owner);
    if (!isDatatype(datatype)) throw new ProtocolError('bad-member', `data-type '${datatype}' of ${owner} is unknown`);
    const shape = shapeMember(entry, owner);
    const span = entry.get('data');
    if (span instanceof JsonSpan) {
      return { name, datatype, shape, data: decodeJsonTensor({ name, datatype, shape, text: header, span, limits }) };
    }
    const end = offset + (binaryDataSize(entryParameters(entry, owner), owner) ?? 0);
    if (end > blobs.length) {
      throw new ProtocolError(
        'bad-size',
        `unexpected size for ${owner}: the body ends ${end - blobs.length} bytes earlier`,
      );
    }
    const data = blobs.subarray(offset, end);
    offset = end;
    return { name, datatype, shape, data };
  });
  if (offset < blobs.length) {
    throw new ProtocolError('bad-size', `${blobs.length - offset} bytes follow the last binary output`);
  }
  return outputs;
}
