/**
 * Tensors to a child and back through two regions: this side writes to the first and reads from the second, the child the other way round.
 *
 * A batch is one slot: its tensors, each aligned to 64 bytes, after one header. Copies per tensor: one on the way out (the parts of all requests go straight
 * to their place in the region), one on the way back; the child adds none on the way out and one for each result.
 */
import type { Datatype, Shape } from '@nereid/core';
import { decodeBatch, encodeBatch, type TensorPlace } from './batch-message.ts';
import { TransportError } from './errors.ts';
import { FileRegion, type RegionOptions, type SharedRegion } from './shared-region.ts';
import {
  ALIGNMENT,
  alignUp,
  hasHeader,
  SLOT_HEADER_BYTES,
  type Slot,
  SlotAllocator,
  slotHeader,
} from './slot-allocator.ts';

export interface TransportOptions extends RegionOptions {
  /** Size of each region at first. 1 MiB by default; the memory is taken only when it is written to. */
  readonly initialBytes?: number;
  /** Size that a region may grow to. 4 GiB by default; a batch that needs more is refused. */
  readonly maxBytes?: number;
}

/** A tensor on its way out: its bytes lie in one or more pieces. */
export interface OutgoingTensor {
  readonly datatype: Datatype;
  readonly shape: Shape;
  /** Borrowed until the write is done. */
  readonly parts: readonly Uint8Array[];
}

export interface OutgoingBatch {
  /** Not in use by another batch; below 2^32. */
  readonly id: number;
  readonly tensors: readonly OutgoingTensor[];
  readonly numbers: readonly number[];
}

/** A tensor that came back. All tensors of a batch share one buffer of their own. */
export interface IncomingTensor {
  readonly datatype: Datatype;
  readonly shape: Shape;
  readonly data: Uint8Array;
}

export interface IncomingBatch {
  readonly id: number;
  readonly tensors: readonly IncomingTensor[];
  readonly numbers: readonly number[];
}

/** 4 GiB, in each direction. */
export const DEFAULT_MAX_BYTES = 2 ** 32;
const DEFAULTS = { initialBytes: 2 ** 20, maxBytes: DEFAULT_MAX_BYTES };
const PADDING = new Uint8Array(ALIGNMENT);

export class TensorTransport {
  readonly maxBytes: number;
  readonly #outgoing: SharedRegion;
  readonly #incoming: SharedRegion;
  readonly #allocator = new SlotAllocator();
  readonly #slots = new Map<number, Slot>();
  #released = 0;

  /** @throws {TransportError} `memory` when there is no shared memory to be had */
  constructor(options: TransportOptions = {}) {
    const { initialBytes, maxBytes } = { ...DEFAULTS, ...options };
    this.maxBytes = maxBytes;
    this.#outgoing = new FileRegion(options);
    try {
      this.#incoming = new FileRegion(options);
    } catch (thrown) {
      this.#outgoing.close();
      throw thrown;
    }
    this.#outgoing.grow(initialBytes);
    this.#incoming.grow(initialBytes);
  }

