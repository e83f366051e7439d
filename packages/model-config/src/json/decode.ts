/**
 * A JSON tree becomes a message of the schema, by the rules of protobuf's JSON form: names in snake_case or lowerCamelCase, 64-bit
 * integers as numbers or decimal text, enum values by name in any letter case or by number, null for unset. Everything wrong is reported, not the first.
 */
import { nearestName } from '@nereid/core';
import {
  entryPath,
  type FieldInfo,
  fieldPath,
  type MessageInfo,
  modelConfigInfo,
  type ScalarType,
  type ValueType,
} from '../fields.ts';
import type { JsonMember, JsonNode } from './parse.ts';

type JsonReason =
  | 'unknown-field'
  | 'duplicate-field'
  | 'oneof-conflict'
  | 'unknown-enum-value'
  | 'wrong-type'
  | 'out-of-range';

export interface JsonProblem {
  readonly reason: JsonReason;
  readonly message: string;
  readonly start: number;
  readonly end: number;
  readonly suggestion?: string;
}

export interface DecodedJson {
  /** Message for `modelConfigFromMessage`; what had a problem is missing. */
  readonly message: object;
  readonly problems: readonly JsonProblem[];
  /** Node of every value, by path. */
  readonly places: ReadonlyMap<string, JsonNode>;
}

export function decodeJson(root: JsonNode): DecodedJson {
  const decoder = new Decoder();
  const message = decoder.message(modelConfigInfo(), root, '') ?? {};
  return { message, problems: decoder.problems, places: decoder.places };
}

class Decoder {
  readonly problems: JsonProblem[] = [];
  readonly places = new Map<string, JsonNode>();

  message(info: MessageInfo, node: JsonNode, path: string): object | undefined {
    this.places.set(path, node);
    if (node.kind !== 'object') return this.#wrongType(node, `an object with the fields of ${info.name}`);
    const result: Record<string, unknown> = {};
    const set = new Map<string, FieldInfo>();
    for (const member of node.members) {
      const field = info.fields.find(({ name, protoName }) => member.name === protoName || member.name === name);
      if (field === undefined) this.#unknownField(info, member);
      else if (member.value.kind !== 'null' && this.#claim(field, set, member)) {
        const value = this.#field(field, member.value, fieldPath(path, field.protoName));
        if (value !== undefined) result[field.name] = value;
      }
    }
    return result;
  }

