/**
 * Fields to header blocks. Only fields that recur on every call are added to the dynamic table, so that an answer has a few bytes of headers; strings are not
 * Huffman-coded. Source: RFC 7541.
 */
import { DEFAULT_TABLE_BYTES } from './decoder.ts';
import { type Field, fieldBytes, STATIC_TABLE } from './static-table.ts';

/** A header list that is sent again and again; its object is its identity. */
export interface FieldList {
  readonly fields: readonly Field[];
  /** Names of fields whose values recur: they are added to the dynamic table. */
  readonly recurring: ReadonlySet<string>;
}

const keyOf = (name: string, value: string) => `${name}\0${value}`;

const STATIC_FIELDS = new Map(STATIC_TABLE.map(([name, value], i) => [keyOf(name, value), i + 1]));
const STATIC_NAMES = new Map([...STATIC_TABLE.entries()].reverse().map(([i, [name]]) => [name, i + 1]));

export class HpackEncoder {
  /** What the peer lets the table take; we never use more than is usual. */
  #tableLimit = DEFAULT_TABLE_BYTES;
  #tableBytes = 0;
  /** Number of each entry in the order of adding. */
  #added = new Map<string, number>();
  #addedCount = 0;
  /** Whether the next block has to tell the limit. */
  #limitChanged = false;
  /** Blocks of lists that add nothing any more. */
  #known = new WeakMap<FieldList, Buffer>();

  /** The peer has said how large its table may be. */
  setTableLimit(bytes: number): void {
    const limit = Math.min(bytes, DEFAULT_TABLE_BYTES);
    if (limit === this.#tableLimit) return;
    this.#tableLimit = limit;
    this.#limitChanged = true;
    this.#added.clear();
    this.#addedCount = 0;
    this.#tableBytes = 0;
    this.#known = new WeakMap();
  }

  /** @returns a block that must be sent before the next one is made; it stays as it is */
  encode(list: FieldList): Buffer {
    const update = this.#limitUpdate();
    const block = this.#known.get(list) ?? this.#encodeFields(list);
    return update.length === 0 ? block : Buffer.concat([update, block]);
  }

  /** A limit of nothing goes first, so that the peer drops what its table holds, as we have. */
  #limitUpdate(): Buffer {
    if (!this.#limitChanged) return NOTHING;
    this.#limitChanged = false;
    const bytes: number[] = [];
    integer(bytes, { flags: 0x20, prefixBits: 5, value: 0 });
    if (this.#tableLimit > 0) integer(bytes, { flags: 0x20, prefixBits: 5, value: this.#tableLimit });
    return Buffer.from(bytes);
  }

  #encodeFields(list: FieldList): Buffer {
    const bytes: number[] = [];
    const before = this.#addedCount;
    for (const field of list.fields) this.#field(bytes, field, list.recurring.has(field[0]));
    const block = Buffer.from(bytes);
    if (this.#addedCount === before) this.#known.set(list, block);
    return block;
  }

  #field(bytes: number[], [name, value]: Field, isRecurring: boolean): void {
    const key = keyOf(name, value);
    const index = STATIC_FIELDS.get(key) ?? this.#indexOf(key);
    if (index !== undefined) {
      integer(bytes, { flags: 0x80, prefixBits: 7, value: index });
      return;
    }
    const isAdded = isRecurring && this.#add(key, fieldBytes(name, value));
    const nameIndex = STATIC_NAMES.get(name) ?? 0;
    integer(
      bytes,
      isAdded ? { flags: 0x40, prefixBits: 6, value: nameIndex } : { flags: 0, prefixBits: 4, value: nameIndex },
    );
    if (nameIndex === 0) string(bytes, name);
    string(bytes, value);
  }

  #indexOf(key: string): number | undefined {
    const number = this.#added.get(key);
    return number === undefined ? undefined : STATIC_TABLE.length + this.#addedCount - number;
  }

  /** Recurring fields are few: when they do not fit, the rest of them is not added, and nothing is ever evicted. */
  #add(key: string, size: number): boolean {
    if (this.#tableBytes + size > this.#tableLimit) return false;
    // Entries are counted from the newest: every one that is added moves those before it.
    this.#known = new WeakMap();
    this.#tableBytes += size;
    this.#added.set(key, this.#addedCount++);
    return true;
  }
}

const NOTHING = Buffer.alloc(0);

function integer(
  bytes: number[],
  { flags, prefixBits, value }: { readonly flags: number; readonly prefixBits: number; readonly value: number },
): void {
  const largest = 2 ** prefixBits - 1;
  if (value < largest) {
    bytes.push(flags | value);
    return;
  }
  bytes.push(flags | largest);
  let rest = value - largest;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}

function string(bytes: number[], text: string): void {
  integer(bytes, { flags: 0, prefixBits: 7, value: text.length });
  for (let i = 0; i < text.length; i++) bytes.push(text.charCodeAt(i) & 0xff);
}
