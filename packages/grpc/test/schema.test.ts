import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { usePython } from '@nereid/testing';
import protobuf, { type Field, MapField, type ReflectionObject, type Root, Service, Type } from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { describeSchema, ownSchema, readSchema, renderSchema } from '../scripts/generate.mjs';
import { DESCRIPTORS } from '../src/generated/descriptors.ts';
import { SCHEMA } from '../src/generated/schema.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const fullName = (object: ReflectionObject) => object.fullName.replace(/^\./, '');

function fieldRow(field: Field) {
  const type = field.resolvedType ? fullName(field.resolvedType) : field.type;
  const row = { number: field.id, name: field.protoName, type };
  if (field instanceof MapField) return { ...row, label: 'map', key: field.keyType };
  const oneof = field.partOf?.name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return { ...row, label: field.repeated ? 'repeated' : 'singular', ...(oneof !== undefined && { oneof }) };
}

function messagesOf(objects: readonly ReflectionObject[], out: Record<string, unknown> = {}): Record<string, unknown> {
  for (const object of objects) {
    if (!(object instanceof Type)) continue;
    out[fullName(object)] = object.fieldsArray.map(fieldRow);
    messagesOf(object.nestedArray, out);
  }
  return out;
}

function servicesOf(objects: readonly ReflectionObject[]) {
  const services = objects.filter((object) => object instanceof Service);
  return Object.fromEntries(
    services.map((service) => [
      fullName(service),
      service.methodsArray.map(
        ({ name, resolvedRequestType, resolvedResponseType, requestStream, responseStream }) => ({
          name,
          request: resolvedRequestType && fullName(resolvedRequestType),
          response: resolvedResponseType && fullName(resolvedResponseType),
          streams: [requestStream === true, responseStream === true],
        }),
      ),
    ]),
  );
}

describe('schema', () => {
  it('has every service, method, message, field, number and type that tritonclient ships, and the extras of its messages', () => {
    const theirs = JSON.parse(execFileSync(usePython(), [path('descriptors.py')], { encoding: 'utf8' }));
    const root: Root = readSchema();
    const { nestedArray } = root.lookup('inference') as protobuf.Namespace;
    const ours = messagesOf(nestedArray);
    const names = Object.keys(theirs.messages);
    expect(names.length).toBeGreaterThan(50);
    expect(Object.fromEntries(names.map((name) => [name, ours[name]]))).toEqual(theirs.messages);
    expect(servicesOf(nestedArray)).toEqual(theirs.services);
  });

  it('is generated from the .proto files', () => {
    const root = readSchema();
    expect(SCHEMA).toEqual(JSON.parse(JSON.stringify(ownSchema(root))));
    expect(DESCRIPTORS).toEqual(describeSchema());
    expect(renderSchema(root)).toContain('Generated from proto/');
    expect(readFileSync(path('../proto/grpc_service.proto'), 'utf8')).toContain('service GRPCInferenceService');
  });
});