  /** Notes that the field is set; false when it, or another of its oneof, was set before. */
  #claim(field: FieldInfo, set: Map<string, FieldInfo>, { nameStart: start, nameEnd: end }: JsonMember): boolean {
    const slot = field.oneof === undefined ? field.protoName : `oneof ${field.oneof}`;
    const earlier = set.get(slot);
    set.set(slot, field);
    if (earlier === undefined) return true;
    if (earlier === field) {
      this.problems.push({ reason: 'duplicate-field', message: `'${field.protoName}' is given twice`, start, end });
    } else {
      const message = `'${field.protoName}' excludes '${earlier.protoName}', which is given before; keep one of the two`;
      this.problems.push({ reason: 'oneof-conflict', message, start, end });
    }
    return false;
  }

  #field(field: FieldInfo, node: JsonNode, path: string): unknown {
    if (field.container === 'single') return this.#value(field.value, node, path);
    this.places.set(path, node);
    if (field.container === 'list') {
      if (node.kind !== 'array') return this.#wrongType(node, `a list for '${field.protoName}'`);
      return node.items
        .map((item, i) => this.#value(field.value, item, `${path}[${i}]`))
        .filter((v) => v !== undefined);
    }
    if (node.kind !== 'object') return this.#wrongType(node, `an object for the map '${field.protoName}'`);
    return this.#map(field, node.members, path);
  }

  #map(field: FieldInfo, members: readonly JsonMember[], path: string): object {
    const entries = new Map<string, unknown>();
    for (const member of members) {
      const key = this.#mapKey(field, member);
      if (key === undefined) continue;
      const { nameStart: start, nameEnd: end } = member;
      if (entries.has(String(key))) {
        const message = `key ${JSON.stringify(member.name)} of '${field.protoName}' is given twice`;
        this.problems.push({ reason: 'duplicate-field', message, start, end });
        continue;
      }
      entries.set(String(key), this.#value(field.value, member.value, entryPath(path, key)));
    }
    return Object.fromEntries([...entries].filter(([, value]) => value !== undefined));
  }

  #mapKey(field: FieldInfo, { name, nameStart: start, nameEnd: end }: JsonMember): string | bigint | undefined {
    if (field.keyType !== 'uint64') return name;
    const key = /^[0-9]+$/.test(name) ? inRange('uint64', BigInt(name)) : undefined;
    if (key !== undefined) return key;
    const message = `a key of '${field.protoName}' must be an integer from 0 to 2^64-1 in quotes, got ${JSON.stringify(name)}`;
    this.problems.push({ reason: 'wrong-type', message, start, end });
    return undefined;
  }

  #value(type: ValueType, node: JsonNode, path: string): unknown {
    if (type.kind === 'message') return this.message(type.message, node, path);
    this.places.set(path, node);
    return type.kind === 'enum' ? this.#enumValue(type.values, node) : this.#scalar(type.type, node);
  }

  #enumValue(values: ReadonlyMap<string, number>, node: JsonNode): number | undefined {
    const names = [...values.keys()];
    if (node.kind === 'number') {
      if ([...values.values()].includes(Number(node.text))) return Number(node.text);
    } else if (node.kind !== 'string') return this.#wrongType(node, `one of ${names.join(', ')}`);
    const given = node.kind === 'string' ? node.value : node.text;
    const exact = values.get(given.toUpperCase());
    if (exact !== undefined) return exact;
    const suggestion = nearestName(given, names);
    this.#report(
      node,
      'unknown-enum-value',
      `unknown value '${given}'; expected one of ${names.join(', ')}`,
      suggestion,
    );
    return undefined;
  }

  #scalar(type: ScalarType, node: JsonNode): unknown {
    switch (type) {
      case 'string':
        return node.kind === 'string' ? node.value : this.#wrongType(node, 'text in double quotes');
      case 'bool':
        return node.kind === 'boolean' ? node.value : this.#wrongType(node, 'true or false');
      case 'float':
      case 'double':
        return this.#floatingPoint(type, node);
      case 'int32':
      case 'uint32':
      case 'int64':
      case 'uint64':
        return this.#integer(type, node);
      default:
        return type satisfies never;
    }
  }

  #floatingPoint(type: 'float' | 'double', node: JsonNode): number | undefined {
    const text = node.kind === 'number' ? node.text : node.kind === 'string' ? node.value : '';
    if (text === 'NaN' || text === 'Infinity' || text === '-Infinity') return Number(text);
    if (!NUMERIC.test(text)) return this.#wrongType(node, 'a number, or "NaN", "Infinity" or "-Infinity"');
    const value = type === 'float' ? Math.fround(Number(text)) : Number(text);
    return Number.isFinite(value) ? value : this.#report(node, 'out-of-range', `${text} is out of range for a ${type}`);
  }

  #integer(type: IntegerType, node: JsonNode): number | bigint | undefined {
    const text = node.kind === 'number' ? node.text : node.kind === 'string' ? node.value : '';
    const integer = NUMERIC.test(text) ? toInteger(text) : undefined;
    if (integer === undefined) return this.#wrongType(node, 'an integer');
    const value = inRange(type, integer);
    if (value === undefined) {
      const [low, high] = RANGES[type];
      return this.#report(node, 'out-of-range', `${text} is out of range: expected ${low} to ${high}`);
    }
    return type === 'int32' || type === 'uint32' ? Number(value) : value;
  }

  #unknownField(info: MessageInfo, { name, nameStart: start, nameEnd: end }: JsonMember): void {
    const suggestion = nearestName(
      name,
      info.fields.map(({ protoName }) => protoName),
    );
    const hint = suggestion === undefined ? 'Its fields are ' : `Did you mean '${suggestion}'? Its fields are `;
    const fields = info.fields.map(({ protoName }) => protoName).join(', ');
    const message = `${info.name} has no field '${name}'. ${hint}${fields || 'none'}.`;
    this.problems.push({
      reason: 'unknown-field',
      message,
      start,
      end,
      ...(suggestion !== undefined && { suggestion }),
    });
  }

  #wrongType(node: JsonNode, expected: string): undefined {
    return this.#report(node, 'wrong-type', `expected ${expected}, got ${describe(node)}`);
  }

  #report(node: JsonNode, reason: JsonReason, message: string, suggestion?: string): undefined {
    const { start, end } = node;
    this.problems.push({ reason, message, start, end, ...(suggestion !== undefined && { suggestion }) });
  }
}

type IntegerType = 'int32' | 'uint32' | 'int64' | 'uint64';

const NUMERIC = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

const RANGES: Readonly<Record<IntegerType, readonly [low: bigint, high: bigint]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

function inRange(type: IntegerType, value: bigint): bigint | undefined {
  const [low, high] = RANGES[type];
  return value >= low && value <= high ? value : undefined;
}

/** Value of a numeric text that is whole, also when written as `4.0` or `1e3`. */
function toInteger(text: string): bigint | undefined {
  // The time to read a BigInt grows with the square of its length; what is this long is out of every range.
  if (text.length > 40) return text.startsWith('-') ? -(2n ** 64n) : 2n ** 64n;
  if (/^-?[0-9]+$/.test(text)) return BigInt(text);
  const value = Number(text);
  return Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

function describe(node: JsonNode): string {
  switch (node.kind) {
    case 'string':
      return `the text ${JSON.stringify(node.value)}`;
    case 'number':
      return `the number ${node.text}`;
    case 'boolean':
      return String(node.value);
    case 'null':
      return 'null';
    case 'array':
      return 'a list';
    case 'object':
      return 'an object';
    default:
      return node satisfies never;
  }
}
