import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { usePython } from '@nereid/testing';
import { Enum, type Field, MapField, type ReflectionObject, Type } from 'protobufjs/light.js';
import { describe, expect, it } from 'vitest';
import { readSchema, renderTypes } from '../scripts/generate.mjs';
import { SCHEMA } from '../src/generated/schema.ts';
import { modelConfigType } from '../src/index.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

function fullName(object: ReflectionObject): string {
  return object.fullName.replace(/^\./, '');
}

function typeName(field: Field): string {
  return field.resolvedType ? fullName(field.resolvedType) : field.type;
}

function fieldRow(field: Field) {
  const row = { number: field.id, name: field.protoName, type: typeName(field) };
  if (field instanceof MapField) return { ...row, label: 'map', key: field.keyType };
  return {
    ...row,
    label: field.repeated ? 'repeated' : 'singular',
    ...(field.partOf && { oneof: snakeCase(field.partOf.name) }),
  };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function describeAll(objects: readonly ReflectionObject[], out: Record<string, unknown> = {}): Record<string, unknown> {
  for (const object of objects) {
    if (object instanceof Enum) out[fullName(object)] = object.values;
    if (!(object instanceof Type)) continue;
    out[fullName(object)] = object.fieldsArray.map(fieldRow);
    describeAll(object.nestedArray, out);
  }
  return out;
}

describe('schema', () => {
  it('is the one that tritonclient ships: every message, field in order, number, type, label, oneof and enum value', () => {
    const theirs = execFileSync(usePython(), [path('descriptors.py')], { encoding: 'utf8' });
    const ours = describeAll(modelConfigType().parent?.nestedArray ?? []);
    expect(Object.keys(ours).length).toBeGreaterThan(50);
    expect(ours).toEqual(JSON.parse(theirs));
  });

  it('is generated from the .proto, and so are the types', () => {
    const root = readSchema();
    expect(SCHEMA).toEqual(root.toJSON());
    expect(readFileSync(path('../src/generated/types.ts'), 'utf8')).toBe(renderTypes(root));
  });
});