  /** For the child, in this order: the region it reads, the region it writes. */
  get descriptors(): readonly [number, number] {
    return [this.#outgoing.descriptor, this.#incoming.descriptor];
  }

  /** Generation of the last slot that was read: the child may use it and those before it again. */
  get released(): number {
    return this.#released;
  }

  /** Memory reserved for batches on their way out. */
  get outgoingBytes(): number {
    return this.#outgoing.sizeBytes;
  }

  /**
   * Writes a batch to the region; the slot is taken until `read` or `discard`.
   * @returns the message that tells the child where it lies
   * @throws {TransportError} `too-large` or `memory`, also as a rejection; the slot is free then
   */
  write(batch: OutgoingBatch): Buffer | Promise<Buffer> {
    const { places, parts, bytes } = layOut(batch.tensors);
    const slot = this.#allocator.allocate(bytes);
    this.#slots.set(batch.id, slot);
    try {
      this.#reserve(slot);
      const written = this.#outgoing.write(slot.offset, [slotHeader(slot.generation), ...parts]);
      const message = () => this.#announce(batch, { slot, places });
      return written === undefined ? message() : this.#finish(batch.id, written.then(message));
    } catch (thrown) {
      this.discard(batch.id);
      throw thrown;
    }
  }

  /**
   * Reads the batch that the child announced, and frees the slot of the batch it answers, unless `isPart` says that more of it will come.
   * @throws {TransportError} `message` or `stale`, also as a rejection
   */
  read(payload: Buffer, isPart = false): IncomingBatch | Promise<IncomingBatch> {
    const message = decodeBatch(payload);
    // Not `alloc`: every byte is read into, and zeroing large buffers takes as long as filling them.
    const bytes = Buffer.allocUnsafeSlow(message.slotBytes);
    const done = (): IncomingBatch => {
      if (!hasHeader(bytes, message.generation)) throw stale(message.id);
      this.#released = message.generation;
      if (!isPart) this.discard(message.id);
      const tensors = message.tensors.map(({ datatype, shape, offset, bytes: size }) => ({
        datatype,
        shape,
        data: new Uint8Array(bytes.buffer, offset, size),
      }));
      return { id: message.id, tensors, numbers: message.numbers };
    };
    const reading = this.#incoming.read(message.slotOffset, bytes);
    return reading === undefined ? done() : reading.then(done);
  }

  /** Frees the slot of a batch that gets no answer. */
  discard(id: number): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#slots.delete(id);
    this.#allocator.free(slot);
  }

  /** Gives the memory back once the child has ended. Idempotent. */
  close(): void {
    this.#outgoing.close();
    this.#incoming.close();
  }

  async #finish(id: number, message: Promise<Buffer>): Promise<Buffer> {
    try {
      return await message;
    } catch (thrown) {
      this.discard(id);
      throw thrown;
    }
  }

  #reserve({ offset, bytes }: Slot): void {
    const needed = offset + bytes;
    if (needed > this.maxBytes) throw tooLarge(needed, this.maxBytes);
    if (needed > this.#outgoing.sizeBytes) {
      // Doubling, so that batches that grow little by little do not each make the child map the region anew.
      this.#outgoing.grow(Math.min(this.maxBytes, Math.max(needed, 2 * this.#outgoing.sizeBytes)));
    }
  }

  #announce(batch: OutgoingBatch, at: { readonly slot: Slot; readonly places: readonly TensorPlace[] }): Buffer {
    return encodeBatch({
      id: batch.id,
      generation: at.slot.generation,
      slotOffset: at.slot.offset,
      slotBytes: at.slot.bytes,
      regionBytes: this.#outgoing.sizeBytes,
      released: this.#released,
      tensors: at.places,
      numbers: batch.numbers,
    });
  }
}

/** Where each tensor of a slot lies, and the pieces to write after the header so that it does. */
function layOut(tensors: readonly OutgoingTensor[]): {
  readonly places: readonly TensorPlace[];
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
} {
  const places: TensorPlace[] = [];
  const all: Uint8Array[] = [];
  let offset = SLOT_HEADER_BYTES;
  for (const { datatype, shape, parts } of tensors) {
    const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
    places.push({ datatype, shape, offset, bytes });
    for (const part of parts) all.push(part);
    const padding = alignUp(bytes) - bytes;
    if (padding > 0) all.push(PADDING.subarray(0, padding));
    offset += bytes + padding;
  }
  return { places, parts: all, bytes: offset - SLOT_HEADER_BYTES };
}

function tooLarge(needed: number, limit: number): TransportError {
  return new TransportError({
    code: 'INVALID_ARG',
    reason: 'too-large',
    message: `the batch needs ${needed} bytes of shared memory, at most ${limit} are allowed; send less at once, or raise maxBytes`,
  });
}

function stale(id: number): TransportError {
  return new TransportError({
    code: 'INTERNAL',
    reason: 'stale',
    message: `the results of batch ${id} were overwritten before they were read`,
  });
}
