/** Encodes `ModelInferRequest`, decodes `ModelInferResponse` and `ModelStreamInferResponse`. Inputs are always raw; outputs are read in both forms. */
import {
  type Datatype,
  elementCount,
  isDatatype,
  type ParameterValue,
  type SharedMemoryPart,
  type Tensor,
} from '@nereid/core';
import {
  contentsField,
  contentsToBytes,
  readParameterEntry,
  WIRE,
  WireReader,
  WireWriter,
  writeParameterEntry,
} from '@nereid/grpc/messages';
import {
  type InferRequest,
  InferResult,
  parametersOf,
  type SharedInput,
  type WantedOutput,
  wantedOf,
} from '../infer.ts';
import type { Message } from './call.ts';

/** Field numbers. */
const REQUEST = { modelName: 1, modelVersion: 2, id: 3, parameters: 4, inputs: 5, outputs: 6, rawContents: 7 } as const;
const INPUT = { name: 1, datatype: 2, shape: 3, parameters: 4 } as const;
const WANTED = { name: 1, parameters: 2 } as const;
const RESPONSE = { modelName: 1, modelVersion: 2, id: 3, parameters: 4, outputs: 5, rawContents: 6 } as const;
const OUTPUT = { name: 1, datatype: 2, shape: 3, contents: 5 } as const;
const STREAM = { errorMessage: 1, response: 2 } as const;
const UINT64_PARAM = 5;

/** Inputs up to this size are copied into one piece with what stands before them: cheaper than several pieces. */
const COPY_UP_TO_BYTES = 4096;

const head = new WireWriter(512);
const entry = new WireWriter(256);
const scratch = new WireWriter(128);

/** Large inputs are views of the tensors' memory. */
export function encodeRequest(request: InferRequest): Message {
  const { model, version = '', id = '', inputs, outputs = [] } = request;
  head.string(REQUEST.modelName, model);
  head.string(REQUEST.modelVersion, version);
  head.string(REQUEST.id, id);
  for (const [key, value] of parametersOf(request)) {
    if (key === 'priority') writeUnsigned(key, BigInt(value));
    else writeParameterEntry(head, REQUEST.parameters, { key, value, scratch });
  }
  for (const input of inputs) writeInput(input);
  for (const output of outputs) writeWanted(wantedOf(output));
  return withContents(inputs.flatMap(({ data }) => (data === undefined ? [] : [data])));
}

/** A parameter as `uint64_param`, which is how clients of the original send it. */
function writeUnsigned(key: string, value: bigint): void {
  scratch.tag(UINT64_PARAM, WIRE.varint);
  scratch.varint64(value);
  const parameter = scratch.finish();
  scratch.string(1, key);
  scratch.bytes(2, parameter);
  head.bytes(REQUEST.parameters, scratch.finish());
}

function writeInput(input: Tensor | SharedInput): void {
  const { name, datatype, shape } = input;
  entry.string(INPUT.name, name);
  entry.string(INPUT.datatype, datatype);
  if (shape.length > 0) {
    for (const size of shape) scratch.varint(size);
    entry.bytes(INPUT.shape, scratch.finish());
  }
  writeMemory(INPUT.parameters, input.data === undefined ? input.sharedMemory : undefined);
  head.bytes(REQUEST.inputs, entry.finish());
}

function writeWanted({ name, classes, sharedMemory }: WantedOutput): void {
  entry.string(WANTED.name, name);
  if (classes !== undefined)
    writeParameterEntry(entry, WANTED.parameters, { key: 'classification', value: classes, scratch });
  writeMemory(WANTED.parameters, sharedMemory);
  head.bytes(REQUEST.outputs, entry.finish());
}

function writeMemory(field: number, part: SharedMemoryPart | undefined): void {
  if (part === undefined) return;
  const { region, offset, byteSize } = part;
  writeParameterEntry(entry, field, { key: 'shared_memory_region', value: region, scratch });
  writeParameterEntry(entry, field, { key: 'shared_memory_byte_size', value: byteSize, scratch });
  if (offset !== 0) writeParameterEntry(entry, field, { key: 'shared_memory_offset', value: offset, scratch });
}

