/**
 * A protobuf message becomes a `ModelConfig`: 64-bit integers as number or bigint, enums as names, maps as `Map`, defaults filled in.
 */
import { util } from 'protobufjs/light.js';
import {
  defaultOf,
  entryPath,
  type FieldInfo,
  fieldPath,
  type MessageInfo,
  modelConfigInfo,
  propertiesOf,
  type ValueType,
} from './fields.ts';
import type { ModelConfig } from './generated/types.ts';

/** Something that a message may hold and a configuration may not. */
export interface MessageProblem {
  /** Where, e.g. `input[1].dims[0]`. */
  readonly path: string;
  readonly message: string;
}

type Report = (path: string, message: string) => void;

/**
 * Reads a message of `modelConfigType()`, decoded or built by hand: 64-bit integers as Long, bigint, number or decimal text, enum
 * values as number or name. The message is not changed or kept.
 *
 * @returns the configuration, and every signed 64-bit value outside ±(2⁵³ − 1) and every enum number without a name;
 * such values are read as 0 and as the enum's default
 */
export function modelConfigFromMessage(message: object): {
  readonly config: ModelConfig;
  readonly problems: readonly MessageProblem[];
} {
  const problems: MessageProblem[] = [];
  const config = readMessage(modelConfigInfo(), message, '', (path, text) => problems.push({ path, message: text }));
  return { config: config as ModelConfig, problems };
}

function readMessage(info: MessageInfo, message: object, path: string, report: Report): object {
  const properties = propertiesOf(message);
  const result: Record<string, unknown> = {};
  for (const field of info.fields) {
    const value = Object.hasOwn(properties, field.name) ? properties[field.name] : undefined;
    if (value !== undefined && value !== null) {
      result[field.name] = readField(field, value, fieldPath(path, field.protoName), report);
    } else if (!field.optional) result[field.name] = defaultOf(field);
  }
  return result;
}

function readField(field: FieldInfo, value: unknown, path: string, report: Report): unknown {
  if (field.container === 'list' && Array.isArray(value)) {
    return value.map((item, i) => readValue(field.value, item, `${path}[${i}]`, report));
  }
  if (field.container === 'map' && typeof value === 'object') return readMap(field, value ?? {}, path, report);
  return readValue(field.value, value, path, report);
}

function readMap(field: FieldInfo, value: object, path: string, report: Report): Map<string | bigint, unknown> {
  const entries = Object.entries(value).map(([text, item]): [string | bigint, unknown] => {
    const key = field.keyType === 'uint64' ? BigInt.asUintN(64, toBigInt(util.longFromKey(text, true))) : text;
    return [key, readValue(field.value, item, entryPath(path, key), report)];
  });
  return new Map(entries);
}

function readValue(type: ValueType, value: unknown, path: string, report: Report): unknown {
  switch (type.kind) {
    case 'message':
      return readMessage(type.message, Object(value), path, report);
    case 'enum':
      return readEnum(type.values, value, path, report);
    case 'scalar':
      if (type.type === 'uint64') return BigInt.asUintN(64, toBigInt(value));
      if (type.type === 'int64') return readSigned(toBigInt(value), path, report);
      return type.type === 'float' ? Math.fround(Number(value)) : value;
    default:
      return type satisfies never;
  }
}

/** A Long of any make (two signed 32-bit halves), bigint, number or decimal text. */
function toBigInt(value: unknown): bigint {
  if (typeof value === 'object' && value !== null && 'low' in value && 'high' in value) {
    return (BigInt(Number(value.high)) << 32n) + BigInt(Number(value.low) >>> 0);
  }
  return BigInt(String(value));
}

function readSigned(value: bigint, path: string, report: Report): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  report(path, `${value} is too large in amount: at most ${Number.MAX_SAFE_INTEGER} can be represented exactly`);
  return 0;
}

function readEnum(values: ReadonlyMap<string, number>, value: unknown, path: string, report: Report): string {
  for (const [name, number] of values) if (value === number || value === name) return name;
  const names = [...values].map(([name, number]) => `${name} (${number})`).join(', ');
  report(path, `${String(value)} is no value of this field; expected one of ${names}`);
  return [...values.keys()][0] ?? '';
}
