import type protobuf from 'protobufjs/light.js';
import { resolveBracketName } from './bracket-name.ts';
import { checkMapEntry } from './check-map.ts';
import { checkScalar } from './check-scalar.ts';
import { checkUnknownField } from './check-unknown.ts';
import { describeSlot } from './describe-slot.ts';
import type { Problems } from './diagnostic.ts';
import type { Findings, Rewrite } from './findings.ts';
import { MessageScope } from './message-scope.ts';
import { quote } from './quote.ts';
import { type FieldInfo, type Slot, typeInfo } from './schema.ts';
import type { BracketName, Document, Field, MessageValue, Scalar, Value } from './syntax.ts';
import { firstToken, lastToken, nameText, over } from './tree.ts';

/** Checks a whole tree against a message type: reports every problem, and says what to read differently. */
export function checkDocument(type: protobuf.Type, document: Document, problems: Problems): readonly Rewrite[] {
  const findings: Findings = { problems, rewrites: [] };
  const { items, end: anchor } = document;
  checkItems(new MessageScope({ type, items, anchor, isClosed: true, parent: undefined, findings }));
  return findings.rewrites;
}

function checkItems(scope: MessageScope): void {
  let isWhole = true;
  for (const item of scope.items) {
    if (item.kind === 'field') checkField(item, scope);
    else isWhole = false;
  }
  // What was passed over, or lies behind the bracket that is missing, may hold the field.
  if (isWhole && !scope.lacksClose) scope.reportMissing();
}

function checkField(field: Field, scope: MessageScope): void {
  if (field.name.kind === 'bracket-name') {
    checkBracketField(field, { name: field.name, scope });
    return;
  }
  const { token } = field.name;
  const info = typeInfo(scope.type).byName.get(nameText(field.name));
  if (info === undefined) {
    const outer = checkUnknownField(token, scope);
    if (outer !== undefined && field.value !== undefined) checkValue(field.value, outer);
    return;
  }
  if (info.readerName !== undefined) scope.findings.rewrites.push({ ...over(token), text: info.readerName });
  checkKnownField(field, { info, scope });
}

function checkBracketField(field: Field, { name, scope }: { name: BracketName; scope: MessageScope }): void {
  const resolved = resolveBracketName(name, scope.type, scope.findings.problems);
  if (resolved === undefined) return;
  if (resolved.kind === 'extension') {
    checkKnownField(field, { info: resolved.info, scope });
    return;
  }
  // An expanded Any sets both of its fields.
  for (const info of typeInfo(scope.type).fields) scope.markSet(info, field);
  if (field.value !== undefined) checkSlot(resolved.slot, { value: field.value, scope });
}

interface Target {
  readonly info: FieldInfo;
  readonly scope: MessageScope;
}

/** Checks one field that the type has: how often it is set, and what to. */
function checkKnownField(field: Field, { info, scope }: Target): void {
  if (isSingular(info)) scope.markSet(info, field);
  if (field.value === undefined) return;
  if (field.colon === undefined && info.slot.type !== 'message') checkColon(field, { info, scope });
  checkValue(field.value, { info, scope });
}

function isSingular({ field }: FieldInfo): boolean {
  return !field.repeated && !field.map;
}

/** An empty list is the one value that shows only with the schema whether it needs a colon. */
function checkColon({ name, value }: Field, { info, scope }: Target): void {
  const [first, last] = [firstToken(name), lastToken(name)];
  if (value?.kind !== 'list' || value.elements.length > 0 || first === undefined || info.field.map) return;
  const suggestion = `${info.textName}:`;
  const message = `${quote(info.textName)} needs a colon before its value; write ${quote(suggestion)}`;
  scope.findings.problems.add({ reason: 'missing-colon', message, ...over(first, last), suggestion });
}

function checkValue(value: Value, { info, scope }: Target): void {
  if (value.kind !== 'list') {
    checkElement(value, { info, scope });
    return;
  }
  if (isSingular(info)) {
    const message = `${quote(info.textName)} takes one value, not a list; remove the brackets`;
    scope.findings.problems.add({ reason: 'unexpected-list', message, ...over(value.open) });
  }
  for (const element of value.elements) {
    // A list inside a list has been reported by the parser.
    if (element.kind === 'element' && element.value.kind !== 'list') checkElement(element.value, { info, scope });
  }
}

function checkElement(value: Scalar | MessageValue, { info, scope }: Target): void {
  if (info.keySlot === undefined) {
    checkSlot(info.slot, { value, scope });
    return;
  }
  const checkPart = (slot: Slot, part: Value) => checkSlot(slot, { value: part, scope });
  const { problems } = scope.findings;
  checkMapEntry(value, { info, keySlot: info.keySlot, keys: scope.keysOf(info.field), problems, checkPart });
}

/** Checks one value against what its slot takes. */
function checkSlot(slot: Slot, { value, scope }: { value: Value; scope: MessageScope }): void {
  const { findings } = scope;
  if (value.kind === 'scalar') {
    checkScalar(slot, { scalar: value, findings });
  } else if (value.kind === 'list' || slot.messageType === undefined) {
    const message = `${slot.label} takes ${describeSlot(slot)}, not a ${value.kind}`;
    findings.problems.add({ reason: 'wrong-type', message, ...over(value.open) });
  } else {
    const { items, open: anchor, close } = value;
    const isClosed = close !== undefined;
    checkItems(new MessageScope({ type: slot.messageType, items, anchor, isClosed, parent: scope, findings }));
  }
}
