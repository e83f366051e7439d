/**
 * Decodes `ModelInferRequest`: one pass over the bytes, tensor contents as views of them.
 * Source of the rules: the original's choice of input data and its checks; the names are those of the protocol.
 */
import {
  type Datatype,
  elementCount,
  type InferenceRequestInit,
  isDatatype,
  type Shape,
  type SharedMemoryPart,
  type SharedMemoryTensors,
  type Tensor,
} from '@nereid/core';
import { GrpcError } from '../errors.ts';
import { FieldBudget, WIRE, WireReader } from '../wire/reader.ts';
import { contentsField, contentsToBytes } from './contents.ts';
import {
  type InferParameter,
  type RequestParameters,
  readParameterEntry,
  requestParameters,
  sharedMemoryPart,
  wantedClasses,
} from './parameters.ts';

/** Bounds on what a client may send beside the size of the message. */
export interface InferLimits {
  /** Inputs, and requested outputs. Default 1024. */
  readonly maxTensors: number;
  /** Parameters of a request, an input or an output. Default 1024. */
  readonly maxParameters: number;
  /** Dimensions of an input. Default 1024. */
  readonly maxDimensions: number;
  /** Fields of a request, those of messages inside it included; the elements of typed contents are not counted. Default 65 536. */
  readonly maxFields: number;
  /** Bytes of the typed contents of an input; raw contents have no limit but that of the message. Default 64 MiB. */
  readonly maxContentsBytes: number;
}

export const DEFAULT_LIMITS: InferLimits = {
  maxTensors: 1024,
  maxParameters: 1024,
  maxDimensions: 1024,
  maxFields: 65_536,
  maxContentsBytes: 64 * 1024 * 1024,
};

/** A decoded request; pass it to `new InferenceRequest(decoded, responder)`. */
export interface DecodedInferRequest extends InferenceRequestInit {
  readonly wantsEmptyFinal: boolean;
  readonly tellsBatch: boolean;
  /** Tensors that lie in shared memory: those inputs have no data yet. Undefined when there are none. */
  readonly sharedMemory: SharedMemoryTensors | undefined;
  /** How many classes are wanted of an output in place of it, by its name. Undefined when none is classified. */
  readonly classes: ReadonlyMap<string, number> | undefined;
}

/** Field numbers of the messages below. */
const REQUEST = { modelName: 1, modelVersion: 2, id: 3, parameters: 4, inputs: 5, outputs: 6, rawContents: 7 } as const;
/** Of a request. */
export const INPUTS_FIELD = REQUEST.inputs;
const INPUT = { name: 1, datatype: 2, shape: 3, parameters: 4, contents: 5 } as const;
const OUTPUT = { name: 1, parameters: 2 } as const;

interface Message {
  modelName: string;
  modelVersion: string;
  id: string;
  parameters: Map<string, InferParameter> | undefined;
  readonly inputs: Input[];
  readonly outputs: string[];
  readonly rawContents: Buffer[];
  /** Undefined until a tensor lies in shared memory. */
  sharedMemory: Parts | undefined;
  /** Undefined until an output is to be classified. */
  classes: Map<string, number> | undefined;
}

interface Parts {
  readonly inputs: Map<string, SharedMemoryPart>;
  readonly outputs: Map<string, SharedMemoryPart>;
}

interface Input {
  name: string;
  datatype: string;
  readonly shape: number[];
  parameters: Map<string, InferParameter> | undefined;
  contents: Buffer | undefined;
}

/**
 * @param body  the message; the tensors of the result are views of it, so it must not change until the request is answered
 * @throws {GrpcError} INVALID_ARG for the first thing that is wrong
 */
export function decodeInferRequest(body: Buffer, limits: InferLimits = DEFAULT_LIMITS): DecodedInferRequest {
  const message = readMessage(new WireReader(body, new FieldBudget(limits.maxFields)), limits);
  const parameters = requestParameters(message.parameters);
  return {
    modelName: message.modelName,
    modelVersion: message.modelVersion,
    id: message.id,
    inputs: tensorsOf(message, limits),
    requestedOutputs: distinct(message.outputs),
    ...scheduling(parameters),
    wantsEmptyFinal: parameters.wantsEmptyFinal,
    tellsBatch: parameters.tellsBatch,
    // Read last: the inputs add to it.
    sharedMemory: message.sharedMemory,
    classes: message.classes,
    parameters: parameters.custom,
  };
}

function scheduling(parameters: RequestParameters) {
  const { priority, timeoutMicroseconds, correlationId, sequenceStart, sequenceEnd } = parameters;
  return { priority, timeoutMicroseconds, correlationId, sequenceStart, sequenceEnd };
}

