/**
 * The schema as closed data: what every walk over a configuration (reading, printing, filling defaults) switches on.
 * Derived from the reflected types once; the schema has no recursive message.
 */
import { Enum, type Field, MapField, Type } from 'protobufjs/light.js';
import { modelConfigType } from './schema.ts';

export type ScalarType = 'string' | 'bool' | 'float' | 'double' | 'int32' | 'uint32' | 'int64' | 'uint64';

/** Type of one value: a field's, a list element's or a map value's. */
export type ValueType =
  | { readonly kind: 'scalar'; readonly type: ScalarType }
  | { readonly kind: 'enum'; readonly values: ReadonlyMap<string, number> }
  | { readonly kind: 'message'; readonly message: MessageInfo };

export interface FieldInfo {
  /** lowerCamelCase, as in `ModelConfig`. */
  readonly name: string;
  /** As in a configuration file. */
  readonly protoName: string;
  readonly container: 'single' | 'list' | 'map';
  readonly keyType?: 'string' | 'uint64';
  readonly value: ValueType;
  /** Name of the oneof that the field belongs to. */
  readonly oneof?: string;
  /** Whether the field is absent, rather than at its default, when unset. */
  readonly optional: boolean;
}

export interface MessageInfo {
  readonly name: string;
  /** In the order of the schema. */
  readonly fields: readonly FieldInfo[];
}

let info: MessageInfo | undefined;

/** Fields of a model configuration. */
export function modelConfigInfo(): MessageInfo {
  info ??= messageInfo(modelConfigType());
  return info;
}

function messageInfo(type: Type): MessageInfo {
  return { name: type.name, fields: type.fieldsArray.map(fieldInfo) };
}

function fieldInfo(field: Field): FieldInfo {
  const value = valueType(field);
  return {
    name: field.name,
    protoName: field.protoName ?? field.name,
    container: field.map ? 'map' : field.repeated ? 'list' : 'single',
    value,
    optional: !field.map && !field.repeated && (value.kind === 'message' || field.partOf !== null),
    ...(field instanceof MapField && { keyType: field.keyType === 'uint64' ? 'uint64' : 'string' }),
    ...(field.partOf && { oneof: field.partOf.name }),
  };
}

function valueType(field: Field): ValueType {
  const resolved = field.resolvedType;
  if (resolved instanceof Type) return { kind: 'message', message: messageInfo(resolved) };
  if (resolved instanceof Enum) return { kind: 'enum', values: new Map(Object.entries(resolved.values)) };
  return { kind: 'scalar', type: field.type as ScalarType };
}

/** Value of a field that is not optional while nothing sets it. */
export function defaultOf(field: FieldInfo): unknown {
  if (field.container === 'list') return [];
  if (field.container === 'map') return new Map();
  return scalarDefault(field.value);
}

function scalarDefault(value: ValueType): unknown {
  if (value.kind === 'enum') return value.values.keys().next().value;
  if (value.kind === 'message') return undefined;
  if (value.type === 'string') return '';
  if (value.type === 'bool') return false;
  return value.type === 'uint64' ? 0n : 0;
}

/** The properties of a message whose fields are walked by name. */
export function propertiesOf(message: object): Readonly<Record<string, unknown>> {
  return message as Readonly<Record<string, unknown>>;
}

/** Path of a map entry below `path`, e.g. `parameters["INFERENCE_MODE"]`. */
export function entryPath(path: string, key: string | bigint): string {
  return `${path}[${typeof key === 'string' ? JSON.stringify(key) : key}]`;
}

/** Path of a field below `path`, which is empty at the top. */
export function fieldPath(path: string, protoName: string): string {
  return path === '' ? protoName : `${path}.${protoName}`;
}
