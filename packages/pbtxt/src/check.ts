import type protobuf from 'protobufjs/light.js';
import { resolveBracketName } from './bracket-name.ts';
import { checkMapEntry } from './check-map.ts';
import { checkScalar } from './check-scalar.ts';
import { describeSlot } from './describe-slot.ts';
import type { Problems } from './diagnostic.ts';
import type { Findings, Rewrite } from './findings.ts';
import { nearestName } from './nearest-name.ts';
import { quote } from './quote.ts';
import { type FieldInfo, type Slot, typeInfo } from './schema.ts';
import type { BracketName, Document, Field, Item, Token, Value } from './syntax.ts';
import { nameText, over } from './tree.ts';

/** The message whose items are being checked. */
interface MessageScope {
  readonly type: protobuf.Type;
  readonly items: readonly Item[];
  /** Its opening bracket; of the outermost message, the end of the text. */
  readonly anchor: Token;
  readonly isClosed: boolean;
  readonly parent: MessageScope | undefined;
  /** What was set so far, by field and by oneof. */
  readonly seen: Map<protobuf.Field | protobuf.OneOf, Sighting>;
  /** Keys that were set so far, by map field. */
  readonly mapKeys: Map<protobuf.Field, Map<string, Token>>;
}

interface Sighting {
  readonly label: string;
  readonly token: Token;
}

/** Checks a whole tree against a message type: reports every problem, and says what to read differently. */
export function checkDocument(type: protobuf.Type, document: Document, problems: Problems): readonly Rewrite[] {
  const findings: Findings = { problems, rewrites: [] };
  const scope = messageScope({ type, items: document.items, anchor: document.end, isClosed: true, parent: undefined });
  checkItems(scope, findings);
  return findings.rewrites;
}

function messageScope(init: Omit<MessageScope, 'seen' | 'mapKeys'>): MessageScope {
  return { ...init, seen: new Map(), mapKeys: new Map() };
}

function checkItems(scope: MessageScope, findings: Findings): void {
  let isWhole = scope.isClosed;
  for (const item of scope.items) {
    if (item.kind === 'field') checkField(item, { scope, findings });
    else isWhole = false;
  }
  // What was passed over may hold the field.
  if (isWhole) reportMissing(scope, findings);
}

function checkField(field: Field, { scope, findings }: { scope: MessageScope; findings: Findings }): void {
  if (field.name.kind === 'bracket-name') {
    checkBracketField(field, { name: field.name, scope, findings });
    return;
  }
  const name = nameText(field.name);
  const { token } = field.name;
  const info = typeInfo(scope.type).byName.get(name);
  if (info !== undefined) {
    if (info.readerName !== undefined) findings.rewrites.push({ ...over(token), text: info.readerName });
    checkFieldValue(field, { info, token, scope, findings });
    return;
  }
  const outer = scope.isClosed ? undefined : enclosingField(name, scope);
  // The block was not closed, so this field belongs to a message around it.
  if (outer !== undefined && field.value !== undefined) checkValue(field.value, { ...outer, findings });
  else reportUnknown(name, { token, scope, findings });
}

function enclosingField(name: string, scope: MessageScope): { info: FieldInfo; scope: MessageScope } | undefined {
  for (let outer = scope.parent; outer !== undefined; outer = outer.parent) {
    const info = typeInfo(outer.type).byName.get(name);
    if (info !== undefined) return { info, scope: outer };
  }
  return undefined;
}

function checkBracketField(
  field: Field,
  { name, scope, findings }: { name: BracketName; scope: MessageScope; findings: Findings },
): void {
  const resolved = resolveBracketName(name, scope.type, findings.problems);
  if (resolved === undefined) return;
  if (resolved.kind === 'extension') {
    checkFieldValue(field, { info: resolved.info, token: name.open, scope, findings });
    return;
  }
  // An expanded Any sets both of its fields.
  for (const info of typeInfo(scope.type).fields) markSet(info, { token: name.open, scope, findings });
  if (field.value !== undefined) checkSlot(resolved.slot, { value: field.value, scope, findings });
}

interface FieldCheck {
  readonly info: FieldInfo;
  /** Of the field's name. */
  readonly token: Token;
  readonly scope: MessageScope;
  readonly findings: Findings;
}

/** Checks one field that the type has: how often it is set, and what to. */
function checkFieldValue(field: Field, { info, token, scope, findings }: FieldCheck): void {
  if (!info.field.repeated && !info.field.map) markSet(info, { token, scope, findings });
  if (field.value === undefined) return;
  if (field.colon === undefined && info.slot.type !== 'message' && isEmptyList(field.value)) {
    const suggestion = `${info.textName}:`;
    const message = `${quote(info.textName)} needs a colon before its value; write ${quote(suggestion)}`;
    findings.problems.add({ reason: 'missing-colon', message, ...over(token), suggestion });
  }
  checkValue(field.value, { info, scope, findings });
}

