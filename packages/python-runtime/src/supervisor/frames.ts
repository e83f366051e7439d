/**
 * Messages between a process and its child, on one duplex pipe:
 *
 *     u32 bytes of the payload | u32 type | payload          little-endian
 *
 * Types below 16 belong to the supervisor; what the others mean is for whoever uses it to say.
 */
const HEADER_BYTES = 8;

export const FRAME = {
  /** To the child, first: what it needs to start. */
  start: 1,
  /** To the child: end once the work at hand is done. */
  stop: 2,
  /** From the child: it can take work. */
  ready: 3,
  /** From the child, before it ends: why it cannot become ready. */
  failed: 4,
  /** From the child: u8 level (0 debug, 1 info, 2 warn, 3 error) and a sentence in UTF-8. */
  log: 5,
} as const;

/** The least type that the supervisor hands on. */
export const FIRST_USER_FRAME = 16;

export interface Frame {
  readonly type: number;
  /** View of the bytes that were read; nobody else writes to them. */
  readonly payload: Buffer;
}

export function frameHeader(type: number, payloadBytes: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32LE(payloadBytes, 0);
  header.writeUInt32LE(type, 4);
  return header;
}

const NOTHING = Buffer.alloc(0);

/** Cuts a stream of bytes into frames. */
export class FrameReader {
  readonly #maxPayloadBytes: number;
  #rest: Buffer = NOTHING;

  /** A frame with a larger payload is refused: nothing of that size belongs on the pipe. */
  constructor(maxPayloadBytes: number) {
    this.#maxPayloadBytes = maxPayloadBytes;
  }

  /**
   * The frames that `chunk` completes; it is kept, not copied.
   * @throws {RangeError} when a frame announces more than the limit
   */
  push(chunk: Buffer): Frame[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Frame[] = [];
    let start = 0;
    while (start + HEADER_BYTES <= bytes.length) {
      const payloadBytes = bytes.readUInt32LE(start);
      if (payloadBytes > this.#maxPayloadBytes) {
        throw new RangeError(`a message of ${payloadBytes} bytes; at most ${this.#maxPayloadBytes} are taken`);
      }
      const end = start + HEADER_BYTES + payloadBytes;
      if (end > bytes.length) break;
      frames.push({ type: bytes.readUInt32LE(start + 4), payload: bytes.subarray(start + HEADER_BYTES, end) });
      start = end;
    }
    this.#rest = bytes.subarray(start);
    return frames;
  }
}
