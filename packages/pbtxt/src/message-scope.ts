import type protobuf from 'protobufjs/light.js';
import type { Findings } from './findings.ts';
import { quote } from './quote.ts';
import { type FieldInfo, oneofName, typeInfo } from './schema.ts';
import type { Field, Item, Token } from './syntax.ts';
import { firstToken, nameText, over } from './tree.ts';

interface ScopeInit {
  readonly type: protobuf.Type;
  readonly items: readonly Item[];
  /** Its opening bracket; of the outermost message, the end of the text. */
  readonly anchor: Token;
  readonly isClosed: boolean;
  readonly parent: MessageScope | undefined;
  readonly findings: Findings;
}

/** One message of the text while it is being checked: what was set so far, and by which field as written. */
export class MessageScope {
  readonly type: protobuf.Type;
  readonly items: readonly Item[];
  readonly anchor: Token;
  readonly parent: MessageScope | undefined;
  readonly findings: Findings;
  /** Whether its closing bracket is known to be missing: then fields of the messages around it are no surprise. */
  lacksClose: boolean;
  #seen: Map<protobuf.Field | protobuf.OneOf, Field> | undefined;
  #mapKeys: Map<protobuf.Field, Map<string, Token>> | undefined;

  constructor({ type, items, anchor, isClosed, parent, findings }: ScopeInit) {
    this.type = type;
    this.items = items;
    this.anchor = anchor;
    this.parent = parent;
    this.findings = findings;
    this.lacksClose = !isClosed;
  }

  /** Keys of a map field that were set so far. */
  keysOf(field: protobuf.Field): Map<string, Token> {
    this.#mapKeys ??= new Map();
    const keys = this.#mapKeys.get(field) ?? new Map<string, Token>();
    this.#mapKeys.set(field, keys);
    return keys;
  }

  /** Notes that a singular field is set; reports a second value, and a second member of its oneof. */
  markSet({ field, textName }: FieldInfo, written: Field): void {
    this.#seen ??= new Map();
    const { partOf } = field;
    const earlier = this.#seen.get(field);
    const rival = partOf === null ? undefined : this.#seen.get(partOf);
    if (earlier !== undefined) {
      const message = `${quote(textName)} is set twice, first in line ${this.#lineOf(earlier)}; remove one`;
      this.#report('duplicate-field', { written, message });
    } else if (partOf !== null && rival !== undefined) {
      const both = `${quote(textName)} and ${quote(nameText(rival.name))} (line ${this.#lineOf(rival)})`;
      const message = `${both} exclude each other: both belong to the oneof ${quote(oneofName(partOf))}; remove one`;
      this.#report('oneof-conflict', { written, message });
    }
    if (earlier === undefined) this.#seen.set(field, written);
    if (partOf !== null && rival === undefined) this.#seen.set(partOf, written);
  }

  /** Reports proto2 `required` fields without a value. */
  reportMissing(): void {
    for (const { field, textName } of typeInfo(this.type).required) {
      if (this.#seen?.has(field)) continue;
      const message = `${this.type.name} needs ${quote(textName)}`;
      this.findings.problems.add({ reason: 'missing-required', message, ...over(this.anchor) });
    }
  }

  /** The nearest message around this one that has a field of this name. */
  enclosingField(name: string): { info: FieldInfo; scope: MessageScope } | undefined {
    for (let scope = this.parent; scope !== undefined; scope = scope.parent) {
      const info = typeInfo(scope.type).byName.get(name);
      if (info !== undefined) return { info, scope };
    }
    return undefined;
  }

  #report(
    reason: 'duplicate-field' | 'oneof-conflict',
    { written, message }: { written: Field; message: string },
  ): void {
    this.findings.problems.add({ reason, message, ...over(firstToken(written.name) ?? this.anchor) });
  }

  #lineOf({ name }: Field): number {
    return this.findings.problems.lines.positionAt(firstToken(name)?.start ?? 0).line;
  }
}
