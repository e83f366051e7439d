/** The entries of `inputs` and `outputs` of a message, read one by one so that unknown members cost nothing and `data` stays a span. */
import type { SharedMemoryPart } from '@nereid/core';
import { ProtocolError } from './errors.ts';
import type { JsonObject, JsonReader, JsonValue } from './json-reader.ts';
import type { ProtocolLimits } from './limits.ts';
import { isObject, parameterError, stringParameter, unparsable, unsignedParameter } from './members.ts';

const MEMBERS = new Set(['name', 'shape', 'datatype', 'parameters', 'data']);

/** Value of `inputs` or `outputs`: an array of objects or of whatever else the peer wrote. */
function readEntries(reader: JsonReader): JsonValue {
  if (!reader.atArray) return reader.value();
  const entries: JsonValue[] = [];
  reader.eachElement(() => entries.push(reader.atObject ? readEntry(reader) : reader.value()));
  return entries;
}

function readEntry(reader: JsonReader): JsonObject {
  const members = new Map<string, JsonValue>();
  reader.eachMember((key) => {
    if (!MEMBERS.has(key) || members.has(key)) reader.skip();
    else members.set(key, key === 'data' ? reader.span() : reader.value());
  });
  return members;
}

/** Reads the members of a message's root that are listed; `inputs` and `outputs` as entries, the first of a repeated one, all others skipped. */
export function readRoot(reader: JsonReader, keys: ReadonlySet<string>): JsonObject {
  const members = new Map<string, JsonValue>();
  if (!reader.atObject) reader.fail('expected an object');
  reader.eachMember((key) => {
    if (!keys.has(key) || members.has(key)) reader.skip();
    else members.set(key, key === 'inputs' || key === 'outputs' ? readEntries(reader) : reader.value());
  });
  reader.finish();
  return members;
}

/** Entries as objects. @throws {ProtocolError} `bad-member` when it is no array of objects, `limit` when there are too many */
export function asEntries(value: JsonValue | undefined, key: string, limits: ProtocolLimits): readonly JsonObject[] {
  if (!Array.isArray(value)) throw unparsable(key, 'the message', 'an array', value);
  if (value.length > limits.maxTensors) {
    throw new ProtocolError(
      'limit',
      `'${key}' has ${value.length} entries, more than the limit of ${limits.maxTensors}`,
    );
  }
  return value.map((entry: JsonValue) => {
    if (!isObject(entry)) throw unparsable(key, 'the message', 'an array of objects', entry);
    return entry;
  });
}

const NO_PARAMETERS: JsonObject = new Map();

/** The `parameters` of an entry. @throws {ProtocolError} `bad-member` when they are no object */
export function entryParameters(entry: JsonObject, owner: string): JsonObject {
  const parameters = entry.get('parameters');
  if (parameters === undefined) return NO_PARAMETERS;
  if (!isObject(parameters)) throw unparsable('parameters', owner, 'an object', parameters);
  return parameters;
}

/**
 * Where in shared memory the tensor of an entry lies; undefined when it does not.
 * @throws {ProtocolError} `bad-parameter` when the size is missing, or one of the three is of a wrong type
 */
export function sharedMemoryPart(parameters: JsonObject, owner: string): SharedMemoryPart | undefined {
  const value = parameters.get('shared_memory_region');
  if (value === undefined) return undefined;
  const region = stringParameter(value, { key: 'shared_memory_region', owner });
  const size = parameters.get('shared_memory_byte_size');
  if (size === undefined) {
    throw new ProtocolError(
      'bad-parameter',
      `${owner} names a 'shared_memory_region' without 'shared_memory_byte_size'`,
    );
  }
  const offset = parameters.get('shared_memory_offset') ?? 0;
  return {
    region,
    // Beyond the safe range a double is exact enough: no region is so large.
    offset: Number(unsignedParameter(offset, { key: 'shared_memory_offset', owner })),
    byteSize: Number(unsignedParameter(size, { key: 'shared_memory_byte_size', owner })),
  };
}

/** Byte count in `binary_data_size`; undefined when the entry has none. */
export function binaryDataSize(parameters: JsonObject, owner: string): number | undefined {
  const size = parameters.get('binary_data_size');
  if (size === undefined) return undefined;
  if (typeof size === 'number' && size >= 0) return size;
  throw parameterError({ key: 'binary_data_size', owner }, 'a number of bytes', size);
}
