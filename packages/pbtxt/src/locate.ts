import type protobuf from 'protobufjs/light.js';
import { mapKey } from './check-map.ts';
import { type PathStep, parsePath } from './path.ts';
import type { LineIndex, Span } from './position.ts';
import { type FieldInfo, typeInfo } from './schema.ts';
import type { Document, Field, Item, Token, Value } from './syntax.ts';
import { firstToken, lastToken, nameText, over } from './tree.ts';

/** One value of a field and the field that it was written in. */
interface Occurrence {
  readonly value: Value;
  readonly field: Field;
}

/** The message that the rest of a path leads into. */
interface Body {
  readonly type: protobuf.Type;
  readonly items: readonly Item[];
}

/** Finds where values of a parsed message stand. What a message holds is indexed when it is first asked for. */
export class Locator {
  readonly #root: Body;
  readonly #lines: LineIndex;
  readonly #indexed = new WeakMap<readonly Item[], Map<string, Occurrence[]>>();

  constructor(type: protobuf.Type, document: Document, lines: LineIndex) {
    this.#root = { type, items: document.items };
    this.#lines = lines;
  }

  /** The span of the value at `path`; undefined for a path that is malformed, unknown to the type, or not set. */
  locate(path: string): Span | undefined {
    const steps = parsePath(path);
    const place = steps === undefined ? undefined : this.#find(steps);
    return place === undefined ? undefined : this.#lines.span(place.start, place.end);
  }

  #find(steps: readonly PathStep[]): { start: number; end: number } | undefined {
    let body: Body | undefined = this.#root;
    for (let at = 0; at < steps.length; ) {
      const info = body === undefined ? undefined : fieldAt(steps[at], body.type);
      if (body === undefined || info === undefined) return undefined;
      const next = steps[at + 1];
      const selector = next === undefined || next.kind === 'field' ? undefined : next;
      const found = this.#select(this.#occurrences(body, info), { info, selector });
      if (found === undefined) return undefined;
      at += selector === undefined ? 1 : 2;
      if (at === steps.length) return placeOf(found, { info, isSelected: selector !== undefined });
      body = bodyOf(found.value, info);
    }
    return undefined;
  }

  #select(
    occurrences: readonly Occurrence[],
    { info, selector }: { info: FieldInfo; selector: PathStep | undefined },
  ): Occurrence | undefined {
    const { keySlot } = info;
    if (selector === undefined) return occurrences[0];
    if (selector.kind === 'field') return undefined;
    if (keySlot === undefined) return info.field.repeated ? occurrences[Number(selector.text)] : undefined;
    return occurrences.findLast(({ value }) => mapKey(keySlot, part(value, 'key')?.value) === selector.text);
  }

  /** Values of one field of a message in order, whether they were given as lists, by repetition, or mixed. */
  #occurrences(body: Body, info: FieldInfo): readonly Occurrence[] {
    let index = this.#indexed.get(body.items);
    if (index === undefined) {
      index = indexItems(body);
      this.#indexed.set(body.items, index);
    }
    return index.get(info.textName) ?? [];
  }
}

function indexItems({ type, items }: Body): Map<string, Occurrence[]> {
  const index = new Map<string, Occurrence[]>();
  for (const field of items) {
    if (field.kind !== 'field' || field.value === undefined) continue;
    const name = nameText(field.name);
    const textName = typeInfo(type).byName.get(name)?.textName ?? name;
    const occurrences = index.get(textName) ?? [];
    for (const value of valuesOf(field.value)) occurrences.push({ value, field });
    index.set(textName, occurrences);
  }
  return index;
}

function valuesOf(value: Value): Value[] {
  if (value.kind !== 'list') return [value];
  return value.elements.flatMap((element) => (element.kind === 'element' ? [element.value] : []));
}

/** A path may name a field as text format does or as the parsed message does. */
function fieldAt(step: PathStep | undefined, type: protobuf.Type): FieldInfo | undefined {
  if (step?.kind !== 'field') return undefined;
  const { byName, fields } = typeInfo(type);
  return (
    byName.get(step.name) ?? fields.find(({ field, textName }) => field.name === step.name || textName === step.name)
  );
}

function bodyOf(value: Value, { slot, keySlot }: FieldInfo): Body | undefined {
  const inner = keySlot === undefined ? value : part(value, 'value')?.value;
  if (inner?.kind !== 'message' || slot.messageType === undefined) return undefined;
  return { type: slot.messageType, items: inner.items };
}

/** The key or the value of a map entry. */
function part(entry: Value, name: 'key' | 'value'): Field | undefined {
  if (entry.kind !== 'message') return undefined;
  const isPart = (item: Item): item is Field => item.kind === 'field' && nameText(item.name) === name;
  return entry.items.find(isPart);
}

function placeOf(
  { value, field }: Occurrence,
  { info, isSelected }: { info: FieldInfo; isSelected: boolean },
): { start: number; end: number } | undefined {
  if (info.keySlot !== undefined && isSelected) return entryPlace(value);
  const isWholeField = value.kind === 'message' && field.value === value;
  const isWholeList = !isSelected && info.field.repeated;
  const first = isWholeField || isWholeList ? firstToken(field.name) : firstToken(value);
  const last = lastToken(isWholeList && field.value !== undefined ? field.value : value);
  return first === undefined ? undefined : over(first, last);
}

/** A scalar that an entry maps to; of a message, the entry's whole content, which begins with the key. */
function entryPlace(entry: Value): { start: number; end: number } | undefined {
  const mapped = part(entry, 'value')?.value;
  if (mapped?.kind === 'scalar') return placeFrom(firstToken(mapped), lastToken(mapped));
  if (entry.kind !== 'message') return undefined;
  const [first] = entry.items;
  const last = entry.items.at(-1);
  if (first === undefined || last === undefined) return over(entry.open, entry.close);
  return placeFrom(first.kind === 'field' ? firstToken(first.name) : first.tokens[0], lastToken(last));
}

function placeFrom(first: Token | undefined, last: Token | undefined): { start: number; end: number } | undefined {
  return first === undefined ? undefined : over(first, last);
}
