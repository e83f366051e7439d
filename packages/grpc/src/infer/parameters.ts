/** Parameters of requests, inputs and outputs: who takes which type. Source: the original's rules; a wrong type is refused, never converted. */
import type { ParameterValue, SharedMemoryPart } from '@nereid/core';
import { GrpcError } from '../errors.ts';
import { WIRE, type WireReader } from '../wire/reader.ts';
import type { WireWriter } from '../wire/writer.ts';

/** An `InferParameter`, with the field it came in. */
export interface InferParameter {
  readonly kind: 'bool' | 'int64' | 'string' | 'double' | 'uint64' | 'none';
  /** Integers outside the safe range are bigints. */
  readonly value: ParameterValue;
}

/** What the `parameters` of a request say. */
export interface RequestParameters {
  readonly priority: number | bigint;
  /** Microseconds; 0 for none. */
  readonly timeoutMicroseconds: number | bigint;
  /** 0 and '' mean that the request is in no sequence. */
  readonly correlationId: number | bigint | string;
  readonly sequenceStart: boolean;
  readonly sequenceEnd: boolean;
  /** Whether a stream is told of the end of a request also when that brings no outputs. */
  readonly wantsEmptyFinal: boolean;
  /** Whether the answer is to tell of the batch that the request ran in. */
  readonly tellsBatch: boolean;
  /** Everything else, for the model. */
  readonly custom: ReadonlyMap<string, ParameterValue>;
}

const NOTHING: InferParameter = { kind: 'none', value: '' };

/** Reads one entry of a map of parameters. */
export function readParameterEntry(entry: WireReader): readonly [key: string, parameter: InferParameter] {
  let key = '';
  let parameter = NOTHING;
  for (let field = entry.next(); field !== 0; field = entry.next()) {
    if (field === 1 && entry.wireType === WIRE.bytes) key = entry.string();
    else if (field === 2 && entry.wireType === WIRE.bytes) parameter = readParameter(entry.message());
    else entry.skip();
  }
  return [key, parameter];
}

function readParameter(reader: WireReader): InferParameter {
  let parameter = NOTHING;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1 && reader.wireType === WIRE.varint) parameter = { kind: 'bool', value: reader.bool() };
    else if (field === 2 && reader.wireType === WIRE.varint)
      parameter = { kind: 'int64', value: narrowed(reader.int64()) };
    else if (field === 3 && reader.wireType === WIRE.bytes) parameter = { kind: 'string', value: reader.string() };
    else if (field === 4 && reader.wireType === WIRE.fixed64) parameter = { kind: 'double', value: reader.double() };
    else if (field === 5 && reader.wireType === WIRE.varint)
      parameter = { kind: 'uint64', value: narrowed(reader.uint64()) };
    else reader.skip();
  }
  return parameter;
}