/** Whom a request is for, and how it calls itself. */
export interface Address {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly id: string;
}

/** The address of a request that may be too broken to be decoded, as far as it can be told. */
export function addressOf(body: Buffer): Address {
  const address = { modelName: '', modelVersion: '', id: '' };
  try {
    const reader = new WireReader(body, new FieldBudget(DEFAULT_LIMITS.maxFields));
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (reader.wireType !== WIRE.bytes) reader.skip();
      else if (field === REQUEST.modelName) address.modelName = reader.string();
      else if (field === REQUEST.modelVersion) address.modelVersion = reader.string();
      else if (field === REQUEST.id) address.id = reader.string();
      else reader.skip();
    }
  } catch {
    // What was read before the break is all there is.
  }
  return address;
}

/** What stands before the contents of a request that somebody means: its names, shapes and parameters. */
const FIELDS_BEFORE_CONTENTS = 1000;

/**
 * Where the first raw contents of a request begin.
 * @param start  the first bytes of the message
 * @returns their offset in the message; 0 when `start` does not tell
 */
export function rawContentsAt(start: Buffer): number {
  const reader = new WireReader(start, new FieldBudget(FIELDS_BEFORE_CONTENTS));
  try {
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field !== REQUEST.rawContents || reader.wireType !== WIRE.bytes) reader.skip();
      else if (reader.varint() > 0) return reader.position;
    }
  } catch {
    // It goes on behind `start`, or is no request, which whoever reads the whole of it tells.
  }
  return 0;
}

function readMessage(reader: WireReader, limits: InferLimits): Message {
  const message: Message = {
    modelName: '',
    modelVersion: '',
    id: '',
    parameters: undefined,
    inputs: [],
    outputs: [],
    rawContents: [],
    sharedMemory: undefined,
    classes: undefined,
  };
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    // Every field of a request is a string, bytes or a message.
    if (reader.wireType !== WIRE.bytes) reader.skip();
    else readField(message, field, { reader, limits });
  }
  return message;
}

interface Reading {
  readonly reader: WireReader;
  readonly limits: InferLimits;
}

function readField(message: Message, field: number, { reader, limits }: Reading): void {
  switch (field) {
    case REQUEST.modelName:
      message.modelName = reader.string();
      break;
    case REQUEST.modelVersion:
      message.modelVersion = reader.string();
      break;
    case REQUEST.id:
      message.id = reader.string();
      break;
    case REQUEST.parameters:
      message.parameters = withParameter(message.parameters, reader.message(), limits);
      break;
    case REQUEST.inputs:
      message.inputs.push(readInput(reader.message(), limits));
      assertFew('inputs', message.inputs.length, limits.maxTensors);
      break;
    case REQUEST.outputs:
      message.outputs.push(readOutput(message, reader.message(), limits));
      assertFew('outputs', message.outputs.length, limits.maxTensors);
      break;
    case REQUEST.rawContents:
      message.rawContents.push(reader.bytes());
      assertFew('raw_input_contents', message.rawContents.length, limits.maxTensors * 2);
      break;
    default:
      reader.skip();
  }
}

function withParameter(
  known: Map<string, InferParameter> | undefined,
  entry: WireReader,
  limits: InferLimits,
): Map<string, InferParameter> {
  const parameters = known ?? new Map<string, InferParameter>();
  parameters.set(...readParameterEntry(entry));
  assertFew('parameters', parameters.size, limits.maxParameters);
  return parameters;
}

function assertFew(what: string, count: number, limit: number): void {
  if (count > limit) throw new GrpcError('bad-message', `the request has more than ${limit} ${what}`);
}

function readInput(reader: WireReader, limits: InferLimits): Input {
  const input: Input = { name: '', datatype: '', shape: [], parameters: undefined, contents: undefined };
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === INPUT.shape && reader.wireType === WIRE.varint) addDimension(input.shape, reader, limits);
    else if (reader.wireType !== WIRE.bytes) reader.skip();
    else if (field === INPUT.name) input.name = reader.string();
    else if (field === INPUT.datatype) input.datatype = reader.string();
    else if (field === INPUT.shape) readDimensions(input.shape, reader.message(), limits);
    else if (field === INPUT.parameters) input.parameters = withParameter(input.parameters, reader.message(), limits);
    else if (field === INPUT.contents) input.contents = reader.bytes();
    else reader.skip();
  }
  return input;
}

function readDimensions(shape: number[], packed: WireReader, limits: InferLimits): void {
  while (!packed.isAtEnd) addDimension(shape, packed, limits);
}

