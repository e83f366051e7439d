import { Root, type Type } from 'protobufjs/light.js';
import { SCHEMA } from './generated/schema.ts';

let root: Root | undefined;

/**
 * Reflected protobuf type of a model configuration, e.g. to encode one for the gRPC `ModelConfig` call or to parse text with
 * `@nereid/pbtxt`. Built on first use; every call returns the same object, which must not be changed.
 */
export function modelConfigType(): Type {
  root ??= Root.fromJSON(SCHEMA).resolveAll();
  return root.lookupType('inference.ModelConfig');
}
