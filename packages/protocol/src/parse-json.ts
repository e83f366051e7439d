import { utf8Bytes } from './bytes.ts';
import { JsonReader, JsonReal, type JsonValue } from './json-reader.ts';

/** What a JSON text says: integers outside the safe range are bigints, NaN and the infinities are numbers. */
export type PlainJson =
  | null
  | boolean
  | string
  | number
  | bigint
  | readonly PlainJson[]
  | { readonly [key: string]: PlainJson };

/**
 * Like `JSON.parse`, where that would lose information or refuse: 64-bit integers stay exact, bare NaN, Infinity and -Infinity are taken, of a repeated key the
 * first counts.
 * @throws {ProtocolError} `bad-json`, also for nesting deeper than 100
 */
export function parseJson(text: string): PlainJson {
  const reader = new JsonReader(utf8Bytes(text), { maxDepth: 100, maxValues: Number.POSITIVE_INFINITY });
  const value = reader.value();
  reader.finish();
  return plain(value);
}

function plain(value: JsonValue): PlainJson {
  if (value instanceof JsonReal) return value.value;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner)]));
  return value as PlainJson;
}
