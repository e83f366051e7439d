/** The .proto files as descriptors, in the way protoc writes them for reflection: full type names, entries of maps by their convention, no JSON names. */
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';

const { FileDescriptorProto } = descriptor;

/**
 * Descriptors of files.
 * @param sources  in the order of their imports: the name that others import, and the text
 * @returns for each its name, imports, services, symbols (messages, enums, services and their methods) and the bytes of its `FileDescriptorProto` as base64
 */
export function describeFiles(sources) {
  const root = new protobuf.Root();
  const parsed = sources.map(({ name, text }) => ({ name, ...topLevel(text), ...protobufParts(text, root) }));
  root.resolveAll();
  return parsed.map(({ name, package: scope, imports, names }) => describe({ name, scope, imports, names, root }));
}

function topLevel(text) {
  const { root, package: scope } = protobuf.parse(text);
  return { names: Object.keys(root.lookup(scope).toJSON().nested) };
}

function protobufParts(text, root) {
  const { package: scope, imports } = protobuf.parse(text, root, { keepCase: true });
  return { package: scope, imports: imports ?? [] };
}

function describe({ name, scope, imports, names, root }) {
  const objects = names.map((own) => root.lookup(`.${scope}.${own}`));
  const of = (kind) => objects.filter((object) => object instanceof kind);
  const file = FileDescriptorProto.create({
    name,
    package: scope,
    dependency: imports,
    messageType: of(protobuf.Type).map(describeMessage),
    enumType: of(protobuf.Enum).map((object) => object.toDescriptor('proto3')),
    service: of(protobuf.Service).map((object) => object.toDescriptor('proto3')),
    syntax: 'proto3',
  });
  const base64 = Buffer.from(FileDescriptorProto.encode(file).finish()).toString('base64');
  const services = of(protobuf.Service).map(({ fullName }) => fullName.slice(1));
  return { name, imports, services, symbols: objects.flatMap(symbolsOf), base64 };
}

function describeMessage(type) {
  const message = type.toDescriptor('proto3');
  const maps = type.fieldsArray.filter((field) => field instanceof protobuf.MapField);
  for (const [i, field] of type.fieldsArray.entries()) {
    const described = message.field[i];
    delete described.jsonName;
    const isMap = maps.includes(field);
    if (isMap) described.typeName = `${type.fullName}.${entryName(field)}`;
    else if (field.resolvedType) described.typeName = field.resolvedType.fullName;
  }
  const nested = type.nestedArray.filter((object) => object instanceof protobuf.Type).map(describeMessage);
  message.nestedType = [...nested, ...maps.map(describeEntry)];
  return message;
}

function describeEntry(map) {
  const { nestedType, field } = map.parent.toDescriptor('proto3');
  const index = map.parent.fieldsArray.indexOf(map);
  const entry = nestedType.find(({ name, options }) => options?.mapEntry && name === field[index].typeName);
  for (const part of entry.field) delete part.jsonName;
  if (map.resolvedType) entry.field[1].typeName = map.resolvedType.fullName;
  return Object.assign(entry, { name: entryName(map) });
}

/** `ParametersEntry` for `parameters`. */
function entryName({ name }) {
  return `${name.replace(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase())}Entry`;
}

function symbolsOf(object) {
  const name = object.fullName.slice(1);
  if (object instanceof protobuf.Service)
    return [name, ...object.methodsArray.map((method) => `${name}.${method.name}`)];
  const nested = object instanceof protobuf.Type ? object.nestedArray : [];
  return [name, ...nested.flatMap(symbolsOf)];
}
