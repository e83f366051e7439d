/** A block of headers: one frame of HEADERS, and any of CONTINUATION until one of them ends it. */
import { ConnectionFault, H2, tooMuch } from './faults.ts';
import { FLAG, type FrameHead, LARGEST_WINDOW } from './frames.ts';

/** Headers are read up to so many times of what is taken, as those of other calls depend on them. */
const READ_FACTOR = 4;
/** Blocks of headers may be cut into so many frames. */
const MAX_CONTINUATIONS = 64;

export class HeaderBlock {
  readonly head: FrameHead;
  readonly #pieces: Buffer[];
  #byteLength: number;
  #isWhole: boolean;

  /**
   * @param payload  a view, which is copied when more is to come: it would keep alive all that the socket read with it
   * @throws {ConnectionFault} PROTOCOL_ERROR for more padding than bytes, or a stream that depends on itself
   */
  constructor(head: FrameHead, payload: Buffer) {
    this.head = head;
    this.#isWhole = endsBlock(head);
    const fields = withoutPadding(head, payload);
    this.#pieces = [this.#isWhole ? fields : Buffer.from(fields)];
    this.#byteLength = payload.length;
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  get bytes(): Buffer {
    const [only] = this.#pieces;
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces);
  }

  continue(head: FrameHead, payload: Buffer): void {
    this.#pieces.push(Buffer.from(payload));
    this.#byteLength += payload.length;
    this.#isWhole = endsBlock(head);
  }

  /**
   * Whether so many bytes more may come of it, or of one that begins.
   * What is somewhat too large costs its call, what is far too large the connection.
   * @throws {ConnectionFault} ENHANCE_YOUR_CALM
   */
  static assertRoom(block: HeaderBlock | undefined, more: number, maxBytes: number): void {
    if ((block === undefined ? 0 : block.#byteLength) + more > maxBytes * READ_FACTOR) throw tooMuch('headers');
    if (block !== undefined && block.#pieces.length > MAX_CONTINUATIONS) throw tooMuch('continuations');
  }
}

function endsBlock({ flags }: FrameHead): boolean {
  return (flags & FLAG.endHeaders) !== 0;
}

function withoutPadding({ flags, streamId }: FrameHead, payload: Buffer): Buffer {
  const isPadded = (flags & FLAG.padded) !== 0;
  const hasPriority = (flags & FLAG.priority) !== 0;
  const start = (isPadded ? 1 : 0) + (hasPriority ? 5 : 0);
  const end = payload.length - (isPadded ? (payload[0] ?? 0) : 0);
  if (start > end) throw new ConnectionFault(H2.PROTOCOL_ERROR, 'a frame of HEADERS has more padding than bytes');
  if (hasPriority && (payload.readUInt32BE(start - 5) & LARGEST_WINDOW) === streamId)
    throw new ConnectionFault(H2.PROTOCOL_ERROR, 'a stream depends on itself');
  return payload.subarray(start, end);
}
