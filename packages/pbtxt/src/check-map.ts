import { nearestName } from '@nereid/core';
import type { Problems } from './diagnostic.ts';
import { literalText } from './literal.ts';
import { integerValue } from './number.ts';
import { quote } from './quote.ts';
import type { FieldInfo, Slot } from './schema.ts';
import type { Field, MessageValue, Scalar, Token, Value } from './syntax.ts';
import { firstToken, nameText, over } from './tree.ts';

interface MapCheck {
  readonly info: FieldInfo;
  readonly keySlot: Slot;
  /** Keys that were set so far; the entry's is added. */
  readonly keys: Map<string, Token>;
  readonly problems: Problems;
  /** Checks the key or the value of the entry. */
  readonly checkPart: (slot: Slot, part: Value) => void;
}

/** Checks one entry of a map, `{ key: … value: … }`. A key that was set before is a warning: the last one counts. */
export function checkMapEntry(entry: Scalar | MessageValue, check: MapCheck): void {
  const { info, problems } = check;
  if (entry.kind === 'scalar') {
    const [first, last] = [firstToken(entry), entry.tokens.at(-1)];
    const message = `${quote(info.textName)} is a map and takes entries like { key: "…" value … }`;
    if (first !== undefined) problems.add({ reason: 'wrong-type', message, ...over(first, last) });
    return;
  }
  const seen = new Map<string, Field>();
  for (const item of entry.items) if (item.kind === 'field') checkPart(item, { ...check, seen });
  noteKey(entry, { seen, check });
}

function checkPart(field: Field, { seen, ...check }: MapCheck & { seen: Map<string, Field> }): void {
  const { info, keySlot, problems } = check;
  const name = nameText(field.name);
  const token = field.name.kind === 'name' ? field.name.token : field.name.open;
  if (name !== 'key' && name !== 'value') {
    const suggestion = nearestName(name, ['key', 'value']);
    const message = `an entry of ${quote(info.textName)} has the fields key and value, not ${quote(name)}`;
    problems.add({ reason: 'unknown-field', message, ...over(token), suggestion });
    return;
  }
  if (seen.has(name)) {
    const message = `${quote(name)} is set twice in one entry of ${quote(info.textName)}; remove one`;
    problems.add({ reason: 'duplicate-field', message, ...over(token) });
  }
  seen.set(name, field);
  if (field.value?.kind === 'list') {
    const message = `${quote(name)} of a map entry takes one value, not a list`;
    problems.add({ reason: 'unexpected-list', message, ...over(field.value.open) });
  } else if (field.value !== undefined) check.checkPart(name === 'key' ? keySlot : info.slot, field.value);
}

function noteKey(entry: MessageValue, { seen, check }: { seen: ReadonlyMap<string, Field>; check: MapCheck }): void {
  const { info, keySlot, keys, problems } = check;
  const value = seen.get('key')?.value;
  const key = mapKey(keySlot, value);
  const token = value === undefined ? entry.open : firstToken(value);
  if (key === undefined || token === undefined) return;
  const earlier = keys.get(key);
  if (earlier === undefined) {
    keys.set(key, token);
    return;
  }
  const line = problems.lines.positionAt(earlier.start).line;
  const message = `${quote(info.textName)} has the key ${quote(key)} already in line ${line}; this later entry counts`;
  problems.add({ reason: 'duplicate-map-key', severity: 'warning', message, ...over(token) });
}

/** A key as the parsed map has it, all keys being strings there; undefined when it is no valid key. */
export function mapKey({ type }: Slot, value: Value | undefined): string | undefined {
  if (value === undefined) return type === 'string' ? '' : type === 'bool' ? 'false' : '0';
  if (value.kind !== 'scalar') return undefined;
  const [token] = value.tokens;
  switch (token?.kind) {
    case 'string':
      return type === 'string' ? literalText(value.tokens) : undefined;
    case 'integer':
      return integerKey(token.text, { type, isNegative: value.sign !== undefined });
    case 'name':
      return type === 'bool' ? String(token.text.toLowerCase().startsWith('t')) : undefined;
    default:
      return undefined;
  }
}

function integerKey(text: string, { type, isNegative }: { type: string; isNegative: boolean }): string {
  const magnitude = integerValue(text);
  if (type === 'bool') return String(magnitude !== 0n);
  return String(isNegative ? -magnitude : magnitude);
}