function narrowed(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const NO_CUSTOM: ReadonlyMap<string, ParameterValue> = new Map();

const NO_PARAMETERS: RequestParameters = {
  priority: 0,
  timeoutMicroseconds: 0,
  correlationId: 0,
  sequenceStart: false,
  sequenceEnd: false,
  wantsEmptyFinal: false,
  tellsBatch: false,
  custom: NO_CUSTOM,
};

/** @throws {GrpcError} `bad-parameter` for a wrong type or a reserved name */
export function requestParameters(parameters: ReadonlyMap<string, InferParameter> | undefined): RequestParameters {
  if (parameters === undefined) return NO_PARAMETERS;
  const custom = new Map<string, ParameterValue>();
  let result: RequestParameters = { ...NO_PARAMETERS, custom };
  for (const [key, parameter] of parameters) result = { ...result, ...readKnown(key, parameter, custom) };
  return result;
}

function readKnown(
  key: string,
  parameter: InferParameter,
  custom: Map<string, ParameterValue>,
): Partial<RequestParameters> {
  switch (key) {
    case 'sequence_id':
      if (parameter.kind === 'string') return { correlationId: String(parameter.value) };
      return { correlationId: integer(key, parameter, ['int64']) };
    case 'sequence_start':
      return { sequenceStart: boolean(key, parameter) };
    case 'sequence_end':
      return { sequenceEnd: boolean(key, parameter) };
    case 'priority':
      return { priority: integer(key, parameter, ['uint64', 'int64']) };
    case 'timeout':
      return { timeoutMicroseconds: integer(key, parameter, ['int64']) };
    case 'triton_enable_empty_final_response':
      return { wantsEmptyFinal: boolean(key, parameter) };
    case 'nereid_batch':
      return { tellsBatch: boolean(key, parameter) };
    default:
      if (key.startsWith('triton_')) throw refusal(`parameter '${key}': the prefix 'triton_' is reserved`);
      if (parameter.kind === 'uint64' || parameter.kind === 'none')
        throw wrongKind(key, parameter, ['bool_param', 'int64_param', 'string_param', 'double_param']);
      custom.set(key, parameter.value);
      return {};
  }
}

function integer(key: string, { kind, value }: InferParameter, kinds: readonly ('int64' | 'uint64')[]) {
  if (!kinds.some((allowed) => allowed === kind) || (typeof value !== 'number' && typeof value !== 'bigint'))
    throw wrongKind(
      key,
      { kind, value },
      kinds.map((allowed) => `${allowed}_param`),
    );
  if (value < 0) throw refusal(`parameter '${key}' must be 0 or more, found ${value}`);
  return value;
}

/**
 * Where in shared memory a tensor lies; undefined when it does not.
 * @throws {GrpcError} `bad-parameter` for a wrong type, for a region without a size, and for a size or an offset without a region
 */
export function sharedMemoryPart(
  owner: string,
  parameters: ReadonlyMap<string, InferParameter>,
): SharedMemoryPart | undefined {
  const region = parameters.get('shared_memory_region');
  const size = parameters.get('shared_memory_byte_size');
  const offset = parameters.get('shared_memory_offset');
  if (region === undefined) {
    if (size === undefined && offset === undefined) return undefined;
    throw refusal(`${owner} has a size or an offset in shared memory, and no 'shared_memory_region'`);
  }
  if (region.kind !== 'string') throw wrongKind('shared_memory_region', region, ['string_param']);
  if (size === undefined) throw refusal(`${owner} has a 'shared_memory_region' without 'shared_memory_byte_size'`);
  return {
    region: String(region.value),
    // Beyond the safe range a double is exact enough: no region is so large.
    offset: offset === undefined ? 0 : Number(integer('shared_memory_offset', offset, ['int64'])),
    byteSize: Number(integer('shared_memory_byte_size', size, ['int64'])),
  };
}

/**
 * How many classes are wanted of an output in place of it; undefined when it is wanted itself.
 * @throws {GrpcError} `bad-parameter` for anything but a whole number from 1 on, and for an output in shared memory
 */
export function wantedClasses(owner: string, parameters: ReadonlyMap<string, InferParameter>): number | undefined {
  const classification = parameters.get('classification');
  if (classification === undefined) return undefined;
  const count = integer('classification', classification, ['int64']);
  if (count <= 0) throw refusal(`parameter 'classification' of ${owner} must be 1 or more, found ${count}`);
  if (parameters.has('shared_memory_region')) {
    throw refusal(`${owner} cannot combine 'shared_memory_region' with 'classification'`);
  }
  // Beyond the safe range a double is exact enough: no output has so many.
  return Number(count);
}

function boolean(key: string, parameter: InferParameter): boolean {
  if (parameter.kind === 'bool') return parameter.value === true;
  throw wrongKind(key, parameter, ['bool_param']);
}

function wrongKind(key: string, { kind }: InferParameter, expected: readonly string[]): GrpcError {
  const found = kind === 'none' ? 'no value' : `${kind}_param`;
  return refusal(`parameter '${key}' must be given as ${expected.join(' or ')}, found ${found}`);
}

function refusal(message: string): GrpcError {
  return new GrpcError('bad-parameter', message);
}

/** Writes an entry of a map of parameters as the field `field`. */
export function writeParameterEntry(
  writer: WireWriter,
  field: number,
  { key, value, scratch }: { readonly key: string; readonly value: ParameterValue; readonly scratch: WireWriter },
): void {
  writeParameter(scratch, value);
  const parameter = scratch.finish();
  scratch.string(1, key);
  scratch.bytes(2, parameter);
  writer.bytes(field, scratch.finish());
}

function writeParameter(writer: WireWriter, value: ParameterValue): void {
  if (typeof value === 'boolean') {
    writer.tag(1, WIRE.varint);
    writer.varint(value ? 1 : 0);
  } else if (typeof value === 'string') {
    // An empty string is a value here, so it is written.
    writer.bytes(3, Buffer.from(value));
  } else if (typeof value === 'bigint' || Number.isSafeInteger(value)) {
    writer.tag(2, WIRE.varint);
    writer.varint64(BigInt(value));
  } else {
    writer.tag(4, WIRE.fixed64);
    writer.double(value);
  }
}
