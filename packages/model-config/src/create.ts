import { defaultOf, type FieldInfo, type MessageInfo, modelConfigInfo, propertiesOf } from './fields.ts';
import type { ModelConfig } from './generated/types.ts';

/** A message in which every field may be left out, at any depth. */
export type Init<T> =
  T extends ReadonlyMap<infer K, infer V>
    ? ReadonlyMap<K, Init<V>>
    : T extends readonly (infer E)[]
      ? readonly Init<E>[]
      : T extends object
        ? { readonly [K in keyof T]?: Init<T[K]> }
        : T;

/**
 * Makes a configuration from the fields that matter, e.g. `createModelConfig({ name: 'mlp', input: [{ name: 'x', dims: [4] }] })`.
 * Every other field gets the default of the schema, also in the messages given. Nothing is completed or checked.
 * Lists and maps are copied.
 */
export function createModelConfig(init: Init<ModelConfig> = {}): ModelConfig {
  return complete(modelConfigInfo(), init) as ModelConfig;
}

function complete(message: MessageInfo, init: object): object {
  const given = propertiesOf(init);
  const result: Record<string, unknown> = {};
  for (const field of message.fields) {
    const value = given[field.name];
    if (value !== undefined) result[field.name] = completeField(field, value);
    else if (!field.optional) result[field.name] = defaultOf(field);
  }
  return result;
}

function completeField(field: FieldInfo, value: unknown): unknown {
  const each = (item: unknown): unknown =>
    field.value.kind === 'message' && isObject(item) ? complete(field.value.message, item) : item;
  if (Array.isArray(value)) return value.map(each);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, each(item)]));
  return each(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
