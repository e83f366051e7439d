import protobuf from 'protobufjs/light.js';
import { quote } from './quote.ts';

/*
 * Message types as text format sees them. Text format names a field as its .proto file does, and protobufjs may have
 * renamed it (`maxBatchSize`); it remembers the original as `protoName`.
 */

/** What one value of a field, of a map's keys, or of its values may be. */
export interface Slot {
  /** How messages name it, in backticks: `max_batch_size`, a key of `parameters`. */
  readonly label: string;
  /** `message`, `enum`, or the scalar type: `int32`, `string`, … */
  readonly type: string;
  readonly messageType: protobuf.Type | undefined;
  readonly enumType: protobuf.Enum | undefined;
}

export interface FieldInfo {
  readonly field: protobuf.Field;
  /** The field's name in text format. */
  readonly textName: string;
  readonly slot: Slot;
  /** Of a map: its keys; `slot` then stands for its values. */
  readonly keySlot: Slot | undefined;
  /** The name under which protobufjs's own reader finds the field, when that is not `textName`. */
  readonly readerName: string | undefined;
  /** The name under which protobufjs's own printer writes the field. */
  readonly printedName: string;
}

export interface TypeInfo {
  readonly fields: readonly FieldInfo[];
  readonly textNames: readonly string[];
  /** By every accepted spelling. */
  readonly byName: ReadonlyMap<string, FieldInfo>;
  readonly byField: ReadonlyMap<protobuf.Field, FieldInfo>;
  readonly required: readonly FieldInfo[];
}

/** Keyed by the array of fields, which protobufjs replaces when a field is added or removed. */
const known = new WeakMap<readonly protobuf.Field[], TypeInfo>();

/** The fields of `type`; remembered until its fields change. */
export function typeInfo(type: protobuf.Type): TypeInfo {
  const found = known.get(type.fieldsArray);
  if (found !== undefined) return found;
  const info = describeType(type.fieldsArray.map((field) => describeField(field.resolve())));
  known.set(type.fieldsArray, info);
  return info;
}

/** The name between the brackets of an extension field, e.g. `pkg.my_extension`. */
export function extensionName(field: protobuf.Field): string {
  const dotted = field.name.replace(/^\./, '');
  const last = dotted.lastIndexOf('.') + 1;
  return dotted.slice(0, last) + snakeCase(dotted.slice(last));
}

export function isExtension(field: protobuf.Field): boolean {
  return field.name.startsWith('.') || field.declaringField != null;
}

/** Whether an enum refuses numbers that it does not name (proto2 enums do). */
export function isClosedEnum(type: protobuf.Enum): boolean {
  const features: unknown = Reflect.get(type, '_features');
  return typeof features === 'object' && features !== null && Reflect.get(features, 'enum_type') === 'CLOSED';
}

function describeType(fields: readonly FieldInfo[]): TypeInfo {
  const plain = fields.filter(({ field }) => !isExtension(field));
  const byName = new Map<string, FieldInfo>();
  for (const info of plain) for (const alias of aliases(info)) byName.set(alias, info);
  for (const info of plain) byName.set(info.textName, info);
  return {
    fields,
    textNames: plain.map(({ textName }) => textName),
    byName,
    byField: new Map(fields.map((info) => [info.field, info])),
    required: fields.filter(({ field }) => field.required),
  };
}

function describeField(field: protobuf.Field): FieldInfo {
  const textName = textNameOf(field);
  const keySlot =
    field instanceof protobuf.MapField ? scalarSlot(`a key of ${quote(textName)}`, field.keyType) : undefined;
  const label = keySlot === undefined ? quote(textName) : `a value of ${quote(textName)}`;
  const hasOwnSyntax = isExtension(field) || isGroup(field);
  const printedName = hasOwnSyntax ? textName : snakeCase(field.name);
  const readerName = hasOwnSyntax || textName === printedName || textName === field.name ? undefined : field.name;
  return { field, textName, slot: slotOf(field, label), keySlot, readerName, printedName };
}

function textNameOf(field: protobuf.Field): string {
  if (isExtension(field)) return `[${extensionName(field)}]`;
  if (isGroup(field) && field.resolvedType) return field.resolvedType.name;
  return field.protoName;
}

/** Other spellings: a type that was put together in code, in camelCase, does not know its name in a .proto file. */
function aliases({ field }: FieldInfo): string[] {
  if (isGroup(field) && field.resolvedType) return [field.name, field.resolvedType.name.toLowerCase()];
  return field.protoName === field.name ? [snakeCase(field.name)] : [];
}

/** A proto2 group, which text format names after its type. */
function isGroup(field: protobuf.Field): boolean {
  if (!field.delimited || !(field.resolvedType instanceof protobuf.Type)) return false;
  return fold(field.name) === fold(field.resolvedType.name);
}

function slotOf(field: protobuf.Field, label: string): Slot {
  const { resolvedType } = field;
  if (resolvedType instanceof protobuf.Type)
    return { label, type: 'message', messageType: resolvedType, enumType: undefined };
  if (resolvedType instanceof protobuf.Enum)
    return { label, type: 'enum', messageType: undefined, enumType: resolvedType };
  return scalarSlot(label, field.type);
}

function scalarSlot(label: string, type: string): Slot {
  return { label, type, messageType: undefined, enumType: undefined };
}

/** A oneof's name in its .proto file, which protobufjs does not remember. */
export function oneofName(oneof: protobuf.OneOf): string {
  return snakeCase(oneof.name);
}

/** The spelling that protobufjs gives a renamed field back: source `ext/textformat.js`, `underScore`. */
function snakeCase(name: string): string {
  return name.slice(0, 1) + name.slice(1).replace(/[A-Z](?=[a-z]|$)/g, (letter) => `_${letter.toLowerCase()}`);
}

function fold(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}
