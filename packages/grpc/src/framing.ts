/** Messages on a stream of bytes: each behind one byte that tells whether it is compressed, and four that give its length. */
import { promisify } from 'node:util';
import { deflate, gunzip, gzip, inflate } from 'node:zlib';
import { messageMemory } from '@nereid/core';
import { GrpcError } from './errors.ts';

const PREFIX_BYTES = 5;

/** Compressions of messages, by their names on the wire. */
export const ENCODINGS = ['identity', 'deflate', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export function isEncoding(name: string): name is Encoding {
  return ENCODINGS.some((known) => known === name);
}

export interface FramedMessage {
  readonly isCompressed: boolean;
  readonly bytes: Buffer;
}

/** Cuts pieces as they come into messages. A message that came in one piece is a view of it. */
export class MessageReader {
  readonly #maxBytes: number;
  readonly #tensorsAt: (start: Buffer) => number;
  /** What has come of the message under way: fewer bytes than its prefix, or memory for the whole of it. */
  #partial: Buffer = NOTHING;
  #held = 0;

  /**
   * @param maxBytes  longest message
   * @param tensorsAt  tells of the first bytes of a message that comes in pieces where in it the tensors begin, so that they are laid aligned; 0 when it cannot
   */
  constructor(maxBytes: number, tensorsAt: (start: Buffer) => number = () => 0) {
    this.#maxBytes = maxBytes;
    this.#tensorsAt = tensorsAt;
  }

  /** Whether a message has begun and not ended. */
  get isInside(): boolean {
    return this.#held > 0;
  }

  /**
   * Takes a piece.
   * @returns the messages that it completes
   * @throws {GrpcError} `too-large`, `bad-message`
   */
  take(piece: Buffer): readonly FramedMessage[] {
    const messages: FramedMessage[] = [];
    for (let rest = piece; rest.length > 0; )
      rest = this.#held === 0 ? this.#begin(rest, messages) : this.#add(rest, messages);
    return messages;
  }

  /** Nothing is under way. What is whole stays a view; the beginning of a message is kept. */
  #begin(bytes: Buffer, messages: FramedMessage[]): Buffer {
    const needed = bytes.length >= PREFIX_BYTES ? this.#lengthAt(bytes, 0) : PREFIX_BYTES;
    if (bytes.length >= PREFIX_BYTES && bytes.length >= needed) {
      messages.push(messageOf(bytes.subarray(0, needed)));
      return bytes.subarray(needed);
    }
    this.#partial = this.#memoryFor(bytes, needed);
    this.#held = bytes.copy(this.#partial);
    return NOTHING;
  }

  /** @param bytes  what has come of the message */
  #memoryFor(bytes: Buffer, needed: number): Buffer {
    const { bytes: start, isCompressed } = messageOf(bytes);
    return messageMemory(Buffer.allocUnsafeSlow, needed, isCompressed ? 0 : PREFIX_BYTES + this.#tensorsAt(start));
  }

  #add(bytes: Buffer, messages: FramedMessage[]): Buffer {
    const taken = bytes.copy(this.#partial, this.#held);
    this.#held += taken;
    if (this.#held === this.#partial.length) this.#filled(messages);
    return bytes.subarray(taken);
  }

  #filled(messages: FramedMessage[]): void {
    const bytes = this.#partial;
    // A message is never shorter than its prefix: of that length it may be the prefix alone.
    const needed = this.#lengthAt(bytes, 0);
    this.#partial = NOTHING;
    this.#held = 0;
    if (needed === bytes.length) messages.push(messageOf(bytes));
    else {
      this.#partial = Buffer.allocUnsafeSlow(needed);
      this.#held = bytes.copy(this.#partial);
    }
  }

  #lengthAt(bytes: Buffer, start: number): number {
    const flag = bytes[start] ?? 0;
    if (flag > 1) throw new GrpcError('bad-message', `a message must begin with 0 or 1, found ${flag}`);
    const length = bytes.readUInt32BE(start + 1);
    if (length <= this.#maxBytes) return length + PREFIX_BYTES;
    throw new GrpcError('too-large', `the message has ${length} bytes, more than the limit of ${this.#maxBytes}`);
  }
}

const NOTHING = Buffer.alloc(0);

function messageOf(bytes: Buffer): FramedMessage {
  return { isCompressed: bytes[0] === 1, bytes: bytes.subarray(PREFIX_BYTES) };
}

/** The five bytes before a message. */
export function prefixOf(byteLength: number, isCompressed = false): Buffer {
  const prefix = Buffer.allocUnsafe(PREFIX_BYTES);
  prefix[0] = isCompressed ? 1 : 0;
  prefix.writeUInt32BE(byteLength, 1);
  return prefix;
}

const INFLATE = { gzip: promisify(gunzip), deflate: promisify(inflate) } as const;
const DEFLATE = { gzip: promisify(gzip), deflate: promisify(deflate) } as const;

/**
 * Contents of a compressed message.
 * @throws {GrpcError} `compression` for a message marked as compressed on a call without compression, or a broken one; `too-large`
 */
export async function decompress(bytes: Buffer, encoding: Encoding, maxBytes: number): Promise<Buffer> {
  if (encoding === 'identity')
    throw new GrpcError('bad-message', 'a message is marked as compressed, and the call names no grpc-encoding');
  try {
    return await INFLATE[encoding](bytes, { maxOutputLength: maxBytes });
  } catch (thrown) {
    if (thrown instanceof RangeError)
      throw new GrpcError('too-large', `the message has more than ${maxBytes} bytes, which is the limit`);
    throw new GrpcError('bad-message', `the message is not ${encoding}: ${String(thrown)}`, { cause: thrown });
  }
}

/** @param level  1 (fast) to 9 (small) */
export function compress(bytes: Uint8Array, encoding: Exclude<Encoding, 'identity'>, level: number): Promise<Buffer> {
  return DEFLATE[encoding](bytes, { level });
}
