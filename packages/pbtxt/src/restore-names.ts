import type protobuf from 'protobufjs/light.js';
import { Problems } from './diagnostic.ts';
import { type Rewrite, rewritten } from './findings.ts';
import { parseDocument } from './parse-syntax.ts';
import { LineIndex } from './position.ts';
import { type FieldInfo, typeInfo } from './schema.ts';
import type { Item, Value } from './syntax.ts';
import { nameText, over } from './tree.ts';

/*
 * protobufjs derives the names that it prints from its camelCase ones, and cannot restore all: `is_v2_model` became
 * `isV2Model` and would be printed as `isV2_model`. Only text of types with such a field is gone through.
 */

/** Printed text with every field under the name of its .proto file. */
export function restoreNames(type: protobuf.Type, text: string): string {
  if (!losesNames(type, new Set())) return text;
  const limits = { maxDepth: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY, maxDiagnostics: 0 };
  const document = parseDocument(text, { limits, problems: new Problems(new LineIndex(text), 0) });
  const rewrites: Rewrite[] = [];
  collect(document.items, { type, rewrites });
  return rewritten(text, rewrites);
}

function losesNames(type: protobuf.Type, visited: Set<protobuf.Type>): boolean {
  if (visited.has(type)) return false;
  visited.add(type);
  return typeInfo(type).fields.some(({ textName, printedName, slot }) => {
    return textName !== printedName || (slot.messageType !== undefined && losesNames(slot.messageType, visited));
  });
}

function collect(items: readonly Item[], { type, rewrites }: { type: protobuf.Type; rewrites: Rewrite[] }): void {
  for (const item of items) {
    if (item.kind === 'skipped' || item.value === undefined) continue;
    const printed = nameText(item.name);
    const info = typeInfo(type).fields.find(({ printedName }) => printedName === printed);
    if (info === undefined) continue;
    if (item.name.kind === 'name' && printed !== info.textName) {
      rewrites.push({ ...over(item.name.token), text: info.textName });
    }
    collectValue(item.value, { info, rewrites });
  }
}

function collectValue(value: Value, { info, rewrites }: { info: FieldInfo; rewrites: Rewrite[] }): void {
  const type = info.slot.messageType;
  if (value.kind !== 'message' || type === undefined) return;
  if (info.keySlot === undefined) collect(value.items, { type, rewrites });
  else {
    // A map entry: its `value` is the message.
    for (const part of value.items) {
      if (part.kind === 'field' && part.value?.kind === 'message') collect(part.value.items, { type, rewrites });
    }
  }
}
