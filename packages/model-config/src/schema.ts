import { Message, Namespace, Root, Type } from 'protobufjs/light.js';
import { SCHEMA } from './generated/schema.ts';

let type: Type | undefined;

/**
 * Reflected protobuf type of a model configuration, e.g. to encode one for the gRPC `ModelConfig` call or to parse text with
 * `@nereid/pbtxt`. Built on first use; every call returns the same object, which must not be changed.
 */
export function modelConfigType(): Type {
  type ??= buildType();
  return type;
}

function buildType(): Type {
  const root = Root.fromJSON(SCHEMA).resolveAll();
  setConstructors(root);
  return root.lookupType('inference.ModelConfig');
}

/** Left to itself, protobufjs compiles a constructor for each type from text, which hardened processes forbid. */
function setConstructors({ nestedArray }: Pick<Namespace, 'nestedArray'>): void {
  for (const object of nestedArray) {
    if (object instanceof Type) object.ctor = class extends Message<object> {};
    if (object instanceof Namespace || object instanceof Type) setConstructors(object);
  }
}
