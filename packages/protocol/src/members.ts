/** Typed access to the members of a parsed JSON object, with messages that name the owner: `input 'x'`, `request`. */
import type { ParameterValue, Shape } from '@nereid/core';
import { ProtocolError, type ProtocolErrorReason } from './errors.ts';
import { type JsonObject, JsonReal, JsonSpan, type JsonValue } from './json-reader.ts';

const UINT64_MAX = 2n ** 64n - 1n;

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map;
}

/** The JSON word for the kind of a value, as messages use it. */
function kindOf(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (value instanceof Map) return 'an object';
  if (value instanceof JsonReal) return `the number ${value.value}`;
  if (value instanceof JsonSpan) return 'data';
  return typeof value === 'string' ? 'a string' : `${value}`;
}

export function unparsable(key: string, owner: string, expected: string, found: JsonValue | undefined): ProtocolError {
  return new ProtocolError(
    'bad-member',
    `Unable to parse '${key}' of ${owner}: expected ${expected}, found ${kindOf(found)}`,
  );
}

export function stringMember(object: JsonObject, key: string, owner: string): string {
  const value = object.get(key);
  if (typeof value !== 'string') throw unparsable(key, owner, 'a string', value);
  return value;
}

/** @throws {ProtocolError} `bad-member` unless `shape` is an array of integers from 0 to 2^53 − 1 whose product stays there */
export function shapeMember(object: JsonObject, owner: string): Shape {
  const value = object.get('shape');
  if (!Array.isArray(value)) throw unparsable('shape', owner, 'an array of dimensions', value);
  const dims: number[] = [];
  let elements = 1;
  for (const dim of value) {
    if (typeof dim === 'bigint' && dim > 0n) throw tooManyElements(owner);
    if (typeof dim !== 'number' || dim < 0) throw unparsable('shape', owner, 'dimensions of 0 or more', dim);
    dims.push(dim);
    elements *= dim;
  }
  if (!Number.isSafeInteger(elements * 8)) throw tooManyElements(owner);
  return dims;
}

function tooManyElements(owner: string): ProtocolError {
  return new ProtocolError('limit', `Unable to parse 'shape' of ${owner}: the number of its elements overflows`);
}

export interface ParameterPlace {
  readonly key: string;
  readonly owner: string;
}

export function parameterError(place: ParameterPlace, expected: string, found: JsonValue): ProtocolError {
  const reason: ProtocolErrorReason = 'bad-parameter';
  return new ProtocolError(
    reason,
    `parameter '${place.key}' of ${place.owner} must be ${expected}, found ${kindOf(found)}`,
  );
}

/** Unsigned 64-bit integer; a bigint outside the safe range. */
export function unsignedParameter(value: JsonValue, place: ParameterPlace): number | bigint {
  if (typeof value === 'number' && value >= 0) return value;
  if (typeof value === 'bigint' && value >= 0n && value <= UINT64_MAX) return value;
  throw parameterError(place, 'an unsigned integer', value);
}

export function booleanParameter(value: JsonValue, place: ParameterPlace): boolean {
  if (typeof value !== 'boolean') throw parameterError(place, 'a boolean', value);
  return value;
}

export function stringParameter(value: JsonValue, place: ParameterPlace): string {
  if (typeof value !== 'string') throw parameterError(place, 'a string', value);
  return value;
}

/** Value of a parameter that the protocol gives no meaning. */
export function customParameter(value: JsonValue, place: ParameterPlace): ParameterValue {
  if (value instanceof JsonReal) return value.value;
  if (typeof value === 'object') {
    throw parameterError(place, 'a string, an integer, a number or a boolean (invalid type)', value);
  }
  return value;
}
