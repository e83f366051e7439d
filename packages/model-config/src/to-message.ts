import { type FieldInfo, type MessageInfo, modelConfigInfo, propertiesOf, type ValueType } from './fields.ts';
import type { ModelConfig } from './generated/types.ts';

/**
 * The configuration as plain object that `modelConfigType()` encodes: enum values as numbers, maps as objects, 64-bit integers as pairs of
 * 32-bit halves (`{ low, high, unsigned }`). Fields at their default are left out; nothing of `config` is shared but strings.
 */
export function modelConfigToMessage(config: ModelConfig): Record<string, unknown> {
  return writeMessage(modelConfigInfo(), config);
}

function writeMessage(info: MessageInfo, message: object): Record<string, unknown> {
  const properties = propertiesOf(message);
  const result: Record<string, unknown> = {};
  for (const field of info.fields) {
    const value = properties[field.name];
    if (value !== undefined && !isDefault(field, value)) result[field.name] = writeField(field, value);
  }
  return result;
}

/** Whether a file need not mention the field to have this value. */
export function isDefault(field: FieldInfo, value: unknown): boolean {
  if (field.optional) return false;
  if (Array.isArray(value)) return value.length === 0;
  if (value instanceof Map) return value.size === 0;
  if (field.value.kind === 'enum') return field.value.values.get(String(value)) === 0;
  return value === '' || value === false || Object.is(value, 0) || value === 0n;
}

function writeField(field: FieldInfo, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => writeValue(field.value, item));
  if (!(value instanceof Map)) return writeValue(field.value, value);
  return Object.fromEntries([...value].map(([key, item]) => [String(key), writeValue(field.value, item)]));
}

function writeValue(type: ValueType, value: unknown): unknown {
  switch (type.kind) {
    case 'message':
      return writeMessage(type.message, Object(value));
    case 'enum':
      return type.values.get(String(value));
    case 'scalar':
      return type.type === 'int64' || type.type === 'uint64' ? halves(BigInt(String(value)), type.type) : value;
    default:
      return type satisfies never;
  }
}

function halves(value: bigint, type: 'int64' | 'uint64') {
  const low = Number(BigInt.asIntN(32, value));
  return { low, high: Number(BigInt.asIntN(32, value >> 32n)), unsigned: type === 'uint64' };
}
