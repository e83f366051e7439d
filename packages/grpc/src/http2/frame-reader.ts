/** Cuts what the socket read into frames. Payloads of DATA are handed on as they come, as views; others whole. */
import { ConnectionFault, H2 } from './faults.ts';
import { FLAG, FRAME, type FrameHead, HEAD_BYTES, PREFACE, readHead } from './frames.ts';

/** Every method may throw a `ConnectionFault`, which ends the reading. */
export interface FrameHandler {
  /**
   * A frame begins.
   * @returns whether its payload is wanted; DATA is always handed on
   */
  begin(head: FrameHead): boolean;
  /** A whole frame that is no DATA and whose payload is wanted; the payload is a view. */
  frame(head: FrameHead, payload: Buffer): void;
  /** Bytes of the DATA frame that has begun, without its padding. */
  data(piece: Buffer): void;
  /** The DATA frame is whole. */
  dataEnded(): void;
}

export class FrameReader {
  readonly #handler: FrameHandler;
  readonly #start = Buffer.alloc(HEAD_BYTES);
  #prefaceLeft: Buffer = PREFACE;
  #startHeld = 0;
  /** The frame under way; undefined between frames. */
  #head: FrameHead | undefined;
  /** Bytes of it that are still to come. */
  #left = 0;
  /** Of a padded DATA frame: undefined until the length of the padding has come. */
  #padding: number | undefined = 0;
  /** Memory for a payload that comes in pieces. */
  #payload: Buffer | undefined;
  #isWanted = true;
  #isStopped = false;
  /** What is being read, and how far. */
  #bytes: Buffer = NOTHING;
  #at = 0;

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  /** Takes nothing any more, also of the bytes that are being read. */
  stop(): void {
    this.#isStopped = true;
  }

  /** @throws {ConnectionFault} of the handler, and for what is no frame */
  read(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#at = 0;
    if (this.#prefaceLeft.length > 0) this.#readPreface();
    while (!this.#isStopped && this.#step());
    this.#bytes = NOTHING;
  }

  #readPreface(): void {
    const taken = this.#bytes.subarray(0, this.#prefaceLeft.length);
    if (!taken.equals(this.#prefaceLeft.subarray(0, taken.length)))
      throw new ConnectionFault(H2.PROTOCOL_ERROR, 'the connection does not begin as one of HTTP/2');
    this.#prefaceLeft = this.#prefaceLeft.subarray(taken.length);
    this.#at = taken.length;
  }

  /** @returns whether there may be more to read */
  #step(): boolean {
    const head = this.#head ?? this.#readHead();
    if (head === undefined) return false;
    return head.type === FRAME.data ? this.#readData() : this.#readPayload(head);
  }

  #readHead(): FrameHead | undefined {
    const available = this.#bytes.length - this.#at;
    let head: FrameHead;
    if (this.#startHeld === 0 && available >= HEAD_BYTES) {
      head = readHead(this.#bytes, this.#at);
      this.#at += HEAD_BYTES;
    } else {
      const taken = this.#bytes.copy(this.#start, this.#startHeld, this.#at);
      this.#at += taken;
      this.#startHeld += taken;
      if (this.#startHeld < HEAD_BYTES) return undefined;
      this.#startHeld = 0;
      head = readHead(this.#start, 0);
    }
    this.#head = head;
    this.#left = head.length;
    this.#padding = head.type === FRAME.data && (head.flags & FLAG.padded) !== 0 ? undefined : 0;
    this.#isWanted = this.#handler.begin(head);
    return head;
  }

  #readData(): boolean {
    const available = this.#bytes.length - this.#at;
    if (this.#padding === undefined) {
      if (available === 0) return false;
      this.#padding = this.#bytes[this.#at++] ?? 0;
      this.#left--;
      if (this.#padding > this.#left)
        throw new ConnectionFault(H2.PROTOCOL_ERROR, 'a frame of DATA has more padding than bytes');
      return true;
    }
    const contents = Math.min(this.#left - this.#padding, available);
    if (contents > 0) {
      const piece = this.#bytes.subarray(this.#at, this.#at + contents);
      this.#at += contents;
      this.#left -= contents;
      this.#handler.data(piece);
      return true;
    }
    const skipped = Math.min(this.#left, available);
    this.#at += skipped;
    this.#left -= skipped;
    if (this.#left <= this.#padding) this.#padding = this.#left;
    if (this.#left > 0) return false;
    this.#head = undefined;
    this.#handler.dataEnded();
    return true;
  }

  #readPayload(head: FrameHead): boolean {
    const taken = Math.min(this.#left, this.#bytes.length - this.#at);
    const piece = this.#bytes.subarray(this.#at, this.#at + taken);
    this.#at += taken;
    const isWhole = taken === head.length;
    if (this.#isWanted && !isWhole) {
      this.#payload ??= Buffer.allocUnsafe(head.length);
      this.#payload.set(piece, head.length - this.#left);
    }
    this.#left -= taken;
    if (this.#left > 0) return false;
    const payload = isWhole ? piece : this.#payload;
    this.#payload = undefined;
    this.#head = undefined;
    if (this.#isWanted && payload !== undefined) this.#handler.frame(head, payload);
    return true;
  }
}

const NOTHING = Buffer.alloc(0);
