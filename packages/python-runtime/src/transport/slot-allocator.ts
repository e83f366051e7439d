/**
 * Places batches in a region. Few slots are in use at a time (one per batch in flight), so they are kept in a list by offset and the first gap that is large
 * enough is taken.
 *
 * A slot begins with a header of `SLOT_HEADER_BYTES`: u32 magic, u32 generation. Whoever reads it compares both with the message that
 * announced the slot: a slot that was given to another batch in the meantime shows another generation.
 */
export const ALIGNMENT = 64;
export const SLOT_HEADER_BYTES = 64;
const MAGIC = 0x4e53_4c54;
const GENERATIONS = 2 ** 32;

export interface Slot {
  readonly generation: number;
  readonly offset: number;
  /** Header included; a multiple of `ALIGNMENT`. */
  readonly bytes: number;
}

export class SlotAllocator {
  readonly #slots: Slot[] = [];
  #generation = 0;

  get isEmpty(): boolean {
    return this.#slots.length === 0;
  }

  /** A slot for that many bytes after the header, which may reach beyond the region's present end. */
  allocate(payloadBytes: number): Slot {
    const bytes = SLOT_HEADER_BYTES + alignUp(payloadBytes);
    let offset = 0;
    let at = 0;
    for (const slot of this.#slots) {
      if (offset + bytes <= slot.offset) break;
      offset = slot.offset + slot.bytes;
      at++;
    }
    this.#generation = (this.#generation + 1) % GENERATIONS;
    const slot = { generation: this.#generation, offset, bytes };
    this.#slots.splice(at, 0, slot);
    return slot;
  }

  /** Makes the place free again; one that is not in use is left as it is. */
  free(slot: Slot): void {
    const at = this.#slots.indexOf(slot);
    if (at >= 0) this.#slots.splice(at, 1);
  }
}

export function alignUp(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** The header of a slot, ready to be written. */
export function slotHeader(generation: number): Buffer {
  const header = Buffer.alloc(SLOT_HEADER_BYTES);
  header.writeUInt32LE(MAGIC, 0);
  header.writeUInt32LE(generation, 4);
  return header;
}

/** Whether `bytes` begin with the header of that generation. */
export function hasHeader(bytes: Buffer, generation: number): boolean {
  return bytes.length >= SLOT_HEADER_BYTES && bytes.readUInt32LE(0) === MAGIC && bytes.readUInt32LE(4) === generation;
}
