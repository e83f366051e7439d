import { type FieldInfo, type MessageInfo, modelConfigInfo, propertiesOf, type ValueType } from './fields.ts';
import type { ModelConfig } from './generated/types.ts';
import { numberText } from './scalar-text.ts';
import { isDefault } from './to-message.ts';

/**
 * Prints a configuration as the text of a config.pbtxt, fields in the order of the schema, those at their default left out.
 * Parsing the text gives the same configuration.
 */
export function modelConfigToText(config: ModelConfig): string {
  return fieldLines(modelConfigInfo(), config)
    .map((line) => `${line}\n`)
    .join('');
}

function fieldLines(info: MessageInfo, message: object): string[] {
  const properties = propertiesOf(message);
  return info.fields.flatMap((field) => {
    const value = properties[field.name];
    return value === undefined || isDefault(field, value) ? [] : lines(field, value);
  });
}

function lines(field: FieldInfo, value: unknown): string[] {
  const { protoName } = field;
  if (value instanceof Map) return [...value].flatMap(([key, item]) => block(protoName, entryLines(field, key, item)));
  if (field.value.kind === 'message') {
    const { message } = field.value;
    if (!Array.isArray(value)) return block(protoName, fieldLines(message, Object(value)));
    const items = value.flatMap((item, i) => messageItem(fieldLines(message, item), i === value.length - 1));
    return [`${protoName} [`, ...items.map(indent), ']'];
  }
  const type = field.value;
  if (!Array.isArray(value)) return [`${protoName}: ${scalar(type, value)}`];
  return [`${protoName}: [ ${value.map((item) => scalar(type, item)).join(', ')} ]`];
}

function entryLines(field: FieldInfo, key: unknown, value: unknown): string[] {
  const keyText = typeof key === 'string' ? quote(key) : String(key);
  if (field.value.kind !== 'message') return [`key: ${keyText}`, `value: ${scalar(field.value, value)}`];
  return [`key: ${keyText}`, ...block('value', fieldLines(field.value.message, Object(value)))];
}

function block(name: string, content: readonly string[]): string[] {
  return content.length === 0 ? [`${name} { }`] : [`${name} {`, ...content.map(indent), '}'];
}

function messageItem(content: readonly string[], last: boolean): string[] {
  const end = last ? '' : ',';
  return content.length === 0 ? [`{ }${end}`] : ['{', ...content.map(indent), `}${end}`];
}

function indent(line: string): string {
  return `  ${line}`;
}

function scalar(type: ValueType, value: unknown): string {
  if (type.kind !== 'scalar') return String(value);
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'number') return String(value);
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return numberText(type.type, value);
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Control characters as octal escapes, which text format has and JSON has not; everything printable stays as it is. */
function quote(value: string): string {
  const escaped = value.replace(
    /["\\\x00-\x1f\x7f]/g,
    (c) => ESCAPES[c] ?? `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `"${escaped}"`;
}
