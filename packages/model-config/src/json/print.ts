/**
 * The JSON form of a configuration, as the config endpoint answers it.
 *
 * Every scalar, list and map is printed, also at its default; messages and oneof members only when set. Names are those of the schema, in its
 * order, but for one habit of the original's printer that clients may have recorded: a oneof member that is a scalar comes last.
 * All 64-bit integers are JSON numbers; the original leaves three of the fields as strings.
 */
import {
  type FieldInfo,
  type MessageInfo,
  modelConfigInfo,
  propertiesOf,
  type ScalarType,
  type ValueType,
} from '../fields.ts';
import type { ModelConfig } from '../generated/types.ts';
import { numberText } from '../scalar-text.ts';

export interface JsonOptions {
  /** Spaces per level; 0, the default, prints one line without spaces. */
  readonly indent?: number;
}

/**
 * Prints a configuration as JSON text. Integers beyond 2⁵³ are printed exactly, so reading them needs more than `JSON.parse`;
 * NaN and infinities are printed as the strings `"NaN"`, `"Infinity"` and `"-Infinity"`.
 */
export function modelConfigToJson(config: ModelConfig, options: JsonOptions = {}): string {
  return new Printer(options.indent ?? 0).message(modelConfigInfo(), config, 0);
}

class Printer {
  readonly #indent: number;
  readonly #colon: string;

  constructor(indent: number) {
    this.#indent = indent;
    this.#colon = indent === 0 ? ':' : ': ';
  }

  message(info: MessageInfo, message: object, depth: number): string {
    const properties = propertiesOf(message);
    const members = printOrder(info)
      .filter((field) => properties[field.name] !== undefined)
      .map((field) => this.#member(field.protoName, this.#field(field, properties[field.name], depth + 1)));
    return this.#enclose('{', members, '}', depth);
  }

  #field(field: FieldInfo, value: unknown, depth: number): string {
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#value(field.value, item, depth + 1));
      return field.value.kind === 'message' ? this.#enclose('[', items, ']', depth) : `[${items.join(',')}]`;
    }
    if (!(value instanceof Map)) return this.#value(field.value, value, depth);
    const members = [...value].map(([key, item]) =>
      this.#member(String(key), this.#value(field.value, item, depth + 1)),
    );
    return this.#enclose('{', members, '}', depth);
  }

  #value(type: ValueType, value: unknown, depth: number): string {
    if (type.kind === 'message') return this.message(type.message, Object(value), depth);
    return type.kind === 'scalar' ? scalar(type.type, value) : JSON.stringify(value);
  }

  #member(name: string, value: string): string {
    return JSON.stringify(name) + this.#colon + value;
  }

  #enclose(open: string, items: readonly string[], close: string, depth: number): string {
    if (items.length === 0 || this.#indent === 0) return open + items.join(',') + close;
    const inner = `\n${' '.repeat(this.#indent * (depth + 1))}`;
    return `${open}${inner}${items.join(`,${inner}`)}\n${' '.repeat(this.#indent * depth)}${close}`;
  }
}

function printOrder(info: MessageInfo): readonly FieldInfo[] {
  const last = (field: FieldInfo) => field.oneof !== undefined && field.value.kind === 'scalar';
  return info.fields.some(last) ? [...info.fields.filter((f) => !last(f)), ...info.fields.filter(last)] : info.fields;
}

function scalar(type: ScalarType, value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'number') return JSON.stringify(value);
  return Number.isFinite(value) ? numberText(type, value) : JSON.stringify(String(value));
}