function isEmptyList(value: Value): boolean {
  return value.kind === 'list' && value.elements.length === 0;
}

/** Reports a second value of a singular field, and a second member of a oneof. */
function markSet({ field, textName }: FieldInfo, { token, scope, findings }: Omit<FieldCheck, 'info'>): void {
  const { problems } = findings;
  const earlier = scope.seen.get(field);
  const rival = field.partOf === null ? undefined : scope.seen.get(field.partOf);
  if (earlier !== undefined) {
    const message = `${quote(textName)} is set twice, first in line ${lineOf(earlier.token, problems)}; remove one`;
    problems.add({ reason: 'duplicate-field', message, ...over(token) });
  } else if (rival !== undefined) {
    const both = `${quote(textName)} and ${quote(rival.label)} (line ${lineOf(rival.token, problems)})`;
    const message = `${both} exclude each other: both belong to ${field.partOf?.name}; remove one`;
    problems.add({ reason: 'oneof-conflict', message, ...over(token) });
  }
  const sighting = { label: textName, token };
  if (earlier === undefined) scope.seen.set(field, sighting);
  if (field.partOf !== null && rival === undefined) scope.seen.set(field.partOf, sighting);
}

function lineOf(token: Token, problems: Problems): number {
  return problems.lines.positionAt(token.start).line;
}

interface ValueCheck {
  readonly info: FieldInfo;
  readonly scope: MessageScope;
  readonly findings: Findings;
}

function checkValue(value: Value, { info, scope, findings }: ValueCheck): void {
  if (value.kind !== 'list') {
    checkElement(value, { info, scope, findings });
    return;
  }
  if (!info.field.repeated && !info.field.map) {
    const message = `${quote(info.textName)} takes one value, not a list; remove the brackets`;
    findings.problems.add({ reason: 'unexpected-list', message, ...over(value.open) });
  }
  for (const element of value.elements) {
    // A list inside a list has been reported by the parser.
    if (element.kind === 'element' && element.value.kind !== 'list')
      checkElement(element.value, { info, scope, findings });
  }
}

function checkElement(value: Exclude<Value, { kind: 'list' }>, { info, scope, findings }: ValueCheck): void {
  if (info.keySlot === undefined) {
    checkSlot(info.slot, { value, scope, findings });
    return;
  }
  const keys = scope.mapKeys.get(info.field) ?? new Map<string, Token>();
  scope.mapKeys.set(info.field, keys);
  const checkPart = (slot: Slot, part: Value) => checkSlot(slot, { value: part, scope, findings });
  checkMapEntry(value, { info, keySlot: info.keySlot, keys, problems: findings.problems, checkPart });
}

interface SlotCheck {
  readonly value: Value;
  readonly scope: MessageScope;
  readonly findings: Findings;
}

/** Checks one value against what its slot takes. */
function checkSlot(slot: Slot, { value, scope, findings }: SlotCheck): void {
  if (value.kind === 'scalar') {
    checkScalar(slot, { scalar: value, findings });
  } else if (value.kind === 'list' || slot.messageType === undefined) {
    const message = `${quote(slot.label)} takes ${describeSlot(slot)}, not a ${value.kind}`;
    findings.problems.add({ reason: 'wrong-type', message, ...over(value.open) });
  } else {
    const { items, open: anchor, close } = value;
    const isClosed = close !== undefined;
    checkItems(messageScope({ type: slot.messageType, items, anchor, isClosed, parent: scope }), findings);
  }
}

function reportUnknown(name: string, { token, scope, findings }: Omit<FieldCheck, 'info'>): void {
  const { problems } = findings;
  const { type } = scope;
  if (type.isReservedName(name)) {
    const message = `${quote(name)} is a removed field of ${type.name}; it has no effect`;
    problems.add({ reason: 'reserved-field', severity: 'warning', message, ...over(token) });
    return;
  }
  const suggestion = problems.hasRoom ? nearestName(name, typeInfo(type).textNames) : undefined;
  const hint = suggestion === undefined ? '' : `; did you mean ${quote(suggestion)}?`;
  const message = `${type.name} has no field ${quote(name)}${hint}`;
  problems.add({ reason: 'unknown-field', message, ...over(token), suggestion });
}

function reportMissing({ type, anchor, seen }: MessageScope, { problems }: Findings): void {
  for (const { field, textName } of typeInfo(type).required) {
    if (seen.has(field)) continue;
    problems.add({ reason: 'missing-required', message: `${type.name} needs ${quote(textName)}`, ...over(anchor) });
  }
}
