/**
 * What leaves on one connection. Everything of one turn of the loop leaves in one write: small things are copied behind each other, large ones go as they are.
 */
import type { Socket } from 'node:net';
import { HEAD_BYTES } from './frames.ts';

/** Pieces from this size on are not copied. */
export const VIEW_FROM_BYTES = 8192;
const SLAB_BYTES = 65_536;
/**
 * Memory for small things, of all connections: it is handed out from front to back and no part of it twice, so that an idle connection holds none. Who writes
 * several things without another connection between them gets them in one piece.
 */
const pool = { slab: Buffer.allocUnsafeSlow(SLAB_BYTES), end: 0 };
/** Beyond this the socket gets no more until it has written what it has. */
const SOCKET_BYTES = 256 * 1024;

/** What is written on a connection that is gone. */
const SCRATCH = Buffer.allocUnsafeSlow(VIEW_FROM_BYTES);

interface Chunk {
  readonly bytes: Uint8Array;
  written: (() => void) | undefined;
}

export class Output {
  readonly #socket: Socket;
  /** The piece that is being written: a part of the pool. */
  #slab: Buffer = SCRATCH;
  #start = 0;
  #end = 0;
  #chunks: Chunk[] = [];
  #chunkBytes = 0;
  #isScheduled = false;
  #isClosed = false;
  readonly #flush = () => this.flush();

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Whether the client does not read as fast as it is answered: what can wait must wait for `drain` of the socket. */
  get isFull(): boolean {
    return this.waitingBytes >= SOCKET_BYTES;
  }

  /** Bytes that the socket has not taken. */
  get waitingBytes(): number {
    return this.#socket.writableLength + this.#chunkBytes + this.#end - this.#start;
  }

  /** Begins a frame; its payload is what is added next. */
  head(length: number, type: number, flags: number, streamId: number): void {
    const at = this.#reserve(HEAD_BYTES);
    const slab = this.#slab;
    slab[at] = length >>> 16;
    slab[at + 1] = length >>> 8;
    slab[at + 2] = length;
    slab[at + 3] = type;
    slab[at + 4] = flags;
    slab[at + 5] = streamId >>> 24;
    slab[at + 6] = streamId >>> 16;
    slab[at + 7] = streamId >>> 8;
    slab[at + 8] = streamId;
  }

  uint32(value: number): void {
    // First the place: it may be in another slab.
    const at = this.#reserve(4);
    this.#slab.writeUInt32BE(value, at);
  }

  uint16(value: number): void {
    const at = this.#reserve(2);
    this.#slab.writeUInt16BE(value, at);
  }

  /** Adds bytes, which must not change until they are written; see `afterwards`. */
  bytes(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    if (bytes.length < VIEW_FROM_BYTES) {
      const at = this.#reserve(bytes.length);
      this.#slab.set(bytes, at);
      return;
    }
    this.#cut();
    this.#chunks.push({ bytes, written: undefined });
    this.#chunkBytes += bytes.length;
  }

  /** Calls back once when all that was added has been written, or never will be. A frame must have been added since the last flush and the last callback. */
  afterwards(written: () => void): void {
    this.#cut();
    const last = this.#chunks.at(-1);
    if (this.#isClosed || last === undefined) written();
    else last.written = written;
  }

  /** Sends what was added, at the end of what runs now. */
  schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(this.#flush);
  }

  flush(): void {
    this.#isScheduled = false;
    if (this.#isClosed) return;
    this.#cut();
    this.#slab = SCRATCH;
    const chunks = this.#chunks;
    if (chunks.length === 0) return;
    this.#chunks = [];
    this.#chunkBytes = 0;
    const socket = this.#socket;
    const isSeveral = chunks.length > 1;
    if (isSeveral) socket.cork();
    // Node calls back for a write when its bytes were taken, and as well when the socket is destroyed before.
    for (const { bytes, written } of chunks) socket.write(bytes, written && (() => written()));
    if (isSeveral) socket.uncork();
  }

  /** Drops what has not been sent: the connection is gone. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { written } of this.#chunks.splice(0)) written?.();
    this.#chunkBytes = 0;
    this.#end = this.#start;
  }

  /** @returns where so many bytes may be written */
  #reserve(length: number): number {
    if (this.#isClosed) {
      this.#slab = SCRATCH;
      return 0;
    }
    if (this.#slab !== pool.slab || this.#end !== pool.end || pool.end + length > SLAB_BYTES) this.#take(length);
    const at = this.#end;
    this.#end += length;
    pool.end = this.#end;
    return at;
  }

  /** Begins a piece with room for so many bytes. */
  #take(length: number): void {
    this.#cut();
    if (pool.end + length > SLAB_BYTES) {
      pool.slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      pool.end = 0;
    }
    this.#slab = pool.slab;
    this.#start = pool.end;
    this.#end = pool.end;
  }

  /** Ends the piece under way. */
  #cut(): void {
    if (this.#end === this.#start) return;
    const bytes = this.#slab.subarray(this.#start, this.#end);
    this.#chunks.push({ bytes, written: undefined });
    this.#chunkBytes += bytes.length;
    this.#start = this.#end;
  }
}
