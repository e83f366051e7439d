import { Message, Namespace, Root, Type } from 'protobufjs/light.js';
import { SCHEMA } from './generated/schema.ts';

let root: Root | undefined;

/** A message type of the services, by its full name. Built on first use. */
export function messageType(name: string): Type {
  root ??= buildRoot();
  return root.lookupType(name);
}

function buildRoot(): Root {
  const built = Root.fromJSON(SCHEMA);
  built.resolveAll();
  setConstructors(built);
  return built;
}

/** Left to itself, protobufjs compiles a constructor for each type from text. */
function setConstructors({ nestedArray }: Pick<Namespace, 'nestedArray'>): void {
  for (const object of nestedArray) {
    if (object instanceof Type) object.ctor = class extends Message<object> {};
    if (object instanceof Namespace || object instanceof Type) setConstructors(object);
  }
}
