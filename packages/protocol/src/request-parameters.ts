import type { ParameterValue } from '@nereid/core';
import { ProtocolError } from './errors.ts';
import type { JsonValue } from './json-reader.ts';
import { booleanParameter, customParameter, isObject, unparsable, unsignedParameter } from './members.ts';

/** What the `parameters` of a request say. */
export interface RequestParameters {
  readonly priority: number | bigint;
  /** Microseconds; 0 for none. */
  readonly timeoutMicroseconds: number | bigint;
  /** 0 and '' mean that the request is in no sequence. */
  readonly correlationId: number | bigint | string;
  readonly sequenceStart: boolean;
  readonly sequenceEnd: boolean;
  /** Whether outputs that the client did not list are sent as binary data. */
  readonly binaryDataOutput: boolean;
  /** Whether the answer is to tell of the batch that the request ran in. */
  readonly tellsBatch: boolean;
  /** Everything else, for the model. */
  readonly custom: ReadonlyMap<string, ParameterValue>;
}

type Mutable = { -readonly [Key in keyof RequestParameters]: RequestParameters[Key] } & {
  custom: Map<string, ParameterValue>;
};

const RESERVED_PREFIX = 'triton_';

/** @throws {ProtocolError} `bad-parameter` for a wrong type or a reserved name, `bad-member` when it is no object */
export function readRequestParameters(parameters: JsonValue | undefined): RequestParameters {
  const result: Mutable = {
    priority: 0,
    timeoutMicroseconds: 0,
    correlationId: 0,
    sequenceStart: false,
    sequenceEnd: false,
    binaryDataOutput: false,
    tellsBatch: false,
    custom: new Map(),
  };
  if (parameters === undefined) return result;
  if (!isObject(parameters)) throw unparsable('parameters', 'the request', 'an object', parameters);
  for (const [key, value] of parameters) readParameter(result, key, value);
  return result;
}

function readParameter(result: Mutable, key: string, value: JsonValue): void {
  const place = { key, owner: 'the request' };
  switch (key) {
    case 'sequence_id':
      result.correlationId = typeof value === 'string' ? value : unsignedParameter(value, place);
      break;
    case 'sequence_start':
      result.sequenceStart = booleanParameter(value, place);
      break;
    case 'sequence_end':
      result.sequenceEnd = booleanParameter(value, place);
      break;
    case 'priority':
      result.priority = unsignedParameter(value, place);
      break;
    case 'timeout':
      result.timeoutMicroseconds = unsignedParameter(value, place);
      break;
    case 'binary_data_output':
      result.binaryDataOutput = booleanParameter(value, place);
      break;
    case 'nereid_batch':
      result.tellsBatch = booleanParameter(value, place);
      break;
    default:
      if (key.startsWith(RESERVED_PREFIX)) {
        throw new ProtocolError('bad-parameter', `parameter '${key}': the prefix '${RESERVED_PREFIX}' is reserved`);
      }
      result.custom.set(key, customParameter(value, place));
  }
}
