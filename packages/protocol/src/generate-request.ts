/**
 * Requests of the generate extension: one JSON object whose members are the inputs of the model by name; members that are no input become request
 * parameters. `parameters` is a second such object inside, `id` is the request's id and a parameter. Nothing else has a meaning of its own.
 * Source: triton server `src/http_server.cc`, `GenerateRequestClass`.
 */
import { type InferenceRequestInit, isDatatype, type ParameterValue, type Shape, type Tensor } from '@nereid/core';
import type { TensorMetadataEntry } from './documents.ts';
import { ProtocolError } from './errors.ts';
import { JsonReader } from './json-reader.ts';
import { decodeJsonTensor } from './json-tensor.ts';
import { assertWithin, DEFAULT_LIMITS, type ProtocolLimits } from './limits.ts';
import { customParameter, unparsable } from './members.ts';
import type { ModelTarget } from './request-template.ts';

export interface GenerateRequest {
  readonly target: ModelTarget;
  /** The whole body; tensors are copied out of it. */
  readonly body: Uint8Array;
  /** The model's inputs as its metadata tells them: wire datatype, −1 for a variable dimension, that of the batch included. */
  readonly inputs: readonly TensorMetadataEntry[];
  readonly limits?: Partial<ProtocolLimits>;
}

interface Mapping {
  readonly reader: JsonReader;
  readonly inputs: ReadonlyMap<string, TensorMetadataEntry>;
  readonly limits: ProtocolLimits;
  readonly tensors: Map<string, Tensor>;
  readonly parameters: Map<string, ParameterValue>;
  id: string;
  /** Bytes of all tensors so far. */
  bytes: number;
}

/** A tensor is a value or one flat array. */
const TENSOR_DEPTH = 1;

/**
 * Decodes a request; pass the result to `new InferenceRequest(decoded, responder)`. Of a repeated parameter the first counts.
 *
 * The shape of a tensor follows from the number of its values: fixed dimensions stay, the innermost variable one takes what is left, every other is 1; an
 * empty array has rank 0.
 * @throws {ProtocolError} `bad-json` · `bad-member` for an `id` that is no string or `parameters` that are no object · `bad-parameter` for a parameter that is
 * an object, an array or null · `duplicate` for an input given twice · `bad-data` for values of another type or number · `not-json` for FP16 and
 * BF16 inputs · `limit` when the body, or all tensors together, are too large
 */
export function decodeGenerateRequest(message: GenerateRequest): InferenceRequestInit {
  const mapping = mappingOf(message);
  mapRoot(mapping);
  return {
    ...message.target,
    id: mapping.id,
    inputs: [...mapping.tensors.values()],
    requestedOutputs: [],
    parameters: mapping.parameters,
  };
}

function mappingOf({ body, inputs, limits: given }: GenerateRequest): Mapping {
  const limits = { ...DEFAULT_LIMITS, ...given };
  assertWithin({ what: 'the JSON body', bytes: body.byteLength, limit: limits.maxHeaderBytes, limits });
  return {
    reader: new JsonReader(body, { maxDepth: limits.maxJsonDepth, maxValues: limits.maxJsonValues }),
    inputs: new Map(inputs.map((input) => [input.name, input])),
    limits,
    tensors: new Map(),
    parameters: new Map(),
    id: '',
    bytes: 0,
  };
}

function mapRoot(mapping: Mapping): void {
  const { reader, inputs } = mapping;
  if (!reader.atObject) reader.fail('expected an object');
  reader.eachMember((key) => {
    if (inputs.has(key)) mapMember(mapping, key);
    else if (key === 'parameters') mapParameters(mapping);
    else if (key === 'id') mapId(mapping);
    else mapMember(mapping, key);
  });
  reader.finish();
}

function mapParameters(mapping: Mapping): void {
  const { reader } = mapping;
  if (!reader.atObject) throw unparsable('parameters', 'the request', 'an object', reader.value());
  reader.eachMember((key) => mapMember(mapping, key));
}

function mapId(mapping: Mapping): void {
  const value = mapping.reader.value();
  if (typeof value !== 'string') throw unparsable('id', 'the request', 'a string', value);
  if (mapping.id === '') mapping.id = value;
  addParameter(mapping, 'id', value);
}

function mapMember(mapping: Mapping, key: string): void {
  const input = mapping.inputs.get(key);
  if (input !== undefined) addTensor(mapping, input);
  else addParameter(mapping, key, customParameter(mapping.reader.value(), { key, owner: 'the request' }));
}

function addParameter({ parameters }: Mapping, key: string, value: ParameterValue): void {
  if (!parameters.has(key)) parameters.set(key, value);
}

function addTensor(mapping: Mapping, input: TensorMetadataEntry): void {
  const { tensors, limits } = mapping;
  if (tensors.has(input.name)) throw new ProtocolError('duplicate', `input '${input.name}' already exists in request`);
  const tensor = readTensor(mapping, input);
  tensors.set(input.name, tensor);
  mapping.bytes += tensor.data.byteLength;
  assertWithin({
    what: 'all inputs together',
    bytes: mapping.bytes,
    limit: limits.maxJsonTensorBytes,
    limits,
  });
}

function readTensor({ reader, limits }: Mapping, input: TensorMetadataEntry): Tensor {
  const { name, datatype } = input;
  if (!isDatatype(datatype)) throw new TypeError(`input '${name}' has the unknown datatype '${datatype}'`);
  const isArray = reader.atArray;
  const start = reader.pos;
  const count = isArray ? countElements(reader) : 1;
  if (isArray && count === 0) return { name, datatype, shape: [], data: new Uint8Array() };
  const span = isArray ? { start, end: reader.pos } : reader.span();
  const shape = shapeFor(input, count);
  const data = decodeJsonTensor({
    name,
    datatype,
    shape,
    text: reader.bytes,
    span,
    takesScalar: true,
    limits: { ...limits, maxJsonDepth: TENSOR_DEPTH },
  });
  return { name, datatype, shape, data };
}

function countElements(reader: JsonReader): number {
  let count = 0;
  reader.eachElement(() => {
    count++;
    reader.skip();
  });
  return count;
}

function shapeFor({ name, shape }: TensorMetadataEntry, count: number): Shape {
  const innermost = shape.lastIndexOf(-1);
  if (innermost === -1) return shape;
  const step = shape.reduce((product, dim) => (dim === -1 ? product : product * dim), 1);
  const size = count / step;
  if (!Number.isInteger(size)) {
    throw new ProtocolError(
      'bad-data',
      `Unable to parse input '${name}': ${count} values are no multiple of ${step}, what shape [${shape.join(',')}] takes per step of its innermost variable dimension`,
    );
  }
  return shape.map((dim, axis) => (dim !== -1 ? dim : axis === innermost ? size : 1));
}