function withContents(contents: readonly Uint8Array[]): Message {
  if (contents.every(({ byteLength }) => byteLength <= COPY_UP_TO_BYTES)) {
    for (const data of contents) head.bytes(REQUEST.rawContents, data);
    const bytes = head.finish();
    return { pieces: [bytes], byteLength: bytes.length };
  }
  const pieces: Uint8Array[] = [];
  for (const data of contents) {
    head.tag(REQUEST.rawContents, WIRE.bytes);
    head.varint(data.byteLength);
    pieces.push(head.finish(), data);
  }
  return { pieces, byteLength: pieces.reduce((size, piece) => size + piece.byteLength, 0) };
}

/** @throws {GrpcError} `bad-message`, and `bad-data` for typed contents that do not fit */
export function decodeResponse(bytes: Buffer): InferResult {
  return readResponse(new WireReader(bytes));
}

/** One answer on a stream: what a model answered, or what went wrong with the request of that id. */
export interface StreamMessage {
  /** '' for none. */
  readonly error: string;
  readonly result: InferResult;
}

/** @throws {GrpcError} as `decodeResponse` */
export function decodeStreamMessage(bytes: Buffer): StreamMessage {
  const reader = new WireReader(bytes);
  let error = '';
  let result = NOTHING;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === STREAM.errorMessage && reader.wireType === WIRE.bytes) error = reader.string();
    else if (field === STREAM.response && reader.wireType === WIRE.bytes) result = readResponse(reader.message());
    else reader.skip();
  }
  return { error, result };
}

const NOTHING = new InferResult({ modelName: '', modelVersion: '', id: '', outputs: [], parameters: new Map() });

const FINAL = 'triton_final_response';

interface Described {
  name: string;
  datatype: Datatype;
  shape: number[];
  contents: Buffer | undefined;
}

function readResponse(reader: WireReader): InferResult {
  let [modelName, modelVersion, id] = ['', '', ''];
  const parameters = new Map<string, ParameterValue>();
  const described: Described[] = [];
  const raw: Buffer[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (reader.wireType !== WIRE.bytes) reader.skip();
    else if (field === RESPONSE.modelName) modelName = reader.string();
    else if (field === RESPONSE.modelVersion) modelVersion = reader.string();
    else if (field === RESPONSE.id) id = reader.string();
    else if (field === RESPONSE.parameters) {
      const [key, { value }] = readParameterEntry(reader.message());
      parameters.set(key, value);
    } else if (field === RESPONSE.outputs) described.push(readOutput(reader.message()));
    else if (field === RESPONSE.rawContents) raw.push(reader.bytes());
    else reader.skip();
  }
  const isFinal = parameters.get(FINAL) !== false;
  parameters.delete(FINAL);
  const outputs = described.map((output, i) => tensorOf(output, raw[i]));
  return new InferResult({ modelName, modelVersion, id, outputs, parameters, isFinal });
}

function readOutput(reader: WireReader): Described {
  const output: Described = { name: '', datatype: 'BYTES', shape: [], contents: undefined };
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === OUTPUT.shape && reader.wireType === WIRE.varint) output.shape.push(reader.varint());
    else if (reader.wireType !== WIRE.bytes) reader.skip();
    else if (field === OUTPUT.name) output.name = reader.string();
    else if (field === OUTPUT.datatype) output.datatype = datatypeOf(reader.string());
    else if (field === OUTPUT.shape) readShape(reader.message(), output.shape);
    else if (field === OUTPUT.contents) output.contents = reader.bytes();
    else reader.skip();
  }
  return output;
}

function readShape(reader: WireReader, shape: number[]): void {
  while (!reader.isAtEnd) shape.push(reader.varint());
}

function datatypeOf(name: string): Datatype {
  if (isDatatype(name)) return name;
  throw new Error(`an output has the datatype '${name}', which is unknown here`);
}

/** An output in shared memory comes without contents. */
function tensorOf({ name, datatype, shape, contents }: Described, raw: Buffer | undefined): Tensor {
  const tensor = { name, datatype, shape };
  if (raw !== undefined || contents === undefined) return { ...tensor, data: raw ?? Buffer.alloc(0) };
  const typed = { name, datatype, elements: elementCount(shape), contents };
  const field = contentsField(typed);
  return { ...tensor, data: field === undefined ? Buffer.alloc(0) : contentsToBytes(typed, field) };
}
