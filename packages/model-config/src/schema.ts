import { Root, type Type } from 'protobufjs/light.js';
import { SCHEMA } from './generated/schema.ts';

let type: Type | undefined;

/**
 * Reflected protobuf type of a model configuration, e.g. to encode one for the gRPC `ModelConfig` call or to parse text with
 * `@nereid/pbtxt`. Built on first use; every call returns the same object, which must not be changed.
 */
export function modelConfigType(): Type {
  type ??= Root.fromJSON(SCHEMA).resolveAll().lookupType('inference.ModelConfig');
  return type;
}