function addDimension(shape: number[], reader: WireReader, { maxDimensions }: InferLimits): void {
  shape.push(dimension(reader));
  assertFew('dimensions of an input', shape.length, maxDimensions);
}

/** Most dimensions are small, and a negative one is refused anyway. */
function dimension(reader: WireReader): number {
  const value = reader.varint();
  return Number.isSafeInteger(value) ? value : -1;
}

function readOutput(message: Message, reader: WireReader, limits: InferLimits): string {
  let name = '';
  let parameters: Map<string, InferParameter> | undefined;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (reader.wireType !== WIRE.bytes) reader.skip();
    else if (field === OUTPUT.name) name = reader.string();
    else if (field === OUTPUT.parameters) parameters = withParameter(parameters, reader.message(), limits);
    else reader.skip();
  }
  if (parameters === undefined) return name;
  const owner = `output '${name}'`;
  const count = wantedClasses(owner, parameters);
  if (count !== undefined) {
    message.classes ??= new Map();
    message.classes.set(name, count);
  }
  const part = sharedMemoryPart(owner, parameters);
  if (part !== undefined) partsOf(message).outputs.set(name, part);
  return name;
}

function partsOf(message: Message): Parts {
  message.sharedMemory ??= { inputs: new Map(), outputs: new Map() };
  return message.sharedMemory;
}

/** Each input with its data: none when it lies in shared memory, typed contents of its own, or the next of the raw ones. More raw ones than needed are ignored. */
function tensorsOf(message: Message, limits: InferLimits): Tensor[] {
  const { inputs, rawContents } = message;
  let used = 0;
  return inputs.map(({ name, datatype, shape, parameters, contents }) => {
    const part = parameters && sharedMemoryPart(`input '${name}'`, parameters);
    const known = checkedDatatype(name, datatype);
    const field = contents && contentsField({ name, contents });
    if (part !== undefined) {
      if (field !== undefined) throw inMemoryAndGiven(name);
      partsOf(message).inputs.set(name, part);
      return { name, datatype: known, shape: checkedShape(name, shape), data: EMPTY };
    }
    if (contents !== undefined && field !== undefined) {
      if (rawContents.length > 0) throw bothGiven(name);
      assertShort(name, contents, limits);
      const elements = elementCount(checkedShape(name, shape));
      const data = contentsToBytes({ name, datatype: known, elements, contents }, field);
      return { name, datatype: known, shape, data };
    }
    const data = rawContents[used] ?? EMPTY;
    if (used >= rawContents.length && !shape.includes(0)) throw noData(name);
    used++;
    return { name, datatype: known, shape: checkedShape(name, shape), data };
  });
}

const EMPTY = Buffer.alloc(0);

/** Numbers are read one by one on the loop, so there must not be too many. */
function assertShort(input: string, contents: Buffer, { maxContentsBytes }: InferLimits): void {
  if (contents.length <= maxContentsBytes) return;
  throw new GrpcError(
    'too-large',
    `contents of input '${input}' have ${contents.length} bytes, more than the limit of ${maxContentsBytes}; send raw_input_contents, or raise --grpc-max-input-size`,
  );
}

function checkedDatatype(input: string, datatype: string): Datatype {
  if (isDatatype(datatype)) return datatype;
  throw new GrpcError('bad-data', `input '${input}' has the unknown datatype '${datatype}'`);
}

function checkedShape(input: string, shape: readonly number[]): Shape {
  let elements = 1;
  for (const dim of shape) {
    if (dim < 0) throw new GrpcError('bad-data', `the shape of input '${input}' must have dimensions of 0 or more`);
    elements *= dim;
  }
  if (Number.isSafeInteger(elements * 8)) return shape;
  throw new GrpcError('bad-data', `the shape of input '${input}' has more elements than can be counted`);
}

function distinct(outputs: readonly string[]): readonly string[] {
  const twice = outputs.find((name, i) => outputs.indexOf(name) !== i);
  if (twice === undefined) return outputs;
  throw new GrpcError('duplicate', `output '${twice}' already requested`);
}

function bothGiven(input: string): GrpcError {
  return new GrpcError(
    'bad-data',
    `contents field must not be specified when using raw_input_contents, as it is for input tensor '${input}'`,
  );
}

function inMemoryAndGiven(input: string): GrpcError {
  return new GrpcError(
    'bad-data',
    `contents field must not be specified when using shared memory, as it is for input tensor '${input}'`,
  );
}

function noData(input: string): GrpcError {
  return new GrpcError(
    'bad-data',
    `unable to find data for input tensor '${input}': raw_input_contents has no entry left for it`,
  );
}
